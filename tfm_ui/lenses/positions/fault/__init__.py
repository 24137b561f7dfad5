"""The view “fault”."""
