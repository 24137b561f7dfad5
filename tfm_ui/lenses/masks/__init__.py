"""The Masks lens."""
