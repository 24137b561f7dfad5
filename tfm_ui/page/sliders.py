"""The model's sliders in the sidebar: all pictures follow one while it is dragged, and the page when it is let go.

Each is a component of ours, as Streamlit's own slider says nothing while it is dragged; its value is held by the
address alone. A drag, or a row of key presses, is one act.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.page import controls, drawing
from tfm_ui.pictures.canvas import ASSETS, LOADER, version
from tfm_ui.pictures.knobs import Knob, as_data
from tfm_ui.state.fields import Choice, Whole, controls_of
from tfm_ui.state.model_state import ModelState

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
            drawing.carry_out(st.session_state[key].changed)

        data: dict[str, Any] = as_data([Knob(field.label, name, value, stops[0], stops[-1], stops=stops)])
        _slider(key=key, data=data | {"heard": drawing.heard()}, on_changed_change=changed)
