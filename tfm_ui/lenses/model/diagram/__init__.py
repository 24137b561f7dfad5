"""The view "diagram" of the Model lens."""
