"""The view "why": a score in parts, and under the same tab what a head wrote, a logit, and the whole of a pass."""
