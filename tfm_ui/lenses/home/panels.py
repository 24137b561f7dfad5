"""The panels of Home: where the heads look, and which token the model predicts next."""

import streamlit as st

from tfm_core import Transformer
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.live.attention import summarise
from tfm_ui.page import controls, frame
from tfm_ui.pictures.panel import Block, Columns, Panel
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: LensState) -> list[Columns]:
    """Two columns: the heads on the left; on the right the model's output and things to try."""
    left: list[Block] = [_looks_at(model), lambda: _link("heads", "Open Heads: every head, large, with its numbers")]
    right: list[Block] = [
        _comes_next(model),
        lambda: _link("attention", "Open Attention: one head, number by number"),
        _try_this,
        lambda: _link("positions", "Open Positions: how the model is told where a token stands"),
        lambda: _link("masks", "Open Masks: who may see whom"),
        lambda: _link("profiling", "Open Profiling: what it costs"),
    ]
    return [Columns([left, right])]


def _looks_at(model: ModelState) -> Panel:
    """Every head as a thumbnail; a click opens the head in the Heads lens."""
    return Panel(
        key="looks",
        title="What it looks at",
        how_to_read="A square per head: rows look, columns are looked at. A click opens it.",
        picture="home_heads",
        result=all_heads(model, HeadsState.kind),
        sources=[summarise],
        opens=_open_head,
    )


def _comes_next(model: ModelState) -> Panel:
    """The likeliest next tokens."""
    return Panel(
        key="next",
        title="What it would say next" if model.looks_back_only else "What it makes of the last token",
        how_to_read="Softmax of the logits at the last token. Dotted: all tokens equally likely.",
        picture="home_next",
        result=next_token(model),
        sources=[next_token, Transformer.forward],
    )


def _open_head(layer: int, head: int) -> None:
    st.switch_page(frame.page_of("heads"), query_params=controls.open_with("heads_", layer=layer + 1, head=head + 1))


def _link(name: str, label: str) -> None:
    st.page_link(frame.page_of(name), label=label, icon=":material/arrow_forward:")


def _try_this() -> None:
    with st.container(border=True):
        st.html('<div class="phead"><h3>Try this</h3><p>Predict first, then look.</p></div>')
        st.markdown((frame.ASSETS / "try_this.md").read_text(encoding="utf-8"))
