"""The Positions lens."""
