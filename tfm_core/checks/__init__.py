"""Checks of attention code, where that code runs: in a notebook or in pytest. torch alone is needed."""
