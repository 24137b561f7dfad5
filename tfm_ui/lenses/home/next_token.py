"""The tokens that the model predicts next: the likeliest ones by name, and a sentence."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import Tokens, Transformer
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.next_recipe import next_code
from tfm_ui.live.passes import run
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.step import Step
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Panel
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest
from tfm_ui.text.token_labels import labels, named, pieces_of_ids

SHOWN = 5


def likeliest(probabilities: NDArray[np.float32], known: Mapping[int, Sequence[str]]) -> list[int]:
    """The likeliest of those numbers of the vocabulary that stand for a known word, the likeliest first."""
    return [i for i in probabilities.argsort()[::-1].tolist() if i in known][:SHOWN]


class Next(Panel):
    """The likeliest words at the last place of the text, from the probabilities of one pass. The text is not empty.

    The model gives a probability to each number of its vocabulary; those that stand for a known word are shown.
    """

    key = "next"
    how_to_read = "Softmax of the logits at the last token. Dotted: all tokens equally likely."
    sources = (likeliest, Transformer.forward)
    canvas = CHART

    @property
    def title(self) -> str:
        return "What it would say next" if self.model.looks_back_only else "What it makes of the last token"

    @property
    def text(self) -> Tokens:
        """The text that the model goes on from."""
        return self.model.target_tokens if self.model.is_encoder_decoder else self.model.source_tokens

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """The probability of each number of the vocabulary."""
        return run(self.model).next_token

    @property
    def tensors(self) -> Step:
        return live_steps.end(self.model, len(self.text.pieces) - 1)

    @cached_property
    def known(self) -> Mapping[int, Sequence[str]]:
        """The known words of each number; several may share one, because numbers are hashes."""
        return pieces_of_ids(known_texts(self.model))

    @cached_property
    def ids(self) -> list[int]:
        """The numbers of the likeliest known words."""
        return likeliest(self.probabilities, self.known)

    @property
    def names(self) -> list[str]:
        """The likeliest known words; of those that share a number, one."""
        return [f"“{named(self.known[i][0])}”" for i in self.ids]

    @property
    def shares(self) -> list[float]:
        """Their probabilities, in descending order."""
        shares: list[float] = self.probabilities[self.ids].tolist()
        return shares

    @property
    def even(self) -> float:
        """The probability of a token if all were equally likely."""
        return 1 / len(self.probabilities)

    def sentence(self) -> str:
        """The likeliest word; of random weights also how little that says."""
        of_known = self.probabilities[list(self.known)]
        last = labels(self.text)[len(self.text.pieces) - 1]
        likely = f"{self.names[0]}{one_of_ties(len(places_of_largest(of_known)))}, {formats.percent(self.shares[0], 3)}"
        if not self.model.is_random:
            return f"{self._of_trained(last)} {likely}."
        sentences = [
            f"After “{last}” the likeliest known word is {likely}: "
            f"{units.times(self.shares[0] / self.even)} an even share of the "
            f"{formats.count(len(self.probabilities))} tokens.",
            f"All known words together have {formats.percent(float(of_known.sum()), 3)}; the rest goes to "
            "tokens that stand for no word of the texts here.",
            about_shared_numbers(self.ids, self.known),
            "Random weights: this says nothing about language.",
        ]
        return " ".join(filter(None, sentences))

    def _of_trained(self, last: str) -> str:
        """What trained weights have learned, and where the likeliest token stands: the beginning of the sentence."""
        at = f"after “{last}”" if self.model.looks_back_only else f"at “{last}”"
        if self.model.pretrained:
            return f"{self.model.pretrained.learned} Its likeliest token {at} is"
        assert self.model.trained
        task = self.model.trained.about
        return f"Trained on “{task.title}”: {task.about} The likeliest token {at} is"

    def picture(self) -> Content:
        """The likeliest words as bars, beside an even share."""
        return bars.content(self.names, self.shares, reference=self.even, rows="next token")

    def in_notebook(self) -> str:
        return next_code(self.model)

    def table(self) -> pd.DataFrame:
        """The probabilities by name."""
        return pd.DataFrame({"probability": self.shares}, index=pd.Index(self.names, name="token"))


def about_shared_numbers(ids: Sequence[int], known: Mapping[int, Sequence[str]]) -> str:
    """Which of these words the model cannot tell from other words, as they have one number; "" if all are alone."""
    for i in ids:
        if len(words := known[i]) > 1:
            together = formats.listed([f"“{named(word)}”" for word in words[:3]])
            return f"The model has one number for {together}, so it cannot tell these words apart."
    return ""
