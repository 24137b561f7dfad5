"""Questions of the view "kept"."""

from tfm_ui.lenses.generate.kept.costs import KeptCosts
from tfm_ui.lenses.generate.kept.same import KeptSame
from tfm_ui.lenses.generate.kept.stored import Kept
from tfm_ui.lenses.generate.panel import LAB, answer_from
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

LONG = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, this "
    "truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful property "
    "of some one or other of their daughters. “My dear Mr. Bennet,” said his lady to him one day, “have you heard that "
    "Netherfield Park is let at last?” Mr. Bennet replied that he had not. “But it is,” returned she."
)


def per_token(model: ModelState, state: GenerateState) -> float:
    """Bytes that each token adds; 0 where nothing is written."""
    kept = Kept(model, state)
    return 0.0 if kept.why_nothing else float(kept.per_token)


@answer_from(Kept)
def what_a_token_adds(kept: Kept) -> str:
    """How many bytes a token adds, and that earlier rows stay."""
    return (
        f"{formats.count(kept.per_token)} bytes: a key and a value of {kept.width} numbers in each of "
        f"{formats.plural(kept.model.num_layers, 'layer')}. No earlier row changes, as no token looks ahead: one pass "
        f"over the whole text gives the same rows, with differences up to {formats.tiny(kept.difference)}."
    )


def times_less(model: ModelState, state: GenerateState) -> float:
    """How many times as many operations the longest text takes without the cache; 0 where nothing is written."""
    costs = KeptCosts(model, state)
    return 0.0 if costs.why_nothing else round(costs.times(costs.context), 1)


@answer_from(KeptCosts)
def what_is_saved(costs: KeptCosts) -> str:
    """Operations of both ways at the longest text, and what of it grows."""
    first, last = (costs.flops(length, cached=True) for length in (1, costs.context))
    times = times_less(costs.model, costs.state)
    return (
        f"After {formats.count(costs.context)} tokens {units.times(times)} as many operations "
        "without the cache as with it, where logits are computed at every token that is read, as this app does; with "
        f"the logits of the last token alone they are {units.times(costs.times_of_last_logits)} as many. With the "
        f"cache, a token takes {units.three(first / 1e6)} MFLOP at first and {units.three(last / 1e6)} at last: "
        "what grows is looking at all stored keys alone. In exchange the cache "
        f"takes {units.bytes_of(costs.stored(costs.context))}."
    )


@answer_from(Kept)
def what_when_full(kept: Kept) -> str:
    """Whether the context was full, and what was done."""
    return (
        f"{kept.when_full()} A stored key cannot be moved: what its layer had gathered of earlier tokens is in it. "
        "So a cache whose first tokens are dropped must be computed anew."
    )


QUESTIONS: tuple[Question, ...] = (
    Question(
        "A row a token",
        "Drag the slider. How many bytes does each token add to the cache, and does an earlier row ever change?",
        what_a_token_adds,
        Prediction(
            ask="How many bytes does a token add?",
            measured=per_token,
            unit=" bytes",
            hides=("generate_kept", "generate_kept_costs"),
        ),
        model=LAB,
        controls={"view": "kept", "method": "greedy"},
        moves=("text", "weights", "method"),
        because="each step looks back at all tokens, and their keys and values can be kept.",
    ),
    Question(
        "The same text",
        "Once more without the cache: is the text the same, and how many tokens do all passes read together?",
        answer_from(KeptSame)(KeptSame.sentence),
        model=LAB,
        controls={"view": "kept", "steps": 100},
        moves=("text", "weights", "steps"),
        because="a cache is of use only if the text stays the same without it.",
    ),
    Question(
        "A long text",
        "How many times as many operations does one more token take without the cache, where the context is full?",
        what_is_saved,
        Prediction(
            ask="How many times as many?",
            measured=times_less,
            unit="×",
            hides=("generate_kept_costs", "generate_kept.words"),
        ),
        model=LAB,
        controls={"view": "kept", "layer": 4},
        moves=("text", "layer"),
        because="what the cache saves grows with the text, so look where the context is full.",
    ),
    Question(
        "A full context",
        "The context holds 256 tokens. Write 180 after this prompt: at which step does the cache begin anew, and why?",
        what_when_full,
        model={**LAB, "text": LONG},
        controls={"view": "kept", "steps": 180},
        because="writing does not stop where the context ends, and the cache has to follow.",
    ),
)
