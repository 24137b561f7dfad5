"""What laws of scales are made of: numbers that are read from a text, values between two ends, values told apart."""

import re

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
ROUNDING = 1e-6  # rounding of float32, as a share of the value at an end
STEP = 1 / 255  # share of a scale: values that differ by less may have the same colour
STILL = 1e-5  # shares that differ by less differ by rounding only, which pictures do not magnify
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def floats(numbers: bytes) -> Floats:
    """The numbers, as paint.js reads them."""
    return np.frombuffer(numbers, np.float32)


def printed(text: str) -> tuple[float, float]:
    """The number in a text, and half a unit of its last digit; "over 0.999" is between that and one unit more."""
    if text.startswith("over "):
        least, half = printed(text.removeprefix("over "))
        return least + half, half
    match = re.match(r"([+−]?)(\d*\.?\d+(?:e[+-]\d+)?)(?:×?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?|10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)
    assert match, f"no number in {text!r}"
    sign, digits, power, alone = match.groups()
    if alone:
        return 10.0 ** int(alone.translate(SUPERSCRIPTS)), 0.0
    if digits == "10" and power is None and (more := re.match(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", text)):
        return 10.0 ** int(more[1].translate(SUPERSCRIPTS)), 0.0
    times = 10.0 ** int(power.translate(SUPERSCRIPTS)) if power else 1.0
    mantissa, _, exponent = digits.partition("e")
    last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return (-1 if sign == "−" else 1) * float(digits) * times, last / 2 * times


def prints(text: str, value: float) -> None:
    """Check that the text is the value, rounded to the text's last digit."""
    told, half = printed(text)
    assert abs(told - value) <= half + 1e-6 * abs(value), f"{text!r} stands for {value:g}"


def within(values: Floats, low: float, high: float, what: str) -> None:
    """Check that all finite values lie between two ends."""
    there = values[np.isfinite(values)].astype(np.float64)
    room = ROUNDING * max(abs(low), abs(high))
    outside = there[(there < low - room) | (there > high + room)]
    assert not outside.size, (
        f"{what}: {len(outside)} of {len(there)} values, as {outside[0]:g}, not in {low:g} to {high:g}"
    )


def tells_apart(values: Floats, low: float, high: float, what: str) -> None:
    """Check that values that vary have more than one colour of a linear scale."""
    there = values[np.isfinite(values)].astype(np.float64)
    if there.size and np.ptp(there) > max(STILL * (high == 1), ROUNDING * np.abs(there).max()):
        assert np.ptp(there) >= STEP * (high - low), (
            f"{what}: values from {there.min():g} to {there.max():g} are one colour"
        )
