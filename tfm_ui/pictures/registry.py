"""The registry: each picture by its name, as a function of a link. Lenses fill it, and it knows none of them.

The browser asks for a picture by its name and the query of a link (assets/pictures/follow.js); a page needs the same
bytes for its files. Both get them here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode

from tfm_ui.live import passes
from tfm_ui.pictures.canvas import Canvas, Content, encode
from tfm_ui.state.fields import local_to
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import Query, link_parameters, state_of
from tfm_ui.state.model_state import ModelState

PARAMETERS = 500  # of a link: several times what all lenses together have


class CannotBeShown(ValueError):
    """Why a link has no picture, in a sentence."""


States = tuple[tuple[Any, str], ...]  # each with its prefix, the model's first


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        canvas: how it is drawn.
        content: what from: a function of the model's state and of the lens's.
    """

    canvas: Canvas
    content: Callable[[ModelState, Any], Content]


def for_both_sides(name: str, canvas: Canvas, content: Callable[..., Content]) -> dict[str, Picture]:
    """The two pictures of a comparison, `<name>_a` and `<name>_b`; `content` is told its `side`, "A" or "B"."""
    return {f"{name}_{side.lower()}": Picture(canvas, partial(content, side=side)) for side in ("A", "B")}


@dataclass(frozen=True)
class Registered(Picture):
    """A picture of the registry.

    Attributes:
        state: the lens's, which it depends on beside the model's.
        prefix: of the lens's parameters in a link.
    """

    state: type[LensState]
    prefix: str

    def states(self, query: Query) -> States:
        """What a link says that this picture depends on."""
        model = state_of(ModelState, "", query)
        return ((model, ""), (state_of(self.state, self.prefix, query, self.state.limits(model)), self.prefix))


PICTURES: dict[str, Registered] = {}


def register(pictures: Mapping[str, Picture], state: type[LensState], prefix: str) -> None:
    """Enter a lens's pictures.

    Raises:
        ValueError: if another lens has a picture of that name.
    """
    for name, picture in pictures.items():
        entry = Registered(picture.canvas, picture.content, state, prefix)
        if PICTURES.setdefault(name, entry) != entry:
            raise ValueError(f"expected names that no other lens uses, got the picture {name!r} twice")


def made(name: str, query: str) -> bytes:
    """A picture's bytes, with the query that they stand for in its header.

    Args:
        name: of the picture.
        query: of a link, as it stands behind the "?".

    Raises:
        CannotBeShown: if the link's model cannot.
    """
    picture = PICTURES[name]
    states = picture.states(_parameters(query))
    model = states[0][0]
    if not model.source_tokens.pieces or (model.is_encoder_decoder and not model.target_tokens.pieces):
        raise CannotBeShown("expected a text, got one that has no tokens")
    if reason := passes.too_large(model):
        raise CannotBeShown(reason)
    header, numbers = picture.content(*(state for state, _ in states))
    return encode({**header, "query": query_of(states)}, numbers)


def takes_long(query: str) -> bool:
    """Whether the pictures of a link's model may take long.

    Raises:
        CannotBeShown: if that is no link.
    """
    return state_of(ModelState, "", _parameters(query)).is_heavy


def _parameters(query: str) -> Query:
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=PARAMETERS)
    except ValueError:
        raise CannotBeShown(f"expected at most {PARAMETERS} parameters") from None


def query_of(states: States) -> str:
    """What a link to these states holds, of whatever length, without what the browser alone works with."""
    parameters = {
        key: value
        for state, prefix in states
        for key, value in link_parameters(state, prefix).items()
        if key.removeprefix(prefix) not in local_to(type(state))
    }
    return urlencode(parameters, errors="replace")
