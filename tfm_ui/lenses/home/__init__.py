"""Home, the first page: shows the model at work, without any controls of its own."""

from tfm_ui.lenses.home.panels import blocks
from tfm_ui.lenses.home.pictures import PICTURES
from tfm_ui.lenses.home.questions import OPENS_WITH, QUESTIONS
from tfm_ui.page.lens import Lens, View
from tfm_ui.state.lens_state import LensState

LENS = Lens(
    name="home",
    title="Home",
    heading="Attention Lab",
    lead="Understand how a transformer computes: change the text or the model, and all pictures follow.",
    state=LensState,
    views={"home": View(blocks=blocks, drawn=PICTURES, reads_pass=True)},
    questions=QUESTIONS,
    script="pages/start/home.py",
    opens_with=OPENS_WITH,
)
