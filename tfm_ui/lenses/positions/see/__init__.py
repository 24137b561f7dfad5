"""The view "see", what the schemes are: every value, wave and bias of A beside B."""

from functools import partial
from html import escape

import streamlit as st

from tfm_ui.lenses.positions.controls import KNOB, a_and_b, positions_alone
from tfm_ui.lenses.positions.panel import note
from tfm_ui.lenses.positions.schemes import Scheme, aside_of, schemes
from tfm_ui.lenses.positions.see.bias import BiasA, BiasB, DistanceA, DistanceB
from tfm_ui.lenses.positions.see.clocks import ClocksA, ClocksB, Wavelengths
from tfm_ui.lenses.positions.see.encode import Curves, CurvesA, CurvesB, EncodeA, EncodeB
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Columns
from tfm_ui.state.model_state import ModelState

NONE = "This scheme adds nothing anywhere: all that tells one position from another is the mask, where there is one."
BY_PLACE = (  # where a scheme enters -> the panels of A and of B that show it there
    ("encode", {"A": EncodeA, "B": EncodeB}),
    ("rotate", {"A": ClocksA, "B": ClocksB}),
    ("bias_at", {"A": BiasA, "B": BiasB}),
)


def _side_by_side(model: ModelState, state: PositionsState) -> Columns:
    """A column for each scheme: what it is, at each place where it enters."""

    def block(scheme: Scheme) -> Block:
        panels = (of_side[scheme.side] for place, of_side in BY_PLACE if scheme.has(place))
        panel = next(panels, None)
        return panel(model, state) if panel else partial(_draw_nothing, scheme)

    columns: dict[str, list[Block | None]] = {}
    for scheme in schemes(model, state):
        columns.setdefault(scheme.side, []).append(block(scheme))
    return Columns([*columns.values()])


def _draw_nothing(scheme: Scheme) -> None:
    with st.container(border=True, key=f"none_{scheme.side}"):
        st.html(f'<div class="phead"><h2>{escape(scheme.title)}</h2></div><p class="said">{NONE}</p>')


def _by_distance(model: ModelState, state: PositionsState) -> Columns | None:
    """The biases by distance, side by side."""
    panels = [panel for panel in (DistanceA(model, state), DistanceB(model, state)) if panel.is_shown]
    return Columns([[panel] for panel in panels]) if panels else None


def _curves(model: ModelState, state: PositionsState) -> Curves | None:
    """The curves of both sides, or of the one that is added to the embeddings."""
    both, *alone = (panel(model, state) for panel in (Curves, CurvesA, CurvesB))
    return next((panel for panel in alone if panel.shown == both.shown), both) if both.is_shown else None


VIEW = View(
    title="Encodings",
    choice="A and B",
    exercise="positional-encoding",
    shows=[_side_by_side, note(aside_of), _by_distance, _curves, Wavelengths],
    also=[
        *(panel for _, of_side in BY_PLACE for panel in of_side.values()),
        *(DistanceA, DistanceB, Curves, CurvesA, CurvesB),
    ],
    beside=KNOB,
    controls=partial(a_and_b, more=("bias_scale",)),
    reads_instead=positions_alone,
)
