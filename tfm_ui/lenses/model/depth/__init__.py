"""The view "depth" of the Model lens."""
