"""What the weights fix of the model: a line in the sidebar that says why, and how to unlock it; the rest unfolds."""

from collections.abc import Iterator

import streamlit as st

from tfm_core import POSITIONAL
from tfm_core.model.trained import RANDOM
from tfm_ui.page import controls
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator
from tfm_ui.text import formats
from tfm_ui.text.activation_names import CALLED
from tfm_ui.text.glossary import explained

ALWAYS = "Decoders are always causal."


def draw(model: ModelState, where: DeltaGenerator) -> None:
    """Draw the line, the button that unlocks all of it, and the rest.

    What the reader had chosen for the random model stands there again after the button.
    """
    with where.container(gap=None, key="locked"):
        st.html(f'<p class="note">{explained(line(model))}</p>')
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False):
            st.html('<p class="note">change them:</p>', width="content")
            st.button("random weights", on_click=_unlock, type="tertiary", key="_random_weights")
    with where.container(key="locked_rest").expander(summary(model)):
        st.html(
            "".join(f'<p class="note"><b>{explained(name)}</b> {explained(value)}</p>' for name, value in rest(model))
        )


def _unlock() -> None:
    controls.set_parameters({"weights": RANDOM})


def line(model: ModelState) -> str:
    """The sizes that the weights fix, in a sentence without its full stop."""
    layers, heads = formats.plural(model.num_layers, "layer"), formats.plural(model.num_heads, "head")
    if model.array:
        return f"{layers} × {heads}: from the file"
    return f"{layers} × {heads}, d_model {model.d_model}: fixed by these weights"


def summary(model: ModelState) -> str:
    """What the rest is about, in a few words."""
    if model.array:
        return f"{formats.plural(model.length, 'token')}\u00a0…"
    return f"{_positions(model)}, {model.norm}-norm, {CALLED[model.activation]}\u00a0…"


def rest(model: ModelState) -> Iterator[tuple[str, str]]:
    """What else the weights fix: name, and its value with what that means."""
    if model.array:
        yield "Tokens", model.read_text
        yield "Causal", "yes: no query looks ahead" if model.causal else "no: some query looks ahead"
        return
    yield "Architecture", model.architecture_name
    yield "Causal", _causal(model)
    if model.pretrained:
        yield "Tokens by", model.pretrained.tokens_by
    elif model.trained:
        yield "Tokens by", f"the tokens of “{model.trained.about.title}”"
    yield "Positions", f"{_positions(model)}: how the model is told where a token stands"
    yield "Norm", f"{model.norm}-norm: {'before' if model.norm == 'pre' else 'after'} each sub-layer"
    yield "Activation", CALLED[model.activation]
    yield "d_ff", formats.count(model.hidden)
    if model.trained or model.is_lab_gpt:  # of others nobody knows it
        yield "Seed", f"{model.seed}: the weights from which the training began were drawn with it"


def _causal(model: ModelState) -> str:
    if model.architecture != "encoder":
        return f"yes. {ALWAYS}"
    return "yes: no token sees later ones" if model.causal else "no: each token sees all tokens of its text"


def _positions(model: ModelState) -> str:
    """The positional encoding in words: "RoPE positions"."""
    name = model.positional
    called = POSITIONAL[name].about.called
    if called.endswith("positions"):
        return called
    return f"{called if called.lower() == name else name} positions"
