"""The view “compare”."""
