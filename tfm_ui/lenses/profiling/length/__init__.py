"""The view “length”."""
