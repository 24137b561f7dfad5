"""Positional encodings: their formulas, and the schemes that a configuration can choose."""
