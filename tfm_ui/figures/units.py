"""Measured numbers with their units: three digits, whatever the size."""

import math

from tfm_ui.figures import look


def bytes_of(count: float) -> str:
    """Bytes: 512 B, 8.4 MB, 134 MB, 2.1 GB."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if count >= 10**power:
            return f"{three(count / 10**power)} {unit}"
    return f"{count:.0f} B"


def times(value: float) -> str:
    """A factor: 4×, 13.1×, 1 200×."""
    return f"{look.count(round(value)) if value >= 1000 else f'{value:.3g}'}×"


def three(value: float) -> str:
    """A measured number with up to three digits: 0.0123, 1.23, 12.3, 123, 12 300."""
    if not math.isfinite(value) or value == 0:
        return look.number(value) if value else "0"
    rounded = float(f"{value:.3g}")
    if abs(rounded) >= 1000:
        return look.count(round(rounded))
    if abs(rounded) < 0.0001:
        return look.tiny(rounded)
    return f"{rounded:.{max(0, 2 - math.floor(math.log10(abs(rounded))))}f}"


def time(value: float) -> str:
    """45 µs, 1.23 ms, 12.3 s."""
    if value < 1e-3:
        return f"{three(value * 1e6)} µs"
    return f"{three(value * 1e3)} ms" if value < 1 else f"{three(value)} s"
