"""What is known of a row without a measurement: the sums of the closed forms."""

from tfm_core.profiling import Row, costs


def parameters(row: Row) -> int:
    """All of them."""
    return sum(costs.parameters(row).values())


def forward_flops(row: Row) -> int:
    """Of a forward pass of all of the batch."""
    return sum(costs.flops(row).values())
