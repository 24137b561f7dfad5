"""Repeated measurements as dots along a line, a strip for each thing that was measured."""

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
    """One thing's measurements.

    Attributes:
        name, detail: what was measured; strips that follow each other with the same two stand together.
        group: one of the picture's groups.
        dots: the measurements.
        rounds: in which round each was made, from 0.
        low, middle, high: a band around the middle, such as the quartiles and the median; NaN where there is none.
        end: stands at its end: the middle in words, or why there is none.
        said: all of it in words, for who points at it.
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
    """How the strips of one kind are drawn.

    Attributes:
        colour: "ink", "muted", a role such as "query", or "head 1" to "head 8".
        hollow: whether its dots are rings, so that colour alone does not tell.
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
    """What strips.js draws.

    Args:
        strips: from top to bottom.
        groups: name -> how its strips are drawn; named above the picture if there are several.
        axis: what stands below.
        unit: behind a dot's value, where it is read.
        about: the picture in words.
        scale: of the axis. What a log scale cannot show is left out.
        line: the name and place of an upright line.
        least: whether the smallest dot of each strip is marked.

    Raises:
        ValueError: for a strip whose dots and rounds differ in number.
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
