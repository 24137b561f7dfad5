"""The view "block" of the Model lens."""
