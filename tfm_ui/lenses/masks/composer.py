"""Masks that are combined by and / or, each with its numbers: chips in a row, which write the composition's text."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfm_core import MASKS
from tfm_ui.lenses.masks.composition import MOST_TERMS, Term
from tfm_ui.pictures.canvas import Canvas, Content

COMPOSER = Canvas(
    "lenses/masks/composer",
    """
<div class="composer" data-picture>
  <div class="chips" role="group"></div>
  <p class="about"><span></span> <button hidden>Let all look ahead</button></p>
  <p class="told" hidden></p>
</div>
""",
)


@dataclass(frozen=True)
class Locked:
    """A mask that is there whatever is composed.

    Attributes:
        text: what it is, and why it is there.
        lift: the parameters that take it away; None if nothing does.
    """

    text: str
    lift: Mapping[str, str] | None


def content(
    terms: Sequence[Term],
    *,
    parameter: str,
    most: int,
    locked: Locked | None = None,
    idle: Collection[int] = (),
    notes: str = "",
    offer: bool = False,
    title: str = "",
) -> Content:
    """What composer.js draws.

    Args:
        terms: of the composition.
        parameter: of the link, that holds the composition.
        most: rows or columns of the mask, the end of sliders.
        locked: what is there anyway.
        idle: those of the terms, from 0, that change nothing.
        notes: what has no effect, in a sentence.
        offer: whether to offer that what is there anyway be taken away.
        title: the composition with its brackets.
    """
    known = [
        {
            "name": name,
            "about": pattern.about,
            "source": pattern.source,
            "arguments": [
                {
                    "name": argument.name,
                    "low": argument.low + argument.of_tokens,
                    "high": max(most, argument.low + argument.of_tokens + 1),
                    "several": argument.several,
                }
                for argument in pattern.arguments
            ],
        }
        for name, pattern in MASKS.items()
    ]
    header = {
        "parameter": parameter,
        "terms": [{"how": term.how, "name": term.name, "numbers": term.numbers} for term in terms],
        "known": known,
        "room": MOST_TERMS - len(terms),
        "locked": {"text": locked.text, "lift": locked.lift} if locked else None,
        "idle": sorted(idle),
        "notes": notes,
        "offer": offer,
        "title": title,
    }
    return header, np.zeros(0, np.float32)
