"""The view “scale”."""
