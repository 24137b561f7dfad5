"""The page of the API: how it is made, and how it looks."""
