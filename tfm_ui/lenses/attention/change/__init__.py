"""The view “change”."""
