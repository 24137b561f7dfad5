"""The view "surprise": how probable each token of a text is to the model."""
