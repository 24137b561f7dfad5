"""The documents; `python -m docs.api` writes the pages of the API."""
