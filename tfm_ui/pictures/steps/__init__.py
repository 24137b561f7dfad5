"""One head, from its input to its output, number by number: its matrices, their picture, how a number came about."""

# What one head computes, in this order; each is a matrix.
STEPS = (
    "input",
    "query",
    "key",
    "value",
    "scores",
    "scaled",
    "masked",
    "weights",
    "weighted values",
    "head output",
    "heads",
    "output",
)
