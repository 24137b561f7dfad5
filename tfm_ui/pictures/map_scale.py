"""Which values the colours of a map stand for."""

from dataclasses import dataclass

from tfm_ui.text import look


@dataclass(frozen=True, kw_only=True)
class Scale:
    """From its low to its high end, which are printed beside the colours; all values of the map lie between them.

    0 is the paper's colour, whatever the scale: an even one begins or ends there, or has it in its middle.

    Attributes:
        low: its low end.
        high: its high end.
        powers: whether it goes by powers of ten, and not evenly.

    Raises:
        ValueError: for ends that no colours stand for.
    """

    low: float
    high: float
    powers: bool = False

    def __post_init__(self) -> None:
        even = self.low < self.high and (self.low == 0 or self.high == 0 or self.low == -self.high)
        if not (0 < self.low < self.high if self.powers else even):
            expected = "0 < low < high" if self.powers else "low < high, with 0 at an end or in the middle"
            raise ValueError(f"the scale of a map: expected {expected}, got {self.low:g} to {self.high:g}")

    def texts(self, *, whole: bool) -> tuple[str, str]:
        """Both ends as they are printed; whole: of numbers without decimals."""
        if self.powers:
            return look.power_of_ten(self.low), look.power_of_ten(self.high)
        plus = "+" if self.low < 0 else ""
        return _end(self.low, plus, whole), _end(self.high, plus, whole)

    def resized(self, size: float) -> "Scale":
        """The same side of 0, or both, with ends of another size; nothing but 0 keeps the scale."""
        if not size:
            return self
        return Scale(low=-size if self.low else 0.0, high=size if self.high else 0.0)


def _end(value: float, plus: str, whole: bool) -> str:
    size = f"{abs(value):g}" if whole else look.weight(abs(value))
    return size if not value else f"−{size}" if value < 0 else plus + size


SHARES = Scale(low=0.0, high=1.0)  # of weights, where all maps shall be compared, and of what is or is not


def from_zero(high: float) -> Scale:
    """0 to the largest of values of which none is negative; to 1 where all are 0."""
    return Scale(low=0.0, high=high or 1.0)


def around_zero(size: float) -> Scale:
    """As far to either side of 0 as the value that is furthest from it; 1 where all are 0."""
    return Scale(low=-(size or 1.0), high=size or 1.0)


def powers_of_ten(low: float, high: float) -> Scale:
    """From one power of ten to another."""
    return Scale(low=low, high=high, powers=True)


def holding(low: float, high: float) -> Scale:
    """What holds these two and all between: below 0, above it, or around it where there are both signs."""
    if low >= 0:
        return from_zero(high)
    return Scale(low=low, high=0.0) if high <= 0 else around_zero(max(-low, high))
