"""The view "classify": one label for a whole sequence, beside what a bag of words reaches."""
