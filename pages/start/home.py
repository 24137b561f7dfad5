"""Home: the model at work, before anything is asked of the reader."""

import streamlit as st

from tfm_core import Transformer
from tfm_ui.lenses.heads.numbers import HeadsState, view
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.lenses.home.presets import HOME
from tfm_ui.live import passes
from tfm_ui.live.attention import summarise
from tfm_ui.page import controls, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState

HEADS = "pages/lenses/heads.py"
ATTENTION = "pages/lenses/attention.py"
POSITIONS = "pages/lenses/positions.py"
MASKS = "pages/lenses/masks.py"
PROFILING = "pages/lenses/profiling.py"


def what_it_looks_at(model: ModelState, shown: passes.Pass) -> None:
    """Every head as a thumbnail; a click opens it in its lens."""
    seen = view(model, shown, HeadsState.kind)
    with panel("looks") as show:
        at = show(
            title="What it looks at",
            how_to_read="A square per head: rows look, columns are looked at. A click opens it.",
            picture=Drawing("home_heads", ((model, ""),)),
            sentence=seen.sentence,
            table=seen.summary,
            sources=[summarise],
            mode=frame.mode(),
        )
    if at:
        st.switch_page(HEADS, query_params=controls.open_with("heads_", layer=at[0] + 1, head=at[1] + 1))
    st.page_link(HEADS, label="Open Heads: every head, large, with its numbers", icon=":material/arrow_forward:")


def what_comes_next(model: ModelState, shown: passes.Pass) -> None:
    """The other end of the model: its logits."""
    likely = next_token(model, shown)
    with panel("next") as show:
        show(
            title="What it would say next" if model.looks_back_only else "What it makes of the last token",
            how_to_read="Softmax of the logits at the last token. Dotted: all tokens equally likely.",
            picture=Drawing("home_next", ((model, ""),)),
            sentence=likely.sentence,
            table=likely.table,
            sources=[next_token, Transformer.forward],
            mode=frame.mode(),
        )
    st.page_link(ATTENTION, label="Open Attention: one head, number by number", icon=":material/arrow_forward:")


model = frame.model()
shown = frame.run(model)
frame.title("Attention Lab", shown)
st.html(
    '<p class="lead">This is a whole transformer, running now. Type a sentence in the sidebar, change the model, '
    "and every number on screen is computed anew from its real weights.</p>"
)
frame.presets(HOME)
if not frame.asks_for_text(model):
    left, right = st.columns([1, 1], gap="medium")
    with left:
        what_it_looks_at(model, shown)
    with right:
        what_comes_next(model, shown)
        with st.container(border=True):
            st.html('<div class="phead"><h3>Try this</h3><p>Predict first, then look.</p></div>')
            st.markdown((frame.ASSETS / "try_this.md").read_text(encoding="utf-8"))
        label = "Open Positions: how the model is told where a token stands"
        st.page_link(POSITIONS, label=label, icon=":material/arrow_forward:")
        st.page_link(MASKS, label="Open Masks: who may see whom", icon=":material/arrow_forward:")
        st.page_link(PROFILING, label="Open Profiling: what it costs", icon=":material/arrow_forward:")
