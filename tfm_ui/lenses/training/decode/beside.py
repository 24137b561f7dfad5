"""One source, token by token: what the decoder says after the right tokens, beside what it says after its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core import TrainingConfig, Transformer
from tfm_core.training.decoding import decode_greedily
from tfm_ui.lenses.training.decode.source import shown_model, start_of
from tfm_ui.lenses.training.decode.written import Decode
from tfm_ui.live.cache import cached, never
from tfm_ui.pictures import pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats

PERCENT = "%.1f%%"


@dataclass(frozen=True)
class Place:
    """A place of the answer.

    Attributes:
        right: the token that is right there.
        forced, alone: what is said after the right tokens, and after its own; "" where nothing more is written.
        sure_forced, sure_alone: the probability of the right token there; NaN where nothing more is written.
    """

    right: str
    forced: str
    alone: str
    sure_forced: float
    sure_alone: float


@cached(heavy=never)
def _forced(config: TrainingConfig, source: tuple[int, ...], answers: tuple[int, ...], done: int) -> Tensor:
    """The probabilities after the right tokens, float32 (place, vocab); `done` is only here to tell results apart."""
    read = [start_of(config), *answers[:-1]]
    with torch.no_grad():
        logits: Tensor = shown_model(config)(torch.tensor([source]), torch.tensor([read]))
    return logits[0].softmax(-1)


class DecodeBeside(Decode):
    """Teacher forcing beside writing alone, on the source on screen."""

    how_to_read = (
        "Two bars for each right token: how likely it is after the right tokens (teacher forcing, as in training), and "
        "after those that the decoder has written itself. Up to its first mistake both are the same."
    )
    sources = (decode_greedily, Transformer)
    canvas = CHART

    @property
    def title(self) -> str:
        return "The same source, after right tokens and after its own"

    @property
    def shape(self) -> str:
        return f"(2, {len(self.answers)})"

    tensors = None  # type: ignore[assignment]

    @cached_property
    def forced(self) -> Tensor:
        """The probabilities after the right tokens, float32 (place, vocab)."""
        return _forced(self.config, self.source, tuple(self.answers.tolist()), self.run.done)

    @cached_property
    def places(self) -> list[Place]:
        """All places of the right answer."""
        said = self.names(self.forced.argmax(-1))
        written = self.names(self.decoded.written)
        alone = self.decoded.probabilities
        return [
            Place(
                right=right,
                forced=said[place],
                alone=written[place] if place < self.steps else "",
                sure_forced=float(self.forced[place, answer]),
                sure_alone=float(alone[place, answer]) if place < self.steps else float("nan"),
            )
            for place, (right, answer) in enumerate(zip(self.names(self.answers), self.answers.tolist(), strict=True))
        ]

    @property
    def first_mistake(self) -> int | None:
        """The place of the first mistake when it writes alone, from 0; None if there is none."""
        return next((number for number, place in enumerate(self.places) if place.alone != place.right), None)

    def sentence(self) -> str:
        """Where the first own mistake is, and what follows it."""
        first, count = self.first_mistake, len(self.places)
        if first is None:
            return (
                f"All {formats.plural(count, 'token')} are right. So what it reads when it writes alone are the right "
                "tokens, and both rows are the same."
            )
        place, later = self.places[first], self.places[first + 1 :]
        instead = f"“{place.alone}”" if place.alone else "nothing"
        begin = (
            f"The first mistake is at place {first + 1}: {instead} in place of “{place.right}”. Up to there both have "
            "read the same, and say the same."
        )
        if not later:
            return f"{begin} It is the last place: nothing follows."
        alone = sum(each.alone != each.right for each in later)
        forced = sum(each.forced != each.right for each in later)
        return (
            f"{begin} Of the {formats.plural(len(later), 'token')} after it, {alone} {_is(alone)} wrong after its own "
            f"tokens, and {forced} after the right ones."
        )

    @property
    def open_table(self) -> OpenTable:
        text, number = st.column_config.TextColumn, st.column_config.NumberColumn
        help_ = "the probability of the right token"
        shares = {name: number(format=PERCENT, help=help_) for name in ("right token, given", "right token, own")}
        return OpenTable({"right": text(), **shares})

    def table(self) -> pd.DataFrame:
        """A row per place."""
        places = self.places
        rows = {
            "right": [place.right for place in places],
            "after the right tokens": [place.forced for place in places],
            "right token, given": [100 * place.sure_forced for place in places],
            "after its own": [place.alone for place in places],
            "right token, own": [100 * place.sure_alone for place in places],
        }
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(places) + 1, name="place"))

    def laws(self) -> Mapping[str, bool]:
        first = self.first_mistake
        same = min(self.steps, len(self.places) if first is None else first + 1)
        both = self.forced[:same], self.decoded.probabilities[:same]
        return {"up to the first mistake both have the same probabilities": torch.allclose(*both, atol=1e-4)}

    def recipe(self) -> str:
        return ""

    def picture(self) -> Content:
        """How likely the right token is at each place, by both ways of reading; where nothing is written, 0."""
        shares = np.array([[each.sure_forced, each.sure_alone] for each in self.places], np.float32).T
        return pairs.content(
            [f"{number} {place.right}" for number, place in enumerate(self.places, 1)],
            ("after the right tokens", "after its own"),
            np.nan_to_num(shares),
            roles=("ink", "head 1"),
            rows="right token",
        )


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
