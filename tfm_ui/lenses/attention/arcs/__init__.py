"""The view “arcs”."""
