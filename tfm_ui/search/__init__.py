"""The search over all of the app: its index, computed from the lenses, lessons and words, and the way to a result."""
