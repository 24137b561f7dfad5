"""Each picture as a function of a link, and as what a panel shows.

The browser asks for a picture by its name and the query of a link (assets/pictures/follow.js), a page needs the same
bytes for its files: both get them here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qs, urlencode

import streamlit as st

from tfm_ui import change_pictures, compute, controls
from tfm_ui.attention import EXACT_UP_TO
from tfm_ui.attention_lens import arcs as arcs_view
from tfm_ui.attention_lens.dictionary import look_up
from tfm_ui.attention_lens.scale import scale_view
from tfm_ui.attention_lens.state import AttentionState
from tfm_ui.attention_lens.steps import steps
from tfm_ui.components import arcs, bars, head_map, heads_grid, maps, matrices, pairs
from tfm_ui.components import dictionary as dictionary_drawing
from tfm_ui.components import scale as scale_drawing
from tfm_ui.components.canvas import Canvas, Content, encode, standalone
from tfm_ui.components.lines import LINES
from tfm_ui.fields import Limits, State, local_to
from tfm_ui.figures.look import Mode
from tfm_ui.heads import HeadsState, view
from tfm_ui.links import TEXT_CHARS, Query, link_parameters, state_of
from tfm_ui.mask_pictures import MASKS
from tfm_ui.masks_lens.state import MasksState
from tfm_ui.model_state import ModelState
from tfm_ui.next_token import next_token
from tfm_ui.position_pictures import POSITIONS
from tfm_ui.positions_lens.state import PositionsState
from tfm_ui.profiling_lens.state import ProfilingState
from tfm_ui.profiling_pictures import PROFILING

Pick = Callable[[int, int], None]
PARAMETERS = 500  # of a link: several times what all lenses together have


class CannotBeShown(ValueError):
    """Why a link has no picture, in a sentence."""


class Lens(State, Protocol):
    """A page's state, whose ranges may depend on the model."""

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Field name -> attributes of its control that are narrower with this model."""
        ...


States = tuple[tuple[Any, str], ...]  # each with its prefix, the model's first


def all_heads(model: ModelState, state: HeadsState) -> Content:
    """The grid, the locked head ringed."""
    seen = view(model, compute.run(model), state.kind)
    picked = (state.layer - 1, state.head - 1)
    return heads_grid.content(seen.attention, seen.sentences, top=seen.top(state.scale), picked=picked)


def one_head(model: ModelState, state: HeadsState) -> Content:
    """The locked head, exactly."""
    seen = view(model, compute.run(model), state.kind)
    layer, head = state.layer - 1, state.head - 1
    top = seen.top(state.scale)[layer, head].item()
    return head_map.content(seen.head(layer, head), top=top, about=seen.sentence_of(layer, head))


def home_heads(model: ModelState) -> Content:
    """The grid on Home, where no head is locked."""
    seen = view(model, compute.run(model), HeadsState.kind)
    return heads_grid.content(seen.attention, seen.sentences, top=seen.top(HeadsState.scale), picked=None)


def home_next(model: ModelState) -> Content:
    """The likeliest next tokens."""
    likely = next_token(model, compute.run(model))
    return bars.content(likely.names, likely.shares, reference=likely.even, about=likely.sentence)


def attention_steps(model: ModelState, state: AttentionState) -> Content:
    """One head, number by number."""
    return matrices.content(steps(model, state), prefix="attention_")


def scale(model: ModelState, state: AttentionState) -> Content:
    """The experiment on scaling."""
    return scale_drawing.content(scale_view(model, state))


def dictionary(model: ModelState, state: AttentionState) -> Content:
    """The soft dictionary, which needs no model."""
    return dictionary_drawing.content(look_up(state))


def attention_arcs(model: ModelState, state: AttentionState) -> Content:
    """The lines of a layer's heads, or of their aggregate."""
    seen = arcs_view.view(model, state)
    return arcs.content(seen, at=(state.query, state.key), about=seen.sentence())


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        canvas: how it is drawn.
        content: what from: a function of the model's state, and of the page's if the picture depends on it.
        page: that page's state.
        prefix: of its parameters in a link.
    """

    canvas: Canvas
    content: Callable[..., Content]
    page: type[Lens] | None = None
    prefix: str = ""

    def states(self, query: Query) -> States:
        """What a link says that this picture depends on."""
        model = state_of(ModelState, "", query)
        if not self.page:
            return ((model, ""),)
        return ((model, ""), (state_of(self.page, self.prefix, query, self.page.limits(model)), self.prefix))


PICTURES = {
    "heads": Picture(heads_grid.GRID, all_heads, HeadsState, "heads_"),
    "head": Picture(head_map.MAP, one_head, HeadsState, "heads_"),
    "steps": Picture(matrices.MATRICES_CANVAS, attention_steps, AttentionState, "attention_"),
    "home_heads": Picture(heads_grid.GRID, home_heads),
    "home_next": Picture(bars.BARS, home_next),
    "scale": Picture(LINES, scale, AttentionState, "attention_"),
    "dictionary": Picture(dictionary_drawing.DICTIONARY, dictionary, AttentionState, "attention_"),
    "contribution": Picture(maps.MAPS, change_pictures.contribution, AttentionState, "attention_"),
    "contribution_row": Picture(pairs.PAIRS, change_pictures.contribution_row, AttentionState, "attention_"),
    "change_weights": Picture(maps.MAPS, change_pictures.change_weights, AttentionState, "attention_"),
    "change_stream": Picture(maps.MAPS, change_pictures.change_stream, AttentionState, "attention_"),
    "change_output": Picture(pairs.PAIRS, change_pictures.change_output, AttentionState, "attention_"),
    "arcs": Picture(arcs.ARCS, attention_arcs, AttentionState, "attention_"),
}
PICTURES |= {name: Picture(*drawn, PositionsState, "positions_") for name, drawn in POSITIONS.items()}
PICTURES |= {name: Picture(*drawn, MasksState, "masks_") for name, drawn in MASKS.items()}
PICTURES |= {name: Picture(*drawn, ProfilingState, "profiling_") for name, drawn in PROFILING.items()}


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
    if reason := compute.too_large(model):
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


@dataclass(frozen=True)
class Drawing:
    """A picture of this page, for its panel.

    Attributes:
        name: of the picture.
        states: what it shows.
        on_pick: called with layer and head, from 0, when one is clicked, before the page runs.
        slow: whether it takes much more than a pass does: it is not drawn while another picture is dragged.
    """

    name: str
    states: States
    on_pick: Pick | None = None
    slow: bool = False

    @property
    def query(self) -> str:
        """What the picture is asked for with."""
        return query_of(self.states)

    @property
    def early(self) -> bool:
        """Whether the browser may go ahead of the page: where the address holds all, and a pass takes no time."""
        return not self.slow and len(self.query) <= TEXT_CHARS and self.states[0][0].seq_len <= EXACT_UP_TO

    def draw(self, key: str) -> tuple[int, int] | None:
        """Put it on the page; the layer and head that were clicked to cause this run, if any."""

        def picked() -> None:
            if self.on_pick:
                self.on_pick(*st.session_state[key].picked)

        def changed() -> None:
            wish = st.session_state[key].changed
            st.session_state[heard] = wish["number"]
            controls.take(wish["changes"])

        heard = f"_heard_{key}"  # how many of the picture's wishes: the browser must know which page is behind
        data = {"name": self.name, "query": self.query, "early": self.early, "slow": self.slow, "local": self.local}
        data["heard"] = st.session_state.get(heard, 0)
        canvas = PICTURES[self.name].canvas
        at: tuple[int, int] | None = canvas.mount(
            key=key, data=data, on_picked_change=picked, on_changed_change=changed
        ).picked
        return at

    @property
    def local(self) -> dict[str, Any]:
        """Parameter -> value, of the fields that the browser alone works with."""
        return {prefix + name: getattr(state, name) for state, prefix in self.states for name in local_to(type(state))}

    def page(self, title: str, sentence: str, mode: Mode) -> str:
        """As an HTML page of its own."""
        return standalone(PICTURES[self.name].canvas, made(self.name, self.query), title, sentence, mode)
