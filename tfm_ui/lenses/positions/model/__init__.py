"""The view “model”."""
