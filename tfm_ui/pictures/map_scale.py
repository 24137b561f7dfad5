"""Scales of maps: which values the colours stand for."""

from dataclasses import dataclass

from tfm_ui.text import formats


@dataclass(frozen=True, kw_only=True)
class Scale:
    """The values at the two ends of the colours; all values of the map lie between them.

    0 always has the colour of the paper: a linear scale has 0 at one end or in the middle.

    Attributes:
        low: the value at the low end.
        high: the value at the high end.
        powers: whether the scale is logarithmic, by powers of ten, and not linear.

    Raises:
        ValueError: if 0 would not have the colour of the paper, or the scale has no length.
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
        """The texts for both ends.

        Args:
            whole: whether the values are whole numbers, printed without decimals.
        """
        if self.powers:
            return formats.power_of_ten(self.low), formats.power_of_ten(self.high)
        plus = "+" if self.low < 0 else ""
        return _end(self.low, plus, whole), _end(self.high, plus, whole)

    def resized(self, size: float) -> "Scale":
        """The same scale with ends of another size, on the same side of 0, or on both; unchanged if the size is 0."""
        if not size:
            return self
        return Scale(low=-size if self.low else 0.0, high=size if self.high else 0.0)


def _end(value: float, plus: str, whole: bool) -> str:
    size = f"{abs(value):g}" if whole else formats.weight(abs(value))
    return size if not value else f"−{size}" if value < 0 else plus + size


SHARES = Scale(low=0.0, high=1.0)  # for weights that are compared between maps, and for yes or no


def from_zero(high: float) -> Scale:
    """0 to the largest value, if no value is negative; 0 to 1 if all values are 0."""
    return Scale(low=0.0, high=high or 1.0)


def around_zero(size: float) -> Scale:
    """A scale that goes as far to both sides of 0 as the value furthest from it; -1 to 1 if all values are 0."""
    return Scale(low=-(size or 1.0), high=size or 1.0)


def powers_of_ten(low: float, high: float) -> Scale:
    """A logarithmic scale from one power of ten to another."""
    return Scale(low=low, high=high, powers=True)


def holding(low: float, high: float) -> Scale:
    """The scale that holds values from `low` to `high`: below 0, above 0, or around 0 if both signs occur."""
    if low >= 0:
        return from_zero(high)
    return Scale(low=low, high=0.0) if high <= 0 else around_zero(max(-low, high))
