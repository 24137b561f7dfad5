"""The view “contribution”."""
