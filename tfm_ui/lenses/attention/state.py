"""The Attention lens's own controls: which view, which head, and what each view adds."""

from dataclasses import dataclass

from tfm_ui.lenses.attention.changes import A_ROOM, Changes
from tfm_ui.lenses.attention.trail import SourceCode, Trail
from tfm_ui.live.places import PLACES
from tfm_ui.pictures.steps import STEPS
from tfm_ui.state.fields import Choice, Flag, Limits, Number, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.lists import Numbers, Vectors
from tfm_ui.state.model_state import MAX_TOKENS, ModelState
from tfm_ui.state.sizes import MOST

PREFIX = "attention_"  # of the fields in a link
VIEWS = ("steps", "arcs", "contribution", "why", "written", "logit", "graph", "change", "scale", "dictionary")

PLANE, VALUES = (-2, 2), (-999, 999)
ENTRIES = "1.2,0.2,10 0.1,1.1,20 -1.1,0.3,30 0.2,-1,40"
RANKS = 50  # of next tokens
# Characters of a link that keys may take with their names: no more than six without names do. And the query with its.
ENTRIES_ROOM, ASK_ROOM = 143, 22


@dataclass(frozen=True, kw_only=True)
class AttentionState(LensState):
    """One for all views, so that head and cell stay what they were when the view changes.

    A cell of any matrix is told by query and key (tokens, from 1), dim (of the head) and channel (of d_model).
    """

    view: str = control(Choice("View", VIEWS, "buttons"), default="steps", held=True)
    kind: str = control(Choice("Attention", tuple(PLACES[True]), "buttons"), default="encoder")
    layer: int = control(Whole("Layer", 1, MOST, box=True), default=1)
    head: int = control(Whole("Head", 1, MOST, box=True), default=1)

    # one number's story
    step: str = control(Choice("Step", STEPS), default="weights", held=True)
    whole: bool = control(Flag("All at once"), default=True, held=True)
    query: int = control(Whole("Query", 1, MAX_TOKENS), default=6, held=True)
    key: int = control(Whole("Key", 1, MAX_TOKENS), default=2, held=True)
    dim: int = control(Whole("Dimension of the head", 1, 256), default=1, held=True)
    channel: int = control(Whole("Channel of d_model", 1, 256), default=1, held=True)

    # switches of this attention
    scaled: bool = control(Flag("Scale by √dₖ", help="Divide the scores by √dₖ, as the model does."), default=True)
    masked: bool = control(
        Flag("Mask", help="Off: every query of this attention may look at every key, padding included."), default=True
    )
    temperature: float = control(Number("Temperature", 0.05, 10), default=1.0, held=True)

    # arcs
    lines: str = control(
        Choice(
            "Lines",
            ("heads", "mean", "max", "rollout"),
            "buttons",
            help="heads: each head of the layer in its colour. mean, max: over these heads. rollout: from the first "
            "layer to this one, through the residuals (Abnar & Zuidema, 2020).",
        ),
        default="heads",
    )
    heads: str = control(Numbers("Heads shown", 16), default="", held=True, local=True)
    tokens: str = control(Numbers("Tokens selected", MAX_TOKENS, "qk", 120), default="", held=True, local=True)
    mass: int = control(Whole("Share of each row in %", 5, 100), default=90, held=True, local=True)
    hide: str = control(
        Choice("Tokens hidden", ("padding", "first", "padding and first", "none")),
        default="padding",
        held=True,
        local=True,
    )

    # why: sources of the query and of the key that are chosen, which of them is held out, and what has been opened
    from_query: str = control(SourceCode("Source of the query"), default="", held=True)
    from_key: str = control(SourceCode("Source of the key"), default="", held=True)
    from_layer: int = control(Whole("Layer of the source", 1, MOST), default=1, held=True)
    out: str = control(Choice("Held out", ("none", "query", "key")), default="none", held=True)
    trail: str = control(Trail("Opened from"), default="", held=True)
    rank: int = control(
        Whole("Token by rank", 1, RANKS, box=True, help="Which next token: 1 is the likeliest, 2 the one after it."),
        default=1,
    )
    against: int = control(
        Whole("Minus rank", 0, RANKS, box=True, help="Whose logit is subtracted; 0 leaves the logit as it is."),
        default=2,
    )
    share: int = control(
        Whole("Share in %", 1, 30, box=True, help="What a node has at least, of all that goes into the logit."),
        default=5,
    )

    # change it and see
    changes: str = control(Changes("Changes"), default="weight 1.1 6>2 0.9", held=True)
    pinned: str = control(Changes("Changes of A", A_ROOM), default="", held=True)
    rescale: bool = control(
        Flag("Rescale the rest of the row", help="A weight that is set leaves to the others what is left of 1."),
        default=True,
    )

    # the experiment on scaling
    draws: int = control(Whole("Draws", 10, 1000, box=True), default=1000)
    draw_keys: int = control(Whole("Keys per query", 2, 64, box=True), default=16)
    draw_seed: int = control(Whole("Seed of the draws", 0, 9999, box=True), default=0)

    # the soft dictionary: each entry is a key in the plane and its value; what is asked is a point, too. Each may have
    # a word as its name: "cat:1.2,0.2,10"
    entries: str = control(
        Vectors("Keys and values", (PLANE, PLANE, VALUES), 2, 6, ENTRIES_ROOM), default=ENTRIES, held=True
    )
    ask: str = control(Vectors("Query", (PLANE, PLANE), room=ASK_ROOM), default="0.8,0.5", held=True)

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """What the model leaves to choose from; the most that any kind of attention has."""
        tokens = max(len(model.source_tokens.ids), len(model.target_tokens.ids) if model.is_encoder_decoder else 1)
        return {
            "layer": {"high": model.num_layers},
            "head": {"high": model.num_heads},
            "from_layer": {"high": model.num_layers},
            "heads": {"high": model.num_heads},
            "tokens": {"high": tokens},
            "query": {"high": tokens},
            "key": {"high": tokens},
            "dim": {"high": model.d_model // model.num_heads},
            "channel": {"high": model.d_model},
        }

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """A single stack has one kind of attention."""
        return set() if model.is_encoder_decoder else {"kind"}
