"""Home: a card with a live picture for each lens, all but that of Training of the sidebar's model.

Model and Generate share a card, what the model would say next: Model ends with it, and Generate goes on from it.
"""

from functools import partial

import streamlit as st

from tfm_core import Transformer
from tfm_ui.lenses.home.glances import LEARNED
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.page import controls, frame
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures.panel import Block, Box, Columns, Panel
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

COMES_NEXT = ("model", "generate")  # lenses that share a card
CARDS = {  # lens -> its title, and what one understands there
    "heads": ("Heads", "Where does each head look? A click opens it."),
    "attention": ("Attention", "How does one head get its numbers?"),
    "positions": ("Positions", "How does it know where a word stands?"),
    "masks": ("Masks", "Which words may see which?"),
    "profiling": ("Profiling", "How many parameters does each part have?"),
    "training": ("Training", f"A small model was trained on “{LEARNED.task}”: when did its answers become right?"),
    "model": ("Model", "What flows through it, what comes out, and how does it go on?"),
}


def blocks(model: ModelState, state: LensState) -> list[Block]:
    """The cards. That of Model and Generate is a whole panel."""
    card = {lens: partial(_card, lens, model, state) for lens in CARDS if lens != "model"}
    return [
        Columns(
            [
                [card["heads"], card["masks"]],
                [card["attention"], card["profiling"]],
                [card["positions"], card["training"]],
                [_comes_next(model)],
            ]
        )
    ]


def _card(lens: str, model: ModelState, state: LensState) -> None:
    with st.container(border=True, key=f"card_{lens}"):
        _lead_to(lens)
        states = ((model, ""), (state, "home_"))
        clicked = Drawing(f"home_{lens}", states).draw(f"home_{lens}")
        if clicked and lens == "heads":
            _open_head(*clicked)


def _lead_to(lens: str) -> None:
    title, about = CARDS[lens]
    st.page_link(frame.page_of(lens), label=title, icon=":material/arrow_forward:", icon_position="right")
    st.html(f'<p class="note">{about}</p>')


def _lead_on() -> None:
    """Draw links to the two lenses that go on from the next token: what it comes from, and what follows it."""
    _, about = CARDS["model"]
    with st.container(horizontal=True, gap="small", key="lead_on"):
        for lens in COMES_NEXT:
            title = lens.capitalize()
            icon = ":material/arrow_forward:"
            st.page_link(frame.page_of(lens), label=title, icon=icon, icon_position="right", width="content")
    st.html(f'<p class="note">{about}</p>')


def _comes_next(model: ModelState) -> Panel:
    """The likeliest next tokens."""
    return Box(
        key="next",
        title="What it would say next" if model.looks_back_only else "What it makes of the last token",
        how_to_read="Softmax of the logits at the last token. Dotted: all tokens equally likely.",
        above=_lead_on,
        picture="home_next",
        result=next_token(model),
        sources=[next_token, Transformer.forward],
    )


def _open_head(layer: int, head: int) -> None:
    st.switch_page(frame.page_of("heads"), query_params=controls.open_with("heads_", layer=layer + 1, head=head + 1))
