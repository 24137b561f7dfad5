"""The tokens that the model predicts next: the likeliest ones by name, and a sentence."""

from dataclasses import dataclass

import pandas as pd

from tfm_ui.live.passes import run
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_labels import labels, names_of_ids

SHOWN = 5


@dataclass(frozen=True)
class NextToken(Result):
    """The likeliest tokens at the last place of the text.

    Attributes:
        names: the tokens; a token that is not in the text is named by its id, because ids are hashes.
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
    """The likeliest tokens, from the probabilities of one pass. The text must not be empty."""
    probabilities = run(state).next_token
    texts = [state.source_tokens] + ([state.target_tokens] if state.is_encoder_decoder else [])
    tokens = texts[-1]
    order = probabilities.argsort()[::-1][:SHOWN]
    names = names_of_ids(order.tolist(), texts)
    shares = probabilities[order].tolist()
    last = labels(tokens)[len(tokens.pieces) - 1]
    even, alike = 1 / len(probabilities), one_of_ties(len(places_of_largest(probabilities)))
    likeliest = f"{names[0]}{alike}, {formats.percent(shares[0], 3)}: {units.times(shares[0] / even)} an even share"
    sentence = (
        f"At “{last}” the likeliest of {formats.count(len(probabilities))} tokens is {likeliest}. "
        "Random weights: this says nothing about language."
    )
    return NextToken(names, shares, even, sentence)
