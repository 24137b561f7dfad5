"""All that is recorded: the links of links.py, and each question of each lens; and the file that each of them has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, unquote

from tests.record.links import LINKS
from tfm_ui.lenses import lenses
from tfm_ui.page.lens import Lens
from tfm_ui.page.questions import Question
from tfm_ui.state.links import link_parameters
from tfm_ui.state.model_state import ModelState

FOLDER = Path(__file__).parent / "links"
MOST_CHARS, MOST_OF_A_PART = 68, 32  # of a file's name before its digest and ending, and of a parameter in it
MEASURED = "#measured"  # behind a link: Profiling has measured what it asks for, with times made by hand
HOME = "home"


@dataclass(frozen=True)
class Link:
    """A link that is recorded.

    Attributes:
        address: the link, as links.py writes it.
        question: the name of the question whose settings the link brings; "" of the links in links.py.
    """

    address: str
    question: str = ""

    @property
    def lens(self) -> str:
        """The name of the lens that it opens."""
        return self.address.partition("?")[0] or HOME

    @property
    def query(self) -> str:
        """What stands after "?", as Asked reads it."""
        return self.address.partition("?")[2].removesuffix(MEASURED)

    @property
    def is_measured(self) -> bool:
        """Whether Profiling has measured what the link asks for."""
        return self.address.endswith(MEASURED)

    @property
    def file(self) -> Path:
        """Where its record is. A question is called by its name, as its number changes with the questions before it."""
        if self.question:
            return FOLDER / self.lens / f"question-{slug(self.question)}.json"
        readable = unquote(self.address.partition("?")[2]).replace(f"{self.lens}_", "")
        return FOLDER / self.lens / f"{slug(readable) or 'opened'}.json"


def slug(words: str) -> str:
    """Words as a file's name on any system; with a digest, if more than spaces was not kept."""
    parts = [part if len(part) <= MOST_OF_A_PART else f"{part[: MOST_OF_A_PART - 1]}…" for part in words.split("&")]
    short = ",".join(parts).replace("#", ",")
    plain = re.sub(r"[^\w.=,-]+", "-", short, flags=re.ASCII)
    if len(plain) <= MOST_CHARS and not re.search(r"[^\w.=, -]", short, flags=re.ASCII):
        return plain.strip("-.")
    return f"{plain[:MOST_CHARS].strip('-.')}-{blake2b(words.encode(), digest_size=3).hexdigest()}"


@cache
def recorded_links() -> Sequence[Link]:
    """All of them, lens by lens."""
    named = [Link(address) for address in LINKS]
    return [
        link
        for lens in lenses()
        for link in (
            *(link for link in named if link.lens == lens.name),
            *(Link(address_of(lens, question), question.name) for question in lens.questions),
        )
    ]


def address_of(lens: Lens, question: Question) -> str:
    """The link that brings a question's settings, without the question's number."""
    model, state = ModelState(**question.model), lens.state(**question.controls)
    parameters = link_parameters(model, "") | link_parameters(state, lens.prefix)
    parameters = parameters or link_parameters(model, "", always=lens.opens_with)  # an empty link asks for nothing
    query = "&".join(f"{name}={quote(value, safe=' ,;>:/?!“”’')}" for name, value in parameters.items())
    return f"{'' if lens.name == HOME else lens.name}?{query}"
