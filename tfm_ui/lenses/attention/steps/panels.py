"""One head, from its input to its output, number by number."""

from functools import partial

import streamlit as st

from tfm_ui.lenses.attention.state import STEPS, AttentionState
from tfm_ui.lenses.attention.steps.derive_cells import derivation
from tfm_ui.lenses.attention.steps.formula import latex, lines_of
from tfm_ui.lenses.attention.steps.numbers import Steps, steps
from tfm_ui.lenses.attention.steps.pictures import PICTURES
from tfm_ui.lenses.attention.steps.scenes import what
from tfm_ui.page.lens import View
from tfm_ui.page.panels import mode
from tfm_ui.pictures.panel import Box, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: AttentionState) -> list[Panel]:
    """One head at one step, or at all of them."""
    shown = steps(model, state)
    return [
        Box(
            key="steps",
            title=f"Layer {state.layer}, head {state.head}",
            shape=f"step {STEPS.index(state.step) + 1} of {len(STEPS)}: {state.step}",
            how_to_read=f"{what(state.step, shown.head)} Click a cell to outline all that it was computed from. "
            "Numbers are computed in full and rounded on screen.",
            locked=True,
            picture="steps",
            result=shown,
            sources=[*dict.fromkeys(function for function, _ in lines_of(shown.head, state.step)), derivation],
            tools=partial(_formulas, shown),
        )
    ]


def _formulas(shown: Steps) -> None:
    """Attention as formulas; the parts that the step computes are lit."""
    head = shown.head
    with st.container(horizontal=True, horizontal_alignment="center", key="formulas"):
        bias = head.bias is not None
        for formula in latex(shown.step, mode(), scaled=head.scaled, bias=bias, temperature=head.temperature):
            st.latex(formula, width="content")


VIEW = View(
    title="Step by step",
    blocks=blocks,
    drawn=PICTURES,
    reads_pass=True,
    controls=("kind", "layer", "head", "scaled", "masked"),
    line="line_steps",
)
