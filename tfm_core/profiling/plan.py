"""What is to be measured: rows (a target at a size), and the setting that all of them share. Plain values alone."""

from dataclasses import dataclass

LOWEST = {"d_model": 1, "num_heads": 1, "num_layers": 1, "seq_len": 1, "batch": 1, "d_ff": 0}
DTYPES = ("float32", "float64", "bfloat16", "float16")


@dataclass(frozen=True, kw_only=True)
class Size:
    """The numbers that a cost depends on.

    Attributes:
        d_model: width of the residual stream.
        num_heads: attention heads per layer; divides d_model.
        num_layers: layers of the stack.
        seq_len: tokens of each sequence.
        batch: sequences side by side.
        d_ff: hidden units of the feed-forward network; 0 means 4 d_model.

    Raises:
        ValueError: naming the field, what was expected and what came.
    """

    d_model: int
    num_heads: int
    num_layers: int
    seq_len: int
    batch: int = 16
    d_ff: int = 0

    def __post_init__(self) -> None:
        for field, lowest in LOWEST.items():
            value = getattr(self, field)
            if type(value) is not int or value < lowest:
                raise ValueError(f"{field}: expected a whole number of at least {lowest}, got {value!r}")
        if self.d_model % self.num_heads:
            raise ValueError(f"num_heads: expected a divisor of d_model={self.d_model}, got {self.num_heads}")

    @property
    def feed_forward_dim(self) -> int:
        """Hidden units of the feed-forward network, with d_ff = 0 resolved."""
        return self.d_ff or 4 * self.d_model

    @property
    def head_dim(self) -> int:
        """Width of one head's queries, keys and values."""
        return self.d_model // self.num_heads


@dataclass(frozen=True)
class Row:
    """One thing to measure: a key of `TARGETS`, and how large."""

    target: str
    size: Size


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all rows share.

    Attributes:
        device: "cpu" or "cuda".
        dtype: one of `DTYPES`, of weights and inputs.
        threads: of torch, on the processor.
        rounds: how often each row has its turn.
        backward: whether forward + backward is measured beside forward.
        seed: of weights and inputs.
    """

    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1
    rounds: int = 15
    backward: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device: expected 'cpu' or 'cuda', got {self.device!r}")
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype: expected one of {', '.join(DTYPES)}, got {self.dtype!r}")
        for field in ("threads", "rounds"):
            if type(getattr(self, field)) is not int or getattr(self, field) < 1:
                raise ValueError(f"{field}: expected a whole number of at least 1, got {getattr(self, field)!r}")
        if type(self.seed) is not int or not 0 <= self.seed < 2**63:  # what torch's generators take
            raise ValueError(f"seed: expected a whole number from 0 to 2^63 - 1, got {self.seed!r}")


@dataclass(frozen=True)
class Plan:
    """A request: what is measured together, in interleaved rounds, so that all of it can be compared."""

    rows: tuple[Row, ...]
    setup: Setup = Setup()

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
