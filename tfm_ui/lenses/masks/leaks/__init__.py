"""The view “leaks”."""
