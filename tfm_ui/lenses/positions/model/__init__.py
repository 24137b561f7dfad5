"""The view “in model”."""
