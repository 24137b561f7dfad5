"""What the schemes are: every value, wave and bias of A beside B."""

from collections.abc import Callable, Sequence

import streamlit as st

from tfm_core import Positional, alibi_slopes, sinusoidal_encoding, t5_buckets
from tfm_ui.lenses.positions.boxes import pair, states
from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.see import clocks_panels as clocks
from tfm_ui.lenses.positions.see import encode as see
from tfm_ui.lenses.positions.see.bias import bias
from tfm_ui.lenses.positions.see.recipe import bias_recipe, encode_recipe, waves_recipe
from tfm_ui.lenses.positions.see.waves import about_curves, about_waves, curves, curves_table, waves, waves_table
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.page import controls, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look

NONE = "This scheme adds nothing anywhere: all that tells one position from another is the mask, where there is one."


def draw(model: ModelState) -> None:
    """A column for each scheme, and below them what both are drawn in."""
    state = pair(model, "bias_scale")
    shown, turning = schemes(model, state), waves(model, state)
    added = [scheme for scheme in shown if scheme.has("encode")]
    apart = max(len(added), len(turning)) == 1  # else what is drawn once for both stands below the columns
    places = st.columns(len(shown), gap="medium") if len(shown) > 1 else [st.container()]
    for scheme, place in zip(shown, places, strict=True):
        with place:
            _scheme(model, state, scheme)
            if apart and added == [scheme]:
                _curves(model, state, f"_{scheme.side.lower()}")
            if apart and turning and turning[0].scheme.side == scheme.side:
                _wavelengths(model, state)
    if added and not apart:
        _curves(model, state)
    if turning and not apart:
        _wavelengths(model, state)


def _scheme(model: ModelState, state: PositionsState, scheme: Scheme) -> None:
    """All that there is to see of one."""
    if scheme.has("encode"):
        _encode(model, state, scheme)
    if scheme.has("rotate"):
        clocks.draw(model, state, scheme)
    if scheme.has("bias_at"):
        _bias(model, state, scheme)
    if not scheme.module.enters():
        with st.container(border=True, key=f"none_{scheme.side}"):
            st.html(f'<div class="phead"><h3>{scheme.title}</h3></div><p class="said">{NONE}</p>')


def _encode(model: ModelState, state: PositionsState, scheme: Scheme) -> None:
    seen, side = see.encoded(model, state, scheme), scheme.side.lower()
    with panel(f"encode_{side}") as show:
        show(
            title=scheme.title,
            how_to_read="What is added to the embedding at each position (row), dimension by dimension (column). Click "
            "a cell to mark its position and to draw its dimension as a curve below, or to take it away.",
            shape=seen.shape,
            picture=Drawing(f"positions_encode_{side}", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=_sources(scheme, "encode"),
            recipe=encode_recipe(model, [scheme], state.length),
            mode=frame.mode(),
        )


def _bias(model: ModelState, state: PositionsState, scheme: Scheme) -> None:
    seen, side = bias(model, state, scheme), scheme.side.lower()
    with panel(f"bias_{side}") as show:
        show(
            title=scheme.title,
            how_to_read=seen.how_to_read,
            shape=f"head × query × key = {len(seen.values)} × {(n := look.count(seen.length))} × {n}",
            picture=Drawing(f"positions_bias_{side}", states(model, state)),
            sentence=seen.sentence,
            table=seen.table,
            sources=_sources(scheme, "bias_at"),
            recipe=bias_recipe(model, scheme, seen.length),
            mode=frame.mode(),
        )
    buckets = seen.buckets is not None
    with panel(f"distance_{side}") as show:
        show(
            title=f"{scheme.title}, by distance",
            how_to_read="A matrix holds no more than this: a number for each distance of key and query."
            + (
                " Below, the bucket that each distance falls into: one number per head and bucket, a parameter of the "
                "model." * buckets
            ),
            shape=f"{look.count(len(seen.distance))} distances",
            picture=Drawing(f"positions_distance_{side}", states(model, state)),
            sentence=seen.by_distance,
            table=seen.table,
            sources=_sources(scheme, "bias_at"),
            recipe=bias_recipe(model, scheme, seen.length),
            mode=frame.mode(),
        )


# What the places' own methods call, for the reader who asks where the numbers come from.
CALLED: dict[str, Sequence[Callable[..., object]]] = {
    "sinusoidal": [sinusoidal_encoding],
    "alibi": [alibi_slopes],
    "t5": [t5_buckets],
}


def _sources(scheme: Scheme, place: str) -> list[Callable[..., object]]:
    return [getattr(type(scheme.module), place), *CALLED.get(scheme.name, [])]


def _curves(model: ModelState, state: PositionsState, side: str = "") -> None:
    seen = curves(model, state)
    with panel("position_curves") as show:
        _box(state)
        show(
            title="Curves of dimensions",
            how_to_read="The chosen dimensions, named at their ends, over the positions that the heatmap shows.",
            picture=Drawing(f"positions_curves{side}", states(model, state)),
            sentence=about_curves(seen, state),
            table=lambda: curves_table(seen, state),
            sources=[source for one in seen for source in _sources(one.scheme, "encode")],
            recipe=encode_recipe(model, [one.scheme for one in seen], state.length),
            mode=frame.mode(),
        )


def _box(state: PositionsState) -> None:
    """Dimensions by their numbers: what a picture sets, too, so the box says what the link holds."""
    key = "_dims"

    def changed() -> None:
        controls.change(PREFIX, dims=st.session_state[key])

    st.session_state[key] = state.dims
    st.text_input(f"Dimensions, at most {see.CURVES}, parted by spaces", key=key, on_change=changed, width=360)


def _wavelengths(model: ModelState, state: PositionsState) -> None:
    with panel("position_waves") as show:
        show(
            title="Wavelengths",
            how_to_read="After how many positions each pair of dimensions has turned once; the scale is logarithmic. "
            "Below the thin line, waves that are shorter than the sequence. A solid, B dashed.",
            shape="2π · base^(2i / d)",
            picture=Drawing("positions_wavelengths", states(model, state)),
            sentence=about_waves(model, state),
            table=lambda: waves_table(model, state),
            sources=[type(one.scheme.module).wavelengths for one in waves(model, state)] or [Positional.wavelengths],
            recipe=waves_recipe(model, [one.scheme for one in waves(model, state)]),
            mode=frame.mode(),
        )
