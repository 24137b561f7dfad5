"""The Heads lens: all heads of all layers as a grid, and one head large."""

from tfm_ui.lenses.heads.panels import Head, Heads, Numbers
from tfm_ui.lenses.heads.questions import QUESTIONS
from tfm_ui.lenses.heads.roles import VIEW as ROLES
from tfm_ui.lenses.heads.roles.closest import Roles
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.page.lens import LeadsOn, Lens, View, measures_of
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.model_state import ModelState

NO_EXPLANATION = (
    "A weight says where a head looks, and not why {model} says what it says: Attention shows what a head takes from "
    "there, under “Contribution”, and what becomes of the answer without it, under “Change it”."
)


NO_ANSWER = (
    "A weight says where a head looks, and not what {model} makes of it: Attention shows what a head takes from there, "
    "under “Contribution”, and what becomes of the output without it, under “Change it”."
)
DEEP = 12  # layers: of more the overview is folded, and needs the room (assets/lenses/heads/heads_grid.js)


def _heads(model: ModelState, state: HeadsState) -> Columns:
    """The overview beside the head."""
    wide = (1, 1) if model.num_heads > 8 else (9, 11)
    return Columns([[Heads(model, state)], [Head(model, state)]], (5, 4) if model.num_layers > DEEP else wide)


def _no_explanation(model: ModelState, state: HeadsState) -> Note | None:
    if not model.pretrained:
        return None
    says = NO_EXPLANATION if model.gives_logits else NO_ANSWER
    return Note(says.format(model=model.pretrained.within), "plain")


LENS = Lens(
    name="heads",
    title="Heads",
    state=HeadsState,
    leads_on=LeadsOn("attention", "Attention", "it shows how one of these weights is computed."),
    views={
        "heads": View(
            title="All heads",
            exercise="multi-head-attention",
            shows=[_heads, _no_explanation, Roles, Numbers],
            also=[Heads, Head],
            controls=("kind", "layer", "head", "scale"),
            reads_pass=True,
        ),
        "roles": ROLES,
    },
    questions=QUESTIONS,
    measures=measures_of(__name__),
)
