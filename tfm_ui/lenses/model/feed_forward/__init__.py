"""The view "feed_forward" of the Model lens."""
