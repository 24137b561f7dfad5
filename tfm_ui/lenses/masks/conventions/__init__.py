"""The view “conventions”."""
