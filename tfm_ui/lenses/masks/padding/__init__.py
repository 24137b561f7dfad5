"""The view “padding”."""
