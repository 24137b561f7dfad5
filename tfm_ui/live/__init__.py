"""What is computed of the model that a link describes, and kept for the next visitor."""
