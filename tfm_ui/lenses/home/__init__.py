"""Home, the first page: shows the model at work, without any controls of its own."""

from tfm_ui.lenses.home.panels import blocks
from tfm_ui.lenses.home.pictures import PICTURES
from tfm_ui.lenses.home.questions import QUESTIONS
from tfm_ui.page.lens import Lens, View
from tfm_ui.state.lens_state import LensState

LENS = Lens(
    name="home",
    title="Home",
    heading="Attention Lab",
    lead="This is a whole transformer, running now. Type a sentence in the sidebar, change the model, "
    "and every number on screen is computed anew from its real weights.",
    state=LensState,
    views={"home": View(blocks=blocks)},
    questions=QUESTIONS,
    pictures=PICTURES,
    script="pages/start/home.py",
)
