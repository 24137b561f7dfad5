"""The model's sliders in the sidebar: all pictures follow one while it is dragged, and the page when it is let go.

Each is a component of ours, as Streamlit's own slider says nothing while it is dragged; its value is held by the
address alone. A drag, or a row of key presses, is one act.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from tfm_core import encode
from tfm_ui.folders import ASSETS
from tfm_ui.page import controls
from tfm_ui.page.components import LOADER
from tfm_ui.pictures.canvas import version
from tfm_ui.pictures.knobs import Knob, as_data
from tfm_ui.state.fields import Choice, Length, Whole, controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import EXACT_UP_TO
from tfm_ui.streamlit_private.containers import DeltaGenerator

KEY, FOLLOW = "seq_len", "_follow_text"

_slider = st.components.v2.component(
    "model_slider",
    html='<div class="knobs"></div>',
    css=(ASSETS / "pictures/sliders.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "pictures/sliders"),
)


def draw(name: str, where: DeltaGenerator) -> None:
    """Draw the slider of a field of the model, with its label above it.

    Args:
        name: the name of the field, which has a few values.
        where: the container to draw in.
    """
    field, _ = controls_of(ModelState)[name]
    assert isinstance(field, Choice | Whole)
    stops = field.options if isinstance(field, Choice) else range(field.low, field.high + 1)
    draw_between(field, name, getattr(controls.current(ModelState), name), stops, where)


def draw_between(field: Choice | Whole, name: str, value: int, stops: Sequence[int], where: DeltaGenerator) -> None:
    """Draw a slider with these stops; see `draw`. The box beside it takes what lies between two of them."""
    with where.container(key=name, gap=None):
        st.markdown(field.label, help=field.help)
        key = f"slider_{name}"

        def changed() -> None:
            controls.carry_out(st.session_state[key].changed)

        data: dict[str, Any] = as_data([Knob(field.label, name, value, stops[0], stops[-1], stops=stops)])
        _slider(key=key, data=data | {"heard": controls.heard()}, on_changed_change=changed)


def draw_length(where: DeltaGenerator) -> None:
    """Draw the slider, and in the row of its label whether it follows the text. All texts must have been drawn before.

    It always stands somewhere, but the address names the number of tokens only if somebody has chosen it.
    """
    model = controls.current(ModelState)
    field, _ = controls_of(ModelState)[KEY]
    assert isinstance(field, Length)
    field = replace(field, high=model.most_tokens)
    pieces = len(encode(model.read_text, model.tokens_by).pieces)
    with where.container(key="with_follow"):
        # The length of the text stays a stop, so that the slider is the same one when it has been moved away from it.
        draw_between(field, KEY, model.length, field.options(pieces, model.length), st.container())
        if model.seq_len:
            about = "This many are read of any text. Press to read as many as the text has."
            st.button("Fixed: follow the text", key=FOLLOW, type="tertiary", help=about, on_click=_follow)
        else:
            most = f", up to {EXACT_UP_TO}" if pieces > EXACT_UP_TO else ""
            st.html(f'<p class="follows">follows the text{most}</p>')


def _follow() -> None:
    controls.set_parameters({KEY: 0})
