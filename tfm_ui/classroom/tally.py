"""What a room has answered, as a chart: a bar for each choice, or dots of numbers beside the computed one. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tfm_ui.classroom.asked import Asked, Value
from tfm_ui.pictures import bars, strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.text import formats

# Drawn is what is at most so many times as far from the computed answer as half of all numbers are: nearly all of those
# that scatter as a bell. What is nearer to it than 1, or than zero is, is drawn in any case.
WIDE = 4


class Tally(NamedTuple):
    """A chart of a room's answers.

    Attributes:
        chart: what chart.js draws; None where there is nothing to draw.
        words: the answers in a sentence.
    """

    chart: Content | None
    words: str


def tally(asked: Asked, answers: Sequence[Value], measured: Value | None) -> Tally:
    """The answers to a question, beside what the app has computed."""
    if asked.kind in ("words", "nothing") or not answers:  # words are for the owner alone, until one is shown to all
        return Tally(None, "")
    if asked.kind == "choice":
        return _choices(asked, [str(answer) for answer in answers], measured)
    numbers = [float(answer) for answer in answers]
    return _numbers(asked, numbers, measured if isinstance(measured, int | float) else None)


def _choices(asked: Asked, answers: Sequence[str], measured: Value | None) -> Tally:
    counts = Counter(answers)
    names = [f"✓ {option}" if option == measured else option for option in asked.options]
    many = [counts[option] for option in asked.options]
    shares = [count / len(answers) for count in many]
    words = "; ".join(f"{option}: {count}" for option, count in zip(asked.options, many, strict=True))
    if measured in asked.options:
        words += f". {formats.percent(counts[str(measured)] / len(answers))} chose what was computed"
    about = f"Answers: {words}."
    return Tally(bars.content(names, shares, values=[str(count) for count in many], axis="", about=about), about)


def _numbers(asked: Asked, numbers: Sequence[float], measured: float | None) -> Tally:
    low, middle, high = (float(part) for part in np.percentile(numbers, (25, 50, 75)))
    near = middle if measured is None else measured
    typical = float(np.percentile([abs(number - near) for number in numbers], 50, method="lower"))
    reach = max(WIDE * typical, abs(near), 1.0)
    drawn = [number for number in numbers if abs(number - near) <= reach]
    beyond = len(numbers) - len(drawn)
    said = f"{formats.plural(len(numbers), 'answer')}, the median {_written(middle, asked.unit)}"
    outside = f"; {beyond} far outside, not drawn" if beyond else ""
    nearest = "" if measured is None else f"; computed: {_written(measured, asked.unit)}"
    words = f"{said}{nearest}{outside}."
    name = f"computed: {_written(measured, asked.unit)}" if measured is not None else ""
    is_near = [abs(part - near) <= reach for part in (low, middle, high)]  # what is not would press the dots together
    band = (low, middle, high) if all(is_near) and len(numbers) > 2 else (math.nan, middle, math.nan)
    if not is_near[1]:
        band = (math.nan, math.nan, math.nan)  # the median is said all the same
    strip = Strip(
        "Answers", "", "room", drawn, range(len(drawn)), *band, f"median {_written(middle, asked.unit)}", words
    )
    axis = f"answer{', in ' + asked.unit.strip() if asked.unit.strip() else ''}{outside}"
    line = (name, measured) if measured is not None else None
    groups = {"room": Group("query")}
    chart = strips.content(
        [strip], groups, axis=axis, unit=asked.unit.strip(), line=line, about=words, each=("answer", 1)
    )
    return Tally(chart, words)


def _written(number: float, unit: str) -> str:
    return f"{number:{',.0f' if abs(number) >= 10_000 else ',.4g'}}{unit}".replace("-", "−")
