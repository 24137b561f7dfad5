"""The transformer: attention, feed-forward network, layer, whole model, its configuration and its first weights.

Beside it the tokens that it reads, the recording that looks inside while it runs, and torch's own modules with our
weights in them, to compare with.
"""
