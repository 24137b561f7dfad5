"""One head, from its input to its output, number by number."""

import streamlit as st

from tfm_ui.lenses.attention.boxes import PREFIX, boxes
from tfm_ui.lenses.attention.state import STEPS
from tfm_ui.lenses.attention.steps.derivations import derivation
from tfm_ui.lenses.attention.steps.formula import latex, lines_of
from tfm_ui.lenses.attention.steps.numbers import steps as lens_steps
from tfm_ui.lenses.attention.steps.numbers import what
from tfm_ui.live import passes
from tfm_ui.live.recipe import recipe
from tfm_ui.page import frame
from tfm_ui.page.controls_line import row
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """One head, from its input to its output, number by number."""
    with panel("steps") as show:
        where = row("steps")
        state = boxes(model, where, "kind", "layer", "head", "scaled", "masked")
        seen = lens_steps(model, state)
        mode, one = frame.mode(), seen.one
        site = passes.place(model, passes.kind_of(model, state.kind)).format(layer=state.layer - 1, what="weights")
        with st.container(horizontal=True, horizontal_alignment="center", key="formulas"):
            bias = one.bias is not None
            for formula in latex(state.step, mode, scaled=one.scaled, bias=bias, temperature=one.temperature):
                st.latex(formula, width="content")
        show(
            title=f"Layer {state.layer}, head {state.head}",
            shape=f"step {STEPS.index(state.step) + 1} of {len(STEPS)}: {state.step}",
            how_to_read=f"{what(state.step, one)} Click a cell: what fed it is outlined, back to the input.",
            locked=True,
            picture=Drawing("steps", ((model, ""), (state, PREFIX))),
            sentence=f"{seen.sentence} {seen.note}",
            laws=seen.laws(),
            table=seen.table,
            sources=[*dict.fromkeys(function for function, _ in lines_of(one, state.step)), derivation],
            recipe=recipe(model, site, state.head - 1) if one.as_in_the_model else "",
            mode=mode,
        )
