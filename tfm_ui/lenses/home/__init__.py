"""Home, the first page: shows the model at work, without any controls of its own.

Model and Generate share a card, what the model would say next: Model ends with it, and Generate goes on from it.
"""

from tfm_ui.lenses.home.cards import PICTURES, card
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.lenses.home.questions import OPENS_WITH, QUESTIONS
from tfm_ui.page.lens import LeadsOn, Lens, Maker, View
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState


def _next(model: ModelState, state: LensState) -> Next | Note:
    """What the model would say next; of one without logits, that it has none."""
    return Next(model, state) if model.gives_logits else Note(model.no_logits)


COLUMNS: list[list[Maker]] = [
    [card("heads"), card("masks")],
    [card("attention"), card("profiling")],
    [card("positions"), card("training")],
    [_next],
]
LENS = Lens(
    name="home",
    title="Home",
    group="learn",
    heading="Attention Lab",
    lead="Understand how a transformer computes: change the text or the model, and all pictures follow.",
    state=LensState,
    leads_on=LeadsOn("heads", "Heads", "it shows the attention weights of all heads of the model, side by side."),
    views={"home": View(shows=[Columns(COLUMNS)], also=[Next], beside=PICTURES, reads_pass=True)},
    questions=QUESTIONS,
    script="pages/start/home.py",
    opens_with=OPENS_WITH,
)
