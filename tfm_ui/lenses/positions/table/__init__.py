"""The view “table”."""
