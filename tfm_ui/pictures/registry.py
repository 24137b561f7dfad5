"""The registry of pictures: name -> a function that computes the picture from a link. Lenses register their pictures.

The browser asks for a picture by its name and the query of a link (assets/pictures/follow.js); pages need the same
bytes for downloads. Both use `made`. What panels say of their data is registered beside the pictures, as it travels
with them: tfm_ui/page/words.py computes it, assets/pictures/words.js puts it on the page.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import plotly.graph_objects as go

from tfm_core.allocator import give_back
from tfm_ui.live.cache import kept_together
from tfm_ui.live.memory import KEPT, is_large, why_too_large
from tfm_ui.live.not_here import why_not_run
from tfm_ui.pictures.canvas import Content, Header, encode
from tfm_ui.pictures.figures import finished
from tfm_ui.pictures.picture import Needs, Picture
from tfm_ui.state.fields import local_to
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import Query, link_parameters, state_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.visitors.turn import turn_to_compute

PARAMETERS = 500  # the most parameters of a link: several times as many as all lenses have


class CannotBeShown(ValueError):
    """A link has no picture; the message says why, in a sentence."""


NOTHING = np.zeros(0, np.float32)
States = tuple[tuple[Any, str], ...]  # (state, its prefix in a link); the model's state is the first


class Asked:
    """What one request asks about: the query of a link, read once for all its pictures.

    Another process is sent the states that were read, and not the query, which may be long.

    Attributes:
        model: the model's state.

    Raises:
        CannotBeShown: if the query has too many parameters.
    """

    def __init__(self, query: str) -> None:
        self._parameters: Query | None = _parameters(query)
        self.model = state_of(ModelState, "", self._parameters)
        self._lenses: dict[str, LensState] = {}

    def lens(self, state: type[LensState], prefix: str) -> LensState:
        """The state of the lens with this prefix."""
        if prefix not in self._lenses:
            if self._parameters is None:
                raise ValueError(f"expected a lens that was read before it was sent, got {prefix!r}")
            self._lenses[prefix] = state_of(state, prefix, self._parameters, state.limits(self.model))
        return self._lenses[prefix]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_parameters": None}


@dataclass(frozen=True)
class OfLens:
    """Something in the registry that a lens computes from a link.

    Attributes:
        state: the class of the lens's state.
        prefix: the prefix of the lens's parameters in a link.
    """

    state: type[LensState]
    prefix: str

    def states(self, asked: Asked) -> States:
        """The states on which it depends."""
        return ((asked.model, ""), (asked.lens(self.state, self.prefix), self.prefix))


@dataclass(frozen=True)
class Registered(Picture, OfLens):
    """A picture in the registry."""


@dataclass(frozen=True)
class Words(OfLens):
    """What a lens's page says, in the registry.

    Attributes:
        said: computes it, from the model's state and the lens's state.
        needs: as of a picture.
    """

    said: Callable[[ModelState, Any], Header]
    needs: Needs


@dataclass(frozen=True)
class Preview(OfLens):
    """A picture of a lens's page that the server draws: a PNG for messengers, an SVG for paper.

    Attributes:
        drawn: draws it, from the model's state and the lens's state, and the keys of panels that are left out.
        needs: as of a picture.
    """

    drawn: Callable[..., bytes]
    needs: Needs


WITHOUT = "!"  # in a name, before the keys of panels that a preview leaves out, with commas between them
PICTURES: dict[str, Registered] = {}
WORDS: dict[str, Words] = {}
PREVIEWS: dict[str, Preview] = {}


def register(pictures: Mapping[str, Picture], state: type[LensState], prefix: str) -> None:
    """Register a lens's pictures.

    Raises:
        ValueError: if another lens has a picture with the same name.
    """
    for name, picture in pictures.items():
        entry = Registered(
            state,
            prefix,
            picture.canvas,
            picture.content,
            uses_model=picture.uses_model,
            shows_jobs=picture.shows_jobs,
            needs=picture.needs,
            ignores=picture.ignores,
            works_on_weights_alone=picture.works_on_weights_alone,
        )
        if PICTURES.setdefault(name, entry) != entry:
            raise ValueError(f"expected names that no other lens uses, got the picture {name!r} twice")


def read(names: Iterable[str], query: str) -> Asked:
    """The query of a link with all that these pictures, words or previews need of it: so it can be sent.

    Raises:
        CannotBeShown: if the query has too many parameters.
    """
    asked = Asked(query)
    for name in names:
        _entry(name).states(asked)
    return asked


def link_of(name: str, asked: Asked) -> str:
    """The query of all that a picture, words or a preview depends on."""
    return query_of(_entry(name).states(asked))


def can_be_asked(name: str) -> bool:
    """Whether this is the name of a picture, of words, or of a preview."""
    return name in PICTURES or name in WORDS or _preview(name) is not None


def shows_jobs(name: str) -> bool:
    """Whether this picture shows jobs that are under way; words and previews, if a picture of the same lens does."""
    if name in PICTURES:
        return PICTURES[name].shows_jobs
    prefix = _entry(name).prefix
    return any(picture.shows_jobs and picture.prefix == prefix for picture in PICTURES.values())


def show_model(names: Iterable[str]) -> bool:
    """Whether any of these pictures shows something of the sidebar's model; what comes without a picture may."""
    pictures = [PICTURES[name] for name in names if name in PICTURES]
    return not pictures or any(picture.uses_model for picture in pictures)


def registered(name: str) -> Registered:
    """The picture with this name.

    Raises:
        ValueError: if no lens has registered it.
    """
    if name not in PICTURES:
        raise ValueError(f"expected the name of a picture in a lens's `pictures`, got {name!r}")
    return PICTURES[name]


def made(name: str, link: str | Asked) -> bytes:
    """A picture's bytes, for the browser, or those of words, or a preview's PNG; see `content_of`."""
    if preview := _preview(name):
        asked = Asked(link) if isinstance(link, str) else link
        without = filter(None, name.partition(WITHOUT)[2].split(","))
        with _room_for(name, asked):
            return preview.drawn(*(state for state, _ in preview.states(asked)), *without)
    return encode(*content_of(name, link))


def content_of(name: str, link: str | Asked) -> Content:
    """What a picture is drawn from. The header contains the query of the states that the picture shows.

    Args:
        name: the picture's name, or that of words.
        link: the query of a link, the part after "?", as it stands there or as it was read.

    Raises:
        CannotBeShown: if there is no picture for this link.
        ValueError: if no lens has registered the picture.
    """
    asked = Asked(link) if isinstance(link, str) else link
    if words := WORDS.get(name):
        states = words.states(asked)
        with _room_for(name, asked):
            return {**words.said(*(state for state, _ in states)), "query": query_of(states)}, NOTHING
    picture = registered(name)
    if picture.uses_model and (reason := why_not_run(asked.model)):
        raise CannotBeShown(reason)
    if reason := picture.why_not_drawn(asked.model):
        raise CannotBeShown(reason)
    states = picture.states(asked)
    with _room_for(name, asked):
        header, numbers = picture.content(*(state for state, _ in states))
        return {**header, "query": query_of(states)}, numbers


def needed(name: str, asked: Asked) -> int:
    """The bytes that computing a picture takes at most, or words, or a preview; see `Picture.needs`."""
    entry = _entry(name)
    return entry.needs(*(state for state, _ in entry.states(asked)))


def _preview(name: str) -> Preview | None:
    return PREVIEWS.get(name.partition(WITHOUT)[0])


def _entry(name: str) -> Registered | Words | Preview:
    return WORDS.get(name) or _preview(name) or registered(name)


def takes_long(names: Iterable[str], asked: Asked) -> bool:
    """Whether these pictures, words or previews take long to compute, or more memory than several may at once."""
    return asked.model.is_heavy or any(is_large(needed(name, asked)) for name in names)


@contextmanager
def _room_for(name: str, asked: Asked) -> Iterator[None]:
    """Wait until there is memory for it, in the slow lane if it needs much; give back what it took.

    Within the block nothing is computed twice.

    Raises:
        CannotBeShown: if it needs more than one picture may take.
    """
    if reason := why_too_large(size := needed(name, asked)):
        raise CannotBeShown(reason)
    with turn_to_compute(heavy=is_large(size)):
        try:
            with kept_together():
                yield
        finally:
            if size > KEPT:
                give_back()


def figure_of(name: str, query: str, title: str, sentence: str) -> go.Figure:
    """A picture as a Plotly figure, in light colours; see `content_of` for what cannot be shown.

    Args:
        name: the picture's name; its canvas must have a figure.
        query: the query of a link, the part after "?".
        title: of the picture's panel.
        sentence: the picture in words.
    """
    canvas = registered(name).canvas
    if not canvas.figure:
        raise ValueError(f"expected a picture with a figure, got {name!r}")
    header, numbers = content_of(name, query)
    figure = canvas.figure(header, numbers)
    return finished(figure, title=title, sentence=sentence, link=header["query"], foot=header.get("foot", ""))


def _parameters(query: str) -> Query:
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=PARAMETERS)
    except ValueError:
        raise CannotBeShown(f"expected at most {PARAMETERS} parameters") from None


@lru_cache(maxsize=64)  # all pictures of a request, and its words, have the same one
def query_of(states: States) -> str:
    """The query of these states, of any length, without the fields that only the browser uses."""
    return _query_of(states, leaves_out=local_to)


def whole_query_of(states: States) -> str:
    """The query of these states, of any length, with the fields that only the browser uses: sentences tell of these."""
    return _query_of(states, leaves_out=lambda state: set())


def _query_of(states: States, *, leaves_out: Callable[[type[Any]], set[str]]) -> str:
    parameters = {
        key: value
        for state, prefix in states
        for key, value in link_parameters(state, prefix).items()
        if key.removeprefix(prefix) not in leaves_out(type(state))
    }
    return urlencode(parameters, errors="replace")
