"""The tokens that the model predicts next: the likeliest ones by name, and a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from tfm_ui.live.known_words import known_texts
from tfm_ui.live.passes import run
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_labels import labels, named, pieces_of_ids

SHOWN = 5


@dataclass(frozen=True)
class NextToken(Result):
    """The likeliest tokens at the last place of the text.

    Attributes:
        names: the tokens; several words may have the id of one of them, because ids are hashes.
        shares: their probabilities, in descending order.
        even: the probability of a token if all were equally likely.
        about: the result in a sentence.
    """

    names: list[str]
    shares: list[float]
    even: float
    about: str

    def sentence(self) -> str:
        """The result in a sentence."""
        return self.about

    def table(self) -> pd.DataFrame:
        """The probabilities by name."""
        return pd.DataFrame({"probability": self.shares}, index=pd.Index(self.names, name="token"))


def next_token(state: ModelState) -> NextToken:
    """The likeliest words, from the probabilities of one pass. The text must not be empty.

    The model gives a probability to each number of its vocabulary; those that stand for a known word are shown.
    """
    probabilities = run(state).next_token
    tokens = state.target_tokens if state.is_encoder_decoder else state.source_tokens
    known = pieces_of_ids(known_texts(state))
    order = [i for i in probabilities.argsort()[::-1].tolist() if i in known][:SHOWN]
    names, shares = [f"“{named(known[i][0])}”" for i in order], probabilities[order].tolist()
    last = labels(tokens)[len(tokens.pieces) - 1]
    even, alike = 1 / len(probabilities), one_of_ties(len(places_of_largest(probabilities[list(known)])))
    known_share = float(probabilities[list(known)].sum())
    if not state.is_random:
        about = f"{_of_trained(state, last)} {names[0]}{alike}, {formats.percent(shares[0], 3)}."
        return NextToken(names, shares, even, about)
    said = [
        f"After “{last}” the likeliest known word is {names[0]}{alike}, {formats.percent(shares[0], 3)}: "
        f"{units.times(shares[0] / even)} an even share of the {formats.count(len(probabilities))} tokens.",
        f"All known words together have {formats.percent(known_share, 3)}; the rest goes to "
        "tokens that stand for no word of the texts here.",
        about_shared_numbers(order, known),
        "Random weights: this says nothing about language.",
    ]
    return NextToken(names, shares, even, " ".join(filter(None, said)))


def _of_trained(state: ModelState, last: str) -> str:
    """The beginning of the sentence on trained weights: what they learned, and where the likeliest token stands."""
    at = f"after “{last}”" if state.looks_back_only else f"at “{last}”"
    if not state.trained:
        return f"Lab GPT has learned from prose of 1790 to 1864. Its likeliest token {at} is"
    task = state.trained.about
    return f"Trained on “{task.title}”: {task.about} The likeliest token {at} is"


def about_shared_numbers(ids: Sequence[int], known: Mapping[int, Sequence[str]]) -> str:
    """Which of these words the model cannot tell from other words, as they have one number; "" if all are alone."""
    for i in ids:
        if len(words := known[i]) > 1:
            together = formats.listed([f"“{named(word)}”" for word in words[:3]])
            return f"The model has one number for {together}, so it cannot tell these words apart."
    return ""
