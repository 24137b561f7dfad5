"""The Profiling lens on screen: a file per view."""
