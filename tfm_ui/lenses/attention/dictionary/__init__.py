"""The view “dictionary”."""
