"""Writes measured numbers with three significant digits: times, bytes, factors."""

import math

from tfm_ui.text import formats

NEAR = 0.1  # a factor that is closer to 1 than this is written as a difference in percent


FLOP = (("PFLOP", 1e15), ("TFLOP", 1e12), ("GFLOP", 1e9), ("MFLOP", 1e6))


def three(value: float) -> str:
    """0.0123, 1.23, 12.3, 123, 12,300; 2×10⁻⁷."""
    if value == 0 or not math.isfinite(value):
        return formats.number(value) if value else "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 1000:
        return formats.count(round(rounded))
    if abs(rounded) < 0.0001:
        return formats.tiny(rounded)
    return f"{rounded:.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def took(seconds: float) -> str:
    """0.312 ms, 2.07 ms, 44.8 ms, 1.23 s."""
    return f"{three(seconds)} s" if seconds >= 1 else f"{three(1000 * seconds)} ms"


def bytes_of(count: float) -> str:
    """512 B, 8.4 MiB, 134 MiB, 2 GiB."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 2**power:
            return f"{_short(count / 2**power)} {unit}"
    return f"{count:.0f} B"


def flop_of(low: float, high: float | None = None) -> str:
    """54.8 MFLOP; 1.2 to 686 TFLOP, both in the unit of the larger."""
    most = low if high is None else high
    unit, power = next(((unit, power) for unit, power in FLOP if most >= power), FLOP[-1])
    return f"{span(three(low / power), three(most / power))} {unit}"


def times(value: float) -> str:
    """A factor: 4×, 13.1×, 1,200×."""
    return f"{_short(value)}×"


def beside(value: float, much: str, more: str, less: str) -> str:
    """A factor as the beginning of a comparison: "4× as long as", "0.4% longer than", "as long as"."""
    apart = abs(value - 1)
    if not 0 < apart < NEAR:
        return f"{times(value)} as {much} as" if apart else f"as {much} as"
    return f"{formats.percent(apart)} {more if value > 1 else less} than"


def span(low: str, high: str) -> str:
    """1.2 to 3.4; only one of them if both texts are the same."""
    return low if low == high else f"{low} to {high}"


def _short(value: float) -> str:
    digits = three(value)
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
