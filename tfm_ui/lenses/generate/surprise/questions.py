"""Questions of the view "surprise"."""

import numpy as np

from tfm_ui.lenses.generate.panel import answer_from
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.surprise.sides import FIRST
from tfm_ui.lenses.generate.surprise.tokens import SAME, Surprise
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest

TEXT = (
    "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and "
    "nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of the "
    "world."
)
PLAIN = "The captain stood on the deck and looked at the sea."
SHUFFLED = "sea the at looked and deck the on stood captain The."
TWICE = "Mr. Bingley had a ship. Mr. Bingley had a ship. Mr. Bingley had a ship."


class _BothSides(Surprise):
    """What is on screen, for a question that compares A with B."""

    @property
    def why_no_answer(self) -> str:
        return super().why_no_answer or self.hint


@answer_from(Surprise)
def where_it_is_sure(shown: Surprise) -> str:
    """How many tokens were the likeliest ones, and the token that was expected most."""
    side = shown.sides[0]
    scored = side.scored
    right = int((scored.ranks == 1).sum())
    places = places_of_largest(scored.log_probabilities.exp().numpy())
    at = places[0] + FIRST
    share = formats.percent(float(scored.log_probabilities[places[0]].exp()), 3)
    inside = [
        bits
        for place, bits in enumerate(side.bits)
        if place and side.pieces[place][:1].isalpha() and side.pieces[place - 1][-1:].isalpha() and np.isfinite(bits)
    ]
    words = ""
    if inside and len(inside) < scored.count:
        words = (
            f" Tokens that go on within a word have {units.three(float(np.mean(inside)))} bits on average, all tokens "
            f"{units.three(side.bits_per_token)}."
        )
    return (
        f"{right} of {formats.plural(scored.count, 'token')} were the likeliest in their place. “{side.names[at]}”, "
        f"token {at + 1}{one_of_ties(len(places), 'tokens')}, was expected most: {share}.{words}"
    )


def perplexity_of_a(model: ModelState, state: GenerateState) -> float:
    """A's perplexity; 0 where nothing is rated."""
    panel = Surprise(model, state)
    return 0.0 if panel.why_no_answer else round(panel.sides[0].scored.perplexity, 1)


def which_is_higher(model: ModelState, state: GenerateState) -> str:
    """Which side has the higher perplexity."""
    panel = _BothSides(model, state)
    if panel.why_no_answer:
        return "neither"
    a, b = (side.bits_per_token for side in panel.sides)
    return "neither" if abs(a - b) < SAME else "A" if a > b else "B"


@answer_from(_BothSides)
def what_order_does(shown: Surprise) -> str:
    """Both perplexities, and whether both have the same letters."""
    a, b = shown.sides
    per_byte = f"{units.three(a.bits_per_byte)} bits a byte for A, {units.three(b.bits_per_byte)} for B"
    return (
        f"A has a perplexity of {units.three(a.scored.perplexity)}, B of {units.three(b.scored.perplexity)}. Texts of "
        f"other tokens are compared by their bytes: {per_byte}. What a token is worth depends on what stands before "
        "it, so the same words in another order are another text to the model."
    )


@answer_from(_BothSides)
def what_was_learned(shown: Surprise) -> str:
    """Both perplexities beside that of an even choice."""
    a, b = (side.scored.perplexity for side in shown.sides)
    vocab = shown.model.config.vocab_size
    return (
        f"An even choice among {formats.count(vocab)} tokens has a perplexity of {formats.count(vocab)}. B has "
        f"{units.three(b)}, A {units.three(a)}. " + _beside_even(b, vocab)
    )


def _beside_even(perplexity: float, vocab: int) -> str:
    if perplexity > 1.01 * vocab:
        return "B is above the even choice: it is unsure, and where it has a preference, that is wrong."
    return "B is not above the even choice." if perplexity < 0.99 * vocab else "B is about as unsure as an even choice."


@answer_from(_BothSides)
def what_memory_does(shown: Surprise) -> str:
    """What a short memory costs in all, and where it costs most."""
    if not shown.linked:
        return shown.sentence()
    a, b = shown.sides
    loss = b.scored.bits.numpy() - a.scored.bits.numpy()
    where = places_of_largest(loss, float(max(a.scored.bits.max(), b.scored.bits.max())))
    at = where[0] + FIRST
    more = float(loss.mean())
    return (
        f"B has {units.three(abs(more))} bits a token {'more' if more >= 0 else 'less'} than A. Most is lost at "
        f"“{a.names[at]}”, token {at + 1}{one_of_ties(len(where), 'tokens')}: {units.three(float(a.bits[at]))} bits "
        f"for A, {units.three(float(b.bits[at]))} for B, which no longer sees what the text has said before."
    )


LAB = {"weights": "lab-gpt"}
QUESTIONS: tuple[Question, ...] = (
    Question(
        "Where it is sure",
        "“Moby Dick” is among its training texts. Which tokens does it expect, and which surprise it? Click some.",
        where_it_is_sure,
        Prediction(
            ask="Which perplexity has the text?",
            measured=perplexity_of_a,
            hides=("generate_surprise", "generate_surprise_places"),
        ),
        model={**LAB, "text": TEXT},
        controls={"view": "surprise"},
        because="the same probabilities also rate a text that somebody else has written.",
    ),
    Question(
        "Word order",
        "B has the words of A from the last to the first. Which of them has the higher perplexity?",
        what_order_does,
        Prediction(
            ask="Which one?",
            measured=which_is_higher,
            options=("A", "B", "neither"),
            hides=("generate_surprise", "generate_surprise_places"),
        ),
        model={**LAB, "text": PLAIN},
        controls={"view": "surprise", "other": SHUFFLED},
        given=("against",),
        because="the same words in another order show whether it has learned more than words.",
    ),
    Question(
        "Before training",
        "B is the same network with random weights. Is its perplexity that of an even choice among all 2,048 tokens?",
        what_was_learned,
        model={**LAB, "text": TEXT},
        controls={"view": "surprise", "against": "random weights"},
        moves=("text",),
        because="a perplexity needs a yardstick, such as the same network before training.",
    ),
    Question(
        "A short memory",
        "The sentence comes three times. B sees the last 4 tokens alone: where does it lose most? Move the slider.",
        what_memory_does,
        model={**LAB, "text": TWICE},
        controls={"view": "surprise", "against": "short memory"},
        because="what the model knows from this text alone shows when its memory is cut short.",
    ),
)
