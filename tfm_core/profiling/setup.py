"""The setting that all rows of a plan share: device, number format, threads, rounds. Plain values alone."""

from dataclasses import dataclass

from tfm_core.model.choices import check_choice, check_whole_numbers

ITEMSIZE = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2}  # bytes of a number
DTYPES = tuple(ITEMSIZE)
LOWEST = {"threads": 1, "rounds": 1}


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
        check_choice("dtype", self.dtype, DTYPES)
        check_whole_numbers(self, LOWEST)
        if type(self.seed) is not int or not 0 <= self.seed < 2**63:  # what torch's generators take
            raise ValueError(f"seed: expected a whole number from 0 to 2^63 - 1, got {self.seed!r}")

    @property
    def itemsize(self) -> int:
        """Bytes of a number of its dtype."""
        return ITEMSIZE[self.dtype]
