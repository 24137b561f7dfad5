"""The parts of a pass: their order, and what is said of their times."""

from collections.abc import Iterable

ORDER = (
    "embedding", "positions", "projections", "products", "softmax", "feed-forward", "norms", "recurrence",
    "convolution", "output", "logits", "rest",
)  # fmt: skip
SEPARATE_PASSES = "torch.profiler timed passes of its own"  # said where no time of a call is shown


def in_order(names: Iterable[str]) -> list[str]:
    """Each once: parts in the order of a pass, then operators as they came."""
    distinct = dict.fromkeys(names)
    return [name for name in ORDER if name in distinct] + [name for name in distinct if name not in ORDER]
