"""What is to be measured together: rows, each a target at a size, in one setting. Plain values alone."""

from dataclasses import dataclass, field

from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size


@dataclass(frozen=True)
class Row:
    """One thing to measure: a key of `TARGETS`, and how large."""

    target: str
    size: Size


@dataclass(frozen=True)
class Plan:
    """A request: what is measured together, in interleaved rounds, so that all of it can be compared."""

    rows: tuple[Row, ...]
    setup: Setup = field(default_factory=Setup)

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("rows: expected at least one, got none")


DEFAULT_SIZES = tuple(
    Size(d_model=d_model, num_heads=heads, num_layers=layers, seq_len=length)
    for d_model, heads, layers, length in (
        (64, 4, 2, 50),
        (128, 8, 4, 50),
        (256, 8, 6, 50),
        (128, 8, 4, 100),
        (128, 8, 4, 200),
    )
)
