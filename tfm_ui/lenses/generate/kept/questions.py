"""Questions of the view "kept"."""

from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.kept.costs import costs
from tfm_ui.lenses.generate.kept.numbers import kept
from tfm_ui.lenses.generate.kept.same import same
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

PROMPT = "The captain looked at the sea, and"
LONG = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, this "
    "truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful property "
    "of some one or other of their daughters. “My dear Mr. Bennet,” said his lady to him one day, “have you heard that "
    "Netherfield Park is let at last?” Mr. Bennet replied that he had not. “But it is,” returned she."
)


def per_token(model: ModelState, state: GenerateState) -> float:
    """Bytes that each token adds; 0 where nothing is written."""
    return 0.0 if courses.why_not_write(model) else float(kept(model, state).per_token)


def what_a_token_adds(model: ModelState, state: GenerateState) -> str:
    """How many bytes a token adds, and that earlier rows stay."""
    if reason := courses.why_not_write(model):
        return reason
    shown = kept(model, state)
    if not shown.steps:
        return shown.sentence()
    apart = formats.tiny(shown.difference)
    return (
        f"{formats.count(shown.per_token)} bytes: a key and a value of {model.config.d_model} numbers in each of "
        f"{formats.plural(model.num_layers, 'layer')}. No earlier row changes, as no token looks ahead: one pass over "
        f"the whole text gives the same rows, with differences up to {apart}."
    )


def what_is_read(model: ModelState, state: GenerateState) -> str:
    """What both ways read, and whether the text is the same."""
    return courses.why_not_write(model) or same(model, state).sentence()


def times_less(model: ModelState, state: GenerateState) -> float:
    """How many times as many operations the longest text takes without the cache; 0 where nothing is written."""
    if courses.why_not_write(model):
        return 0.0
    shown = costs(model, state)
    return round(shown.flops(shown.context, cached=False) / shown.flops(shown.context, cached=True), 1)


def what_is_saved(model: ModelState, state: GenerateState) -> str:
    """Operations of both ways at the longest text, and what of it grows."""
    if reason := courses.why_not_write(model):
        return reason
    shown = costs(model, state)
    first, last = (shown.flops(length, cached=True) for length in (1, shown.context))
    return (
        f"After {formats.count(shown.context)} tokens {units.times(times_less(model, state))} as many operations "
        "without the cache as with it, where logits are computed at every token that is read, as this app does; with "
        f"the logits of the last token alone they are {units.times(shown.times_of_last_logits)} as many. With the "
        f"cache, a token takes {units.three(first / 1e6)} MFLOP at first and {units.three(last / 1e6)} at last: "
        "what grows is looking at all stored keys alone. In exchange the cache "
        f"takes {units.bytes_of(shown.stored(shown.context))}."
    )


def what_when_full(model: ModelState, state: GenerateState) -> str:
    """Whether the context was full, and what was done."""
    if reason := courses.why_not_write(model):
        return reason
    shown = kept(model, state)
    if not shown.steps:
        return shown.sentence()
    return (
        f"{shown.context_said()} A stored key cannot be moved: what its layer had gathered of earlier tokens is in it. "
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
        model={"weights": "lab-gpt", "text": PROMPT},
        page={"view": "kept", "method": "greedy"},
        moves=("text", "weights", "method"),
    ),
    Question(
        "The same text",
        "Once more without the cache: is the text the same, and how many tokens do all passes read together?",
        what_is_read,
        model={"weights": "lab-gpt", "text": PROMPT},
        page={"view": "kept", "steps": 100},
        moves=("text", "weights", "steps"),
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
        model={"weights": "lab-gpt", "text": PROMPT},
        page={"view": "kept", "layer": 4},
        moves=("text", "layer"),
    ),
    Question(
        "A full context",
        "The context holds 256 tokens. Write 180 after this prompt: at which step does the cache begin anew, and why?",
        what_when_full,
        model={"weights": "lab-gpt", "text": LONG},
        page={"view": "kept", "steps": 180},
    ),
)
