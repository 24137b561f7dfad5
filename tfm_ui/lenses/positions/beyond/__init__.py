"""The view “beyond”."""
