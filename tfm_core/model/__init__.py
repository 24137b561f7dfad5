"""The transformer itself, from attention to the whole model, and the recording that looks inside while it runs."""
