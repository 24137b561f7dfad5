"""The view “parts”."""
