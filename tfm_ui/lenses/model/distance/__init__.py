"""The view "distance" of the Model lens."""
