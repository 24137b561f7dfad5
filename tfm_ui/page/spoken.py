"""What a page says, for its elements: as another process has computed it, or else computed here when it is drawn.

The pool's workers compute what a page says beside its pictures (tfm_ui/page/words.py). So a page that asks a worker for
it builds and runs no model in the process that runs the pages of all visitors, one at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from tfm_ui.text import token_row
from tfm_ui.text.glossary import Marked, html_of, marked, plain_of
from tfm_ui.text.token_row import Item

Places = Mapping[str, Mapping[str, Any]]  # as in tfm_ui/page/words.py
# Asks for words by their names and a link's query; no places where nobody else computes, or it cannot now.
Ask = Callable[[Sequence[str], str], Places]


def _nobody(names: Sequence[str], query: str) -> Places:
    return {}


_ask: Ask = _nobody


def computed_by(ask: Ask) -> None:
    """Let pages of this process ask for words in this way, from now on."""
    global _ask
    _ask = ask


class Spoken:
    """What a page says of its link, by place.

    Args:
        places: what was computed elsewhere; each method's `compute` gives what is not among it.
    """

    def __init__(self, places: Places) -> None:
        self._places = places

    @classmethod
    def asked(cls, names: Sequence[str], query: str) -> "Spoken":
        """The words with these names, of the link with this query, as another process computes them, if one does."""
        return cls(_ask(names, query))

    def html(self, place: str, compute: Callable[[], str]) -> str:
        """The text of a place as HTML, with the glossary's explanations."""
        return html_of(self._pieces(place, compute))

    def plain(self, place: str, compute: Callable[[], str]) -> str:
        """The text of a place."""
        return "".join(map(plain_of, self._pieces(place, compute)))

    def laws(self, place: str, compute: Callable[[], Mapping[str, bool]]) -> str:
        """Laws as HTML; "" if there are none."""
        there = self._places.get(place, {}).get("laws")
        laws = [(holds, marked(law)) for law, holds in compute().items()] if there is None else there
        return "".join(f"<span>{'✓' if holds else '✕'} {html_of(law)}</span>" for holds, law in laws)

    def facts(self, compute: Callable[[], Mapping[str, str]]) -> str:
        """The facts about the model as HTML."""
        there = self._places.get("facts", {}).get("facts")
        facts = compute().items() if there is None else there
        return "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)

    def tokens(self, place: str, compute: Callable[[], Sequence[Item]]) -> str:
        """A row of tokens as HTML."""
        there = self._places.get(place, {}).get("tokens")
        return token_row.html_of(compute() if there is None else there)

    def _pieces(self, place: str, compute: Callable[[], str]) -> Sequence[Marked]:
        there: Sequence[Marked] | None = self._places.get(place, {}).get("text")
        return marked(compute()) if there is None else there
