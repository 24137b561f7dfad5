"""Home, the first page: a sentence, what the model says next, one head that looks at it, and a card for each lens."""

from collections.abc import Callable, Sequence

import streamlit as st

from tfm_ui.lenses.home.cards import CARDS, PICTURES, card
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.lenses.home.questions import OPENS_WITH, QUESTIONS
from tfm_ui.lenses.home.sentence import draw, reads_instead
from tfm_ui.lenses.home.why import Why
from tfm_ui.page import frame
from tfm_ui.page.lens import LeadsOn, Lens, Maker, View, texts_of
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text

SIDE_BY_SIDE = 3  # cards
ROOM = "In a lecture: type the code that the lecturer shows, and follow on your own screen."


def _next(model: ModelState, state: LensState) -> Next | Note:
    """What the model would say next; of one without logits, that it has none."""
    return Next(model, state) if model.gives_logits else Note(model.no_logits)


def _two_texts(model: ModelState, state: LensState) -> Sequence[Text]:
    """Both texts of an encoder-decoder, whose bars go on from the second; the words of others stand in a head's row."""
    return texts_of(model, state) if model.is_encoder_decoder else ()


def _start_here(model: ModelState, state: LensState) -> Callable[[], None]:
    """The way in, once more, for who has looked so far."""
    return _draw_start


def _draw_start() -> None:
    with st.container(key="start_here"):
        frame.start_here()


def _ways_in() -> None:
    """Ways in beside the title: for who is alone, and for who sits in a lecture and was told a code."""
    with st.container(key="way_in", width="content"):
        frame.start_here()
    with st.container(key="way_to_room", width="content"):
        st.page_link(frame.room_page(), label="Enter a room", help=ROOM)


NAMES = list(CARDS)
ROWS: list[Maker] = [
    Columns([[card(name)] for name in NAMES[begin : begin + SIDE_BY_SIDE]])
    for begin in range(0, len(NAMES), SIDE_BY_SIDE)
]
LENS = Lens(
    name="home",
    title="Home",
    group="learn",
    heading="Attention Lab",
    lead="Type a sentence: see how a transformer reads it.",
    way_in=_ways_in,
    state=LensState,
    views={
        "home": View(
            exercise="temperature",
            shows=[_next, Why, _start_here, *ROWS],
            also=[Next],
            beside=PICTURES,
            editor=draw,
            reads=_two_texts,
            reads_instead=reads_instead,
            reads_pass=True,
        )
    },
    leads_on=LeadsOn("heads", "Heads", "it shows the attention weights of all heads of the model, side by side."),
    questions=QUESTIONS,
    script="pages/start/home.py",
    opens_with=OPENS_WITH,
)
