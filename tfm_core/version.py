"""The version of the distribution `attention-lab`: pyproject.toml reads it here, and so does the app."""

__version__ = "0.5.0"
