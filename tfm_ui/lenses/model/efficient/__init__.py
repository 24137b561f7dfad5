"""The view "efficient" of the Model lens."""
