"""The view "output" of the Model lens."""
