"""What a head looks at beside what it writes."""

import streamlit as st

from tfm_core import MultiHeadAttention
from tfm_core.study.contribution import contribution_norms
from tfm_ui.lenses.attention.boxes import PREFIX, boxes
from tfm_ui.lenses.attention.contribution import numbers as contribution_view
from tfm_ui.lenses.attention.contribution.numbers import ContributionView
from tfm_ui.lenses.attention.inside import Inside
from tfm_ui.page import frame
from tfm_ui.page.controls_line import row
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """What a head looks at beside what it writes."""
    state = boxes(model, row("contribution"), "kind", "layer", "head")
    seen = contribution_view.view(model, state)
    states = ((model, ""), (state, PREFIX))
    sources = [contribution_norms, Inside.weights, Inside.output_weight, MultiHeadAttention.forward]
    left, right = st.columns([7, 3], gap="medium")
    with left, panel("contribution") as show:
        show(
            title="Looking is not contributing",
            how_to_read="Left, whom each query looks at. Right, how long the vector is that it gets from there. "
            "Click a cell to choose its row.",
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            picture=Drawing("contribution", states),
            sentence=seen.sentence,
            laws=contribution_view.laws(model, state),
            table=seen.table,
            sources=[*sources, ContributionView.sink],
            recipe=contribution_view.recipe_of(model, state),
            mode=frame.mode(),
        )
    with right, panel("contribution_row") as show:
        show(
            title=f"The row of “{seen.queries[seen.row]}”",
            how_to_read="Lengths as shares of their sum; vectors that point apart take from each other.",
            locked=True,
            picture=Drawing("contribution_row", states),
            sentence=seen.sentence_of(seen.row),
            table=seen.row_table,
            sources=sources,
            mode=frame.mode(),
        )
    st.html(f'<p class="note">{contribution_view.caveat(model)}</p>')
