"""What the views of the Masks lens compute and say. Pure, but for the caches that they ask."""
