"""Acts in words that fit the reader's hand: who has a mouse clicks and hovers, who has fingers taps. Pure.

Texts are written for a mouse. Where the page writes them as HTML, both words are there, and the style shows one of them
(assets/page/page.css).
"""

import re
from collections.abc import Iterator
from html import escape
from typing import TypedDict

_TAPS = {"click": "tap", "hover": "tap"}
_ENDINGS = {"": "", "s": "s", "ed": "ped", "ing": "ping"}  # "clicked", "tapped"
_WORDS = {act + end: tap + other for act, tap in _TAPS.items() for end, other in _ENDINGS.items()}
_WORDS |= {word.capitalize(): tap.capitalize() for word, tap in _WORDS.items()}
# What stands in quotes, or beside an arrow, is somebody's text: it stays as it is.
_ACT = re.compile(rf"“[^”]*”|\S+ → \S+|(?<![\w·-])(?P<act>{'|'.join(sorted(_WORDS, key=len, reverse=True))})(?![\w-])")


class ByHand(TypedDict):
    """An act, for a mouse and for fingers."""

    mouse: str
    touch: str


def by_hand(text: str) -> Iterator[str | ByHand]:
    """The text in pieces: each act in both words."""
    at = 0
    for match in _ACT.finditer(text):
        if act := match["act"]:
            yield text[at : match.start()]
            yield ByHand(mouse=act, touch=_WORDS[act])
            at = match.end()
    yield text[at:]


def html_of(act: ByHand) -> str:
    """Both words as HTML."""
    return f'<span class="by_mouse">{escape(act["mouse"])}</span><span class="by_touch">{escape(act["touch"])}</span>'
