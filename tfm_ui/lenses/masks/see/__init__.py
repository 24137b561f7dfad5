"""The view “see”."""
