"""The view "write": a text is written, and each step can be looked into."""
