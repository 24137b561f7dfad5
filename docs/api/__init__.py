"""The pages of the API: how they are made, and how they look."""
