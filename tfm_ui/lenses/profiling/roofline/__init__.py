"""The view “roofline”."""
