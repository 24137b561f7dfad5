"""The select box of the weights, and what trained weights fix: shown, but not to be moved.

What the reader had chosen for the random model is kept meanwhile, and stands there again afterwards.
"""

from collections.abc import Collection

import streamlit as st

from tfm_core.model.trained import RANDOM
from tfm_ui.page import controls, unbound
from tfm_ui.state import lab_gpt
from tfm_ui.state.fields import controls_of, held_by
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import offered
from tfm_ui.streamlit_private.containers import DeltaGenerator

KEY = "weights"
FIXED = "These weights were trained with this."


def draw(where: DeltaGenerator) -> None:
    """Draw the box: random, Lab GPT, the runs that ship with the app, and the present run if it is another.

    The widget is not bound to the address, because what it offers is no fixed list.
    """
    field, _ = controls_of(ModelState)[KEY]
    now = controls.current(ModelState).weights
    names = list(dict.fromkeys([RANDOM, lab_gpt.NAME, *offered(), now]))
    key = unbound.key_of(KEY, now)
    where.selectbox(
        field.label,
        names,
        names.index(now),
        format_func=named,
        help=getattr(field, "help", None),
        key=key,
        on_change=_changed,
        args=(key,),
    )


def named(weights: str) -> str:
    """Weights in words."""
    return {RANDOM: RANDOM, lab_gpt.NAME: lab_gpt.CALLED}.get(weights, f"trained on {weights}")


def _changed(key: str) -> None:
    if chosen := unbound.moved_to(KEY, key):
        controls.set_parameters({KEY: chosen})


def draw_fixed(model: ModelState, name: str, where: DeltaGenerator) -> None:
    """Draw a field that the weights fix."""
    field, _ = controls_of(ModelState)[name]
    value = getattr(model, name)
    if name == "tokenizer" and model.is_lab_gpt:
        value = lab_gpt.TOKENIZER
    elif name == "tokenizer" and model.trained:
        value = f"the tokens of “{model.trained.about.title}”"
    elif name == "d_ff":
        value = model.hidden
    key = f"_fixed_{name}_{value}"  # with the value: otherwise the browser would go on showing an earlier one
    if isinstance(value, bool):
        where.toggle(field.label, value, disabled=True, help=FIXED, key=key)
    else:
        where.text_input(field.label, str(value), disabled=True, help=FIXED, key=key)


def keep(drawn: Collection[str]) -> None:
    """Keep the values of the model's controls that are not drawn now: Streamlit forgets what has no widget."""
    for name in controls_of(ModelState).keys() - held_by(ModelState) - set(drawn):
        if name in st.session_state:
            st.session_state[name] = st.session_state[name]
