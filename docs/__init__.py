"""The documents; `python -m docs.api` writes the page of the API."""
