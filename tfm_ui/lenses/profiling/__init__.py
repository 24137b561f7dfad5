"""The Profiling lens."""
