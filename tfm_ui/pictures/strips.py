"""Pictures of repeated measurements: a strip for each thing that was measured, with a dot for each measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tfm_ui.pictures.canvas import Canvas, Content

STRIPS = Canvas(
    "pictures/strips",
    """
<div class="strips" data-picture>
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
)


@dataclass(frozen=True)
class Strip:
    """The measurements of one thing.

    Attributes:
        name, detail: what was measured; adjacent strips with the same name and detail stand together.
        group: the name of one of the picture's groups.
        dots: the measurements.
        rounds: the round in which each measurement was made, from 0.
        low, middle, high: a band around the middle, such as the quartiles and the median; NaN if there is none.
        end: the text at the strip's end: the middle in words, or why there is none.
        said: the strip in words, shown when the reader points at it.
    """

    name: str
    detail: str
    group: str
    dots: Sequence[float]
    rounds: Sequence[int]
    low: float
    middle: float
    high: float
    end: str
    said: str


@dataclass(frozen=True)
class Group:
    """How the strips of a group are drawn.

    Attributes:
        colour: "ink", "muted", a role such as "query", or "head 1" to "head 8".
        hollow: whether the dots are rings, so that groups differ not only by colour.
    """

    colour: str
    hollow: bool = False


def content(
    strips: Sequence[Strip],
    groups: Mapping[str, Group],
    *,
    axis: str,
    unit: str,
    about: str,
    scale: Literal["linear", "log10"] = "linear",
    line: tuple[str, float] | None = None,
    least: bool = False,
) -> Content:
    """The content for strips.js.

    Args:
        strips: from top to bottom.
        groups: name -> how its strips are drawn; the names stand above the picture if there are several groups.
        axis: the text below the axis.
        unit: the unit of the dots' values.
        about: the picture in words.
        scale: the scale of the axis. Values that a log scale cannot show are left out.
        line: the name and the value of a vertical line.
        least: whether the smallest dot of each strip is marked.

    Raises:
        ValueError: if a strip does not have as many rounds as dots.
    """
    numbers: list[float] = []
    for strip in strips:
        if len(strip.dots) != len(strip.rounds):
            raise ValueError(f"expected a round for each dot of {strip.name!r}, got {len(strip.rounds)}")
        numbers += [strip.low, strip.middle, strip.high, *strip.dots]
    header = {
        "about": about,
        "axis": axis,
        "unit": unit,
        "scale": scale,
        "line": {"name": line[0], "x": line[1]} if line else None,
        "least": least,
        "groups": [{"name": name, "colour": group.colour, "hollow": group.hollow} for name, group in groups.items()],
        "strips": [
            {
                "name": strip.name,
                "detail": strip.detail,
                "group": list(groups).index(strip.group),
                "rounds": list(strip.rounds),
                "end": strip.end,
                "said": strip.said,
            }
            for strip in strips
        ],
    }
    return header, np.array(numbers, np.float32)
