"""Who visits, and whose turn it is to compute."""
