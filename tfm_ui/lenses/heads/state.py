"""The controls of the Heads lens."""

from dataclasses import dataclass

from tfm_core.language.roles import ROLES
from tfm_core.language.silenced import MEASURES
from tfm_ui.live.places import PLACES
from tfm_ui.state.fields import Choice, Limits, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.sizes import MOST

PREFIX = "heads_"
VIEWS = ("heads", "roles")
ALL_ROLES = "all"
SCALES = ("largest", "choice", "own", "1", "0.1", "0.01")


@dataclass(frozen=True, kw_only=True)
class HeadsState(LensState):
    """Which kind of attention, which head, where the colour scale ends, and which role; `kind` matters only in
    encoder-decoders.
    """

    view: str = control(Choice("View", VIEWS, "buttons"), default=VIEWS[0], held=True)
    kind: str = control(Choice("Attention", tuple(PLACES[True]), "buttons"), default="encoder")
    layer: int = control(Whole("Layer", 1, MOST, box=True), default=1)
    head: int = control(Whole("Head", 1, MOST, box=True), default=1)
    scale: str = control(
        Choice(
            "Colours from 0 to",
            SCALES,
            help="largest: the largest weight of all heads on screen. choice: the largest of the rows that have a "
            "choice; a causal model's first token has none, and its 1.00 goes off the scale. own: each head's largest, "
            "so that faint heads can be read but no longer compared. 1, 0.1, 0.01: the same for every model; small "
            "ones show the faint weights of long texts, and what is larger gets the last colour.",
        ),
        default="largest",
    )

    # roles
    role: str = control(
        Choice(
            "Role",
            (ALL_ROLES, *ROLES),
            help="all: each head’s strongest role. first: the first token; same: its own token, elsewhere; sep: [SEP]; "
            "signs: punctuation; verb: from a verb to its subject, and subject the other way; article: from a noun to "
            "its article; pronoun: from a pronoun to its name.",
        ),
        default=ALL_ROLES,
    )
    breaks: str = control(
        Choice(
            "What breaks",
            tuple(MEASURES),
            help="agreement: odds of the verb’s right form. right: share of verbs that are right. prose: loss on our "
            "sentences. repeats: loss on random tokens that come twice. moved: how far the output moves.",
        ),
        default="agreement",
    )

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Layers and heads of this model."""
        return {"layer": {"high": model.num_layers}, "head": {"high": model.num_heads}}

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """`kind`, if the model is a single stack, which has only one kind of attention."""
        return set() if model.is_encoder_decoder else {"kind"}
