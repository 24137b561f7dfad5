"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui import compute, controls, frame
from tfm_ui.attention_lens.derivation import derivation
from tfm_ui.attention_lens.formula import LINES, latex
from tfm_ui.attention_lens.state import STEPS, AttentionState
from tfm_ui.attention_lens.steps import WHAT
from tfm_ui.attention_lens.steps import steps as lens_steps
from tfm_ui.model_state import ModelState
from tfm_ui.panels import panel
from tfm_ui.pictures import Drawing
from tfm_ui.presets import ATTENTION

PREFIX = "attention_"


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> AttentionState:
    """Draw these controls, and return what all of the lens's controls hold."""
    limits = AttentionState.limits(model)
    for name in names:
        if name != "kind" or model.is_encoder_decoder:
            controls.draw(AttentionState, name, where, prefix=PREFIX, limits=limits)
    return controls.current(AttentionState, PREFIX, limits)


def row(key: str) -> DeltaGenerator:
    """A line of controls above a picture; hidden while presenting."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"line_{key}")


def steps(model: ModelState, shown: compute.Pass) -> None:
    """One head, from its input to its output, number by number."""
    with panel("steps") as show:
        where = row("steps")
        state = boxes(model, where, "kind", "layer", "head", "scaled", "masked")
        seen = lens_steps(model, state)
        mode, one = frame.mode(), seen.one
        with st.container(horizontal=True, horizontal_alignment="center", key="formulas"):
            bias = one.bias is not None
            for formula in latex(state.step, mode, scaled=one.scaled, bias=bias, temperature=one.temperature):
                st.latex(formula, width="content")
        show(
            title=f"Layer {state.layer}, head {state.head}",
            shape=f"step {STEPS.index(state.step) + 1} of {len(STEPS)}: {state.step}",
            how_to_read=f"{WHAT[state.step]} Click a cell: what fed it is outlined, back to the input.",
            locked=True,
            picture=Drawing("steps", ((model, ""), (state, PREFIX))),
            sentence=f"{seen.sentence} {seen.note}",
            laws=seen.laws(),
            table=seen.table,
            sources=[LINES[state.step][0], derivation],
            mode=mode,
        )


def arcs(model: ModelState, shown: compute.Pass) -> None:
    """Who looks at whom, as lines."""
    boxes(model, row("arcs"), "kind", "layer", "head", "lines")


def contribution(model: ModelState, shown: compute.Pass) -> None:
    """What a head looks at beside what it writes."""
    boxes(model, row("contribution"), "kind", "layer", "head")


def change(model: ModelState, shown: compute.Pass) -> None:
    """Reach into the model, and see what becomes of it."""
    boxes(model, row("change"), "kind", "layer", "head")


def scale(model: ModelState, shown: compute.Pass) -> None:
    """Why the scores are divided by the root of d_k: an experiment."""


def dictionary(model: ModelState, shown: compute.Pass) -> None:
    """Attention as a look-up that blends."""


VIEWS: dict[str, Callable[[ModelState, compute.Pass], None]] = {
    "steps": steps,
    "arcs": arcs,
    "contribution": contribution,
    "change": change,
    "scale": scale,
    "dictionary": dictionary,
}


@st.fragment(key="attention")
def lens(model: ModelState, shown: compute.Pass) -> None:
    """The view that was chosen; a change of the lens's own controls runs this alone."""
    pills = st.container()
    state = boxes(model, st.container(key="view"), "view")
    VIEWS[state.view](model, shown)
    with pills:
        frame.presets(ATTENTION, AttentionState, PREFIX)


model = frame.model()
controls.open_link(AttentionState, PREFIX, AttentionState.limits(model))
shown = frame.run(model)
frame.title("Attention", shown)
if not frame.asks_for_text(model):
    lens(model, shown)
