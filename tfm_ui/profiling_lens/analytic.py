"""What is known of a row without a measurement."""

from tfm_core.profiling import Row
from tfm_core.profiling.targets import TARGETS


def parameters(row: Row) -> int:
    """All of them."""
    size = row.size
    d, hidden = size.d_model, size.feed_forward_dim
    return size.num_layers * (4 * d * (d + 1) + 2 * d * hidden + hidden + d + 4 * d) + 2 * d


def forward_flops(row: Row) -> int:
    """Of a forward pass of all of the batch."""
    return sum(TARGETS[row.target].flops(row.size).values())
