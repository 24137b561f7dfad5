"""How numbers, shares and lists are written, everywhere in the app. Pure functions."""

import math
from collections.abc import Sequence


def count(number: int) -> str:
    """A count with separators: 56480 as 56,480."""
    return f"{number:,}"


def weight(number: float) -> str:
    """A weight: 0.75; small ones with two significant digits, 0.0042; "1" only for exactly 1, and 0.996 is no 1.00."""
    if number == 1:
        return "1"
    if 0.995 <= number < 1:
        return f"{number:.3f}" if number < 0.9995 else "over 0.999"
    return f"{number:.2f}" if number >= 0.1 else f"{number:.2g}"


def number(value: float) -> str:
    """A score or a vector's entry: −0.312, with a true minus sign; tiny ones as −2×10⁻⁷; −∞ if masked."""
    if value in (math.inf, -math.inf):
        return "−∞" if value < 0 else "∞"
    if 0 < abs(value) < 0.0005:
        return tiny(value).replace("-", "−")
    return f"{value or 0:.3f}".replace("-", "−")


def share(value: float) -> str:
    """A weight in a derivation: 0.1331; small ones with three significant digits."""
    if value and value < 0.001:
        digits, power = f"{value:.2e}".split("e")
        return f"{digits}×10{superscript(int(power))}"
    return f"{value:.4f}"


def percent(share: float, digits: int = 2) -> str:
    """A share in percent, for all sentences of the app: 47%, 4.4%, 99.5%, 135%.

    Only exactly 1 is written 100%, and only exactly 0 is written 0%.

    Args:
        share: a share of a whole, which is 1; it may be larger if it is a comparison.
        digits: the number of significant digits.
    """
    if math.isnan(share):
        return "NaN"
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.1:
        written = f"{'#' if digits > 2 else ''}.{digits}g"  # 1.30% beside 1.32%, but 1% alone
        return f"{100 * share:{written}}%" if share >= 0.0001 else "under 0.01%"
    if abs(share - 1) < 0.0001:
        return "over 99.99%" if share < 1 else "just over 100%"
    texts = (f"{100 * share:.{decimals}f}" for decimals in range(digits - 2, digits + 3))
    return f"{next(text for text in texts if float(text) != 100)}%"


def points(share: float) -> float:
    """A share in percent as a number with one decimal, with more where it would be 0 or 100 and is not."""
    if share in (0, 1):
        return 100.0 * share
    rounded = (round(100 * share, digits) for digits in range(1, 16))
    return next((value for value in rounded if value not in (0, 100)), 100 * share)


def percents(*shares: float) -> list[str]:
    """Shares for a comparison: with enough digits to show which of them differ, at most five."""
    for digits in range(2, 6):
        texts = [percent(share, digits) for share in shares]
        if len(set(texts)) == len(set(shares)):
            break
    return texts


def weights(*numbers: float) -> list[str]:
    """Weights for a comparison, such as 0.13 and 0.90: at most six decimals.

    There are as many decimals as it takes to show which differ, and so that none reads 0 or 1 that is not.
    """
    for decimals in range(2, 7):
        texts = [f"{number:.{decimals}f}" for number in numbers]
        rounded = [float(text) for text in texts]
        is_true = all(text not in (0, 1) or text == number for text, number in zip(rounded, numbers, strict=True))
        if is_true and len(set(texts)) == len(set(numbers)):
            break
    return [tiny(number) if number and not float(text) else text for number, text in zip(numbers, texts, strict=True)]


def superscript(number: int) -> str:
    """A whole number in superscript: -7 as ⁻⁷."""
    return str(number).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def end_of_scale(top: float, largest: float) -> str:
    """The text at the end of a colour scale: its weight, with "and more" if larger weights have the same colour."""
    return weight(top) + (" and more" if largest > top else "")


def plural(number: int, noun: str, many: str = "") -> str:
    """A number with its noun: 1 layer, 2 layers; `many` is an irregular plural, such as "queries"."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def listed(parts: Sequence[str]) -> str:
    """A list in words: "a, b and c"; "none" if it is empty."""
    if not parts:
        return "none"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def tiny(number: float) -> str:
    """A small number as a power of ten: 2.4e-07 as 2×10⁻⁷."""
    if math.isnan(number):
        return "NaN"
    if number == 0:
        return "0"
    digit, power = f"{number:.0e}".split("e")
    return f"{digit}×10{superscript(int(power))}"


def power_of_ten(number: float) -> str:
    """10, 0.01; 1e-5 as 10⁻⁵."""
    return f"{number:g}" if 1e-3 <= number < 1e4 else f"10{superscript(round(math.log10(number)))}"


def duration(milliseconds: float) -> str:
    """0.9 ms, 1.2 s."""
    return f"{milliseconds:.1f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
