"""The Heads lens."""
