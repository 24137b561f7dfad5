"""The view "see", what the schemes are: every value, wave and bias of A beside B."""

from functools import partial
from html import escape

import streamlit as st

from tfm_core import alibi_slopes, apply_rotary, sinusoidal_encoding, t5_buckets
from tfm_core.positional.maths import frequencies
from tfm_ui.lenses.positions.controls import PICTURES as OF_LENS
from tfm_ui.lenses.positions.controls import a_and_b, positions_alone
from tfm_ui.lenses.positions.schemes import Scheme, aside_of, schemes
from tfm_ui.lenses.positions.see.bias import BiasByDistance, bias
from tfm_ui.lenses.positions.see.clocks import clocks
from tfm_ui.lenses.positions.see.curves import Curves, curves
from tfm_ui.lenses.positions.see.encode import CURVES, encoded
from tfm_ui.lenses.positions.see.pictures import PICTURES
from tfm_ui.lenses.positions.see.waves import Wavelengths, wavelengths
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.page import controls
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NONE = "This scheme adds nothing anywhere: all that tells one position from another is the mask, where there is one."

# What the places' own methods call, for the reader who asks where the numbers come from.
CALLED: dict[str, list[Source]] = {
    "sinusoidal": [sinusoidal_encoding],
    "alibi": [alibi_slopes],
    "t5": [t5_buckets],
}


def blocks(model: ModelState, state: PositionsState) -> list[Block | None]:
    """A column for each scheme; below them what the schemes hold, in other pictures."""
    aside, shown = aside_of(model, state), schemes(model, state)
    lines, waves = curves(model, state), wavelengths(model, state)
    biased = [_distance_panel(model, state, scheme) for scheme in shown if scheme.has("bias_at")]
    drawn = [scheme.side.lower() for scheme in shown if [vectors.scheme for vectors in lines.sides] == [scheme]]
    return [
        Columns([[_of_scheme(model, state, scheme)] for scheme in shown]),
        Note(aside) if aside else None,
        Columns([[panel] for panel in biased]) if biased else None,
        _curves_panel(state, lines, f"_{drawn[0]}" if drawn else "") if lines.sides else None,
        _waves_panel(waves) if waves.sides else None,
    ]


def _of_scheme(model: ModelState, state: PositionsState, scheme: Scheme) -> Block:
    """What a scheme is, at the place where it enters."""
    if scheme.has("encode"):
        return _encode_panel(model, state, scheme)
    if scheme.has("rotate"):
        return _clocks_panel(state, scheme)
    return _bias_panel(model, state, scheme) if scheme.has("bias_at") else partial(_draw_nothing, scheme)


def _draw_nothing(scheme: Scheme) -> None:
    with st.container(border=True, key=f"none_{scheme.side}"):
        st.html(f'<div class="phead"><h2>{escape(scheme.title)}</h2></div><p class="said">{NONE}</p>')


def _sources(scheme: Scheme, place: str) -> list[Source]:
    return [getattr(type(scheme.module), place), *CALLED.get(scheme.name, [])]


def _encode_panel(model: ModelState, state: PositionsState, scheme: Scheme) -> Panel:
    result, side = encoded(model, state, scheme), scheme.side.lower()
    return Box(
        key=f"encode_{side}",
        title=scheme.title,
        how_to_read="What is added to the embedding at each position (row), dimension by dimension (column). Click "
        "a cell to mark its position and to draw its dimension as a curve below, or to take it away.",
        shape=result.shape,
        picture=f"positions_encode_{side}",
        result=result,
        sources=_sources(scheme, "encode"),
    )


def _clocks_panel(state: PositionsState, scheme: Scheme) -> Panel:
    """Pairs of dimensions as turning vectors, moved along the positions."""
    result, side = clocks(state, scheme), scheme.side.lower()
    few = len(result.shown) < result.pairs
    which = f" {len(result.shown)} of the {result.pairs} pairs, evenly chosen." if few else ""
    return Box(
        key=f"clocks_{side}",
        title=f"{scheme.title}, a turn per pair",
        how_to_read="A circle per pair of dimensions (i, i + d/2): a query and a key that both pointed right, "
        f"turned by their positions. λ: positions for a full turn.{which}",
        shape=formats.plural(result.pairs, "pair"),
        picture=f"positions_clocks_{side}",
        result=result,
        sources=[apply_rotary, frequencies],
    )


def _bias_panel(model: ModelState, state: PositionsState, scheme: Scheme) -> Panel:
    result, side = bias(model, state, scheme), scheme.side.lower()
    return Box(
        key=f"bias_{side}",
        title=scheme.title,
        how_to_read=result.how_to_read,
        shape=f"head × query × key = {len(result.values)} × {(n := formats.count(result.length))} × {n}",
        picture=f"positions_bias_{side}",
        result=result,
        sources=_sources(scheme, "bias_at"),
    )


def _distance_panel(model: ModelState, state: PositionsState, scheme: Scheme) -> Panel:
    result, side = bias(model, state, scheme), scheme.side.lower()
    buckets = (
        " Below, the bucket that each distance falls into: one number per head and bucket, a parameter of the model."
    )
    return Box(
        key=f"distance_{side}",
        title=f"{scheme.title}, by distance",
        how_to_read="A matrix holds no more than this: a number for each distance of key and query."
        + buckets * (result.buckets is not None),
        shape=f"{formats.count(len(result.distance))} distances",
        picture=f"positions_distance_{side}",
        result=BiasByDistance(result),
        sources=_sources(scheme, "bias_at"),
    )


def _curves_panel(state: PositionsState, lines: Curves, side: str = "") -> Panel:
    return Box(
        key="position_curves",
        title="Curves of dimensions",
        how_to_read="The chosen dimensions, named at their ends, over the positions that the heatmap shows.",
        tools=partial(_draw_box_of_dimensions, state),
        picture=f"positions_curves{side}",
        result=lines,
        sources=[source for vectors in lines.sides for source in _sources(vectors.scheme, "encode")],
    )


def _draw_box_of_dimensions(state: PositionsState) -> None:
    """Dimensions by their numbers. A click in the heatmap sets them too, so the box shows what the link holds."""
    key = "_dims"

    def changed() -> None:
        controls.change(PREFIX, dims=st.session_state[key])

    st.session_state[key] = state.dims
    st.text_input(f"Dimensions, at most {CURVES}, separated by spaces", key=key, on_change=changed, width=360)


def _waves_panel(waves: Wavelengths) -> Panel:
    return Box(
        key="position_waves",
        title="Wavelengths",
        how_to_read="After how many positions each pair of dimensions has turned once; the scale is logarithmic. "
        "Below the thin line, waves that are shorter than the sequence. A solid, B dashed.",
        shape="2π · base^(2i / d)",
        picture="positions_wavelengths",
        result=waves,
        sources=[type(side.scheme.module).wavelengths for side in waves.sides],
    )


VIEW = View(
    title="Encodings",
    blocks=blocks,
    drawn=OF_LENS | PICTURES,
    controls=partial(a_and_b, more=("bias_scale",)),
    reads_instead=positions_alone,
)
