"""Home: the model at work, before anything is asked of the reader."""

import streamlit as st

from tfm_ui import compute, controls, frame
from tfm_ui.components.heads_grid import heads_grid, payload
from tfm_ui.figures.bars import bars
from tfm_ui.heads import HeadsState, view
from tfm_ui.model_state import ModelState
from tfm_ui.next_token import next_token
from tfm_ui.panels import panel, said

HEADS = "pages/lenses/heads.py"


def what_it_looks_at(model: ModelState, shown: compute.Pass) -> None:
    """Every head as a thumbnail; a click opens it in its lens."""
    with panel("looks") as heading:
        heading("What it looks at", "A square per head: rows look, columns are looked at.")
        seen = view(model, shown, HeadsState.kind)
        top = seen.top(HeadsState.scale)
        data = payload(seen.weights, seen.visible, seen.sentences, top=top, picked=None, read_queries=seen.read)
        if at := heads_grid(data, key="home_grid"):
            st.switch_page(HEADS, query_params=controls.open_with("heads_", layer=at[0] + 1, head=at[1] + 1))
        said(seen.sentence)
        st.page_link(HEADS, label="Open Heads: every head, large, with its numbers", icon=":material/arrow_forward:")


def what_comes_next(model: ModelState, shown: compute.Pass) -> None:
    """The other end of the model: its logits."""
    with panel("next") as heading:
        title = "What it would say next" if model.looks_back_only else "What it makes of the last token"
        heading(title, "Softmax of the logits at the last token. Dotted: all tokens equally likely.")
        likely = next_token(model, shown)
        figure = bars(likely.names, likely.shares, reference=likely.even, mode=frame.mode())
        st.plotly_chart(figure, key="home_next", theme=None, config={"displayModeBar": False}, alt=likely.sentence)
        said(likely.sentence)


model = frame.model()
shown = compute.run(model)
frame.title("Attention Lab", shown)
st.html(
    '<p class="lead">This is a whole transformer, running now. Type a sentence in the sidebar, change the model, '
    "and every number on screen is computed anew from its real weights.</p>"
)
if not frame.asks_for_text(model):
    left, right = st.columns([1, 1], gap="medium")
    with left:
        what_it_looks_at(model, shown)
    with right:
        what_comes_next(model, shown)
        with panel("try") as heading:
            heading("Try this", "Predict first, then look.")
            st.markdown((frame.ASSETS / "try_this.md").read_text(encoding="utf-8"))
