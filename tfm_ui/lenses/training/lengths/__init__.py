"""The view “lengths”."""
