"""What a positional scheme is: its vectors, its turns, its biases, each by itself and without a model."""
