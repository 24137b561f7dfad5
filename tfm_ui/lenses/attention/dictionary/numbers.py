"""Attention as a soft dictionary: a query asks a few keys in the plane, and the answer is a blend of their values."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import attention_scores, scaled_dot_product_attention
from tfm_ui.lenses.attention.dictionary import recipe
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.lists import vectors
from tfm_ui.text import formats

NAMES = "ABCDEF"
TIE = 1e-9  # scores that differ by no more are equal


@dataclass(frozen=True)
class Lookup(Result):
    """One question to the dictionary, and its answer.

    Attributes:
        query: two numbers.
        keys: float64 (key, 2).
        values: float64 (key).
        temperature: what the scores are divided by, beside the root of 2.
        products: q.k, float64 (key).
        scores: q.k / (sqrt(2) temperature), float64 (key).
        weights: softmax of the scores, float64 (key).
        answer: the blended value, sum of weight times value.
    """

    query: tuple[float, ...]
    keys: NDArray[np.float64]
    values: NDArray[np.float64]
    temperature: float
    products: NDArray[np.float64]
    scores: NDArray[np.float64]
    weights: NDArray[np.float64]
    answer: float

    @property
    def best(self) -> list[int]:
        """The keys of the largest q.k: mostly one."""
        return np.flatnonzero(self.products >= self.products.max() - TIE).tolist()

    @property
    def hard(self) -> float:
        """What the blend becomes as the temperature goes to 0: the best key's value; of several, the values' mean."""
        return float(self.values[self.best].mean())

    @property
    def hard_text(self) -> str:
        """The same in words."""
        names = " and ".join(NAMES[i] for i in self.best)
        return (
            f"key {names}, value {number(self.hard)}"
            if len(self.best) == 1
            else (f"keys {names} tie, mean value {number(self.hard)}")
        )

    def sentence(self) -> str:
        """Which key wins, what the blend is, and how far it is from a look-up."""
        best, apart = self.best, abs(self.answer - self.hard)
        names = " and ".join(NAMES[i] for i in best)
        keys, fit, get = ("Key", "fits", "gets") if len(best) == 1 else ("Keys", "fit", "get")
        share = formats.percent(float(self.weights[best].sum()), 3)
        distance = np.hypot(*(self.keys - self.query).T)
        nearest = int(distance.argmin())
        closer = distance[nearest] < distance[best].min() - TIE
        why = f" Key {NAMES[nearest]} lies nearer, but a dot product asks for direction and length." if closer else ""
        return (
            f"{keys} {names} {fit} the query best (q·k = {self.products.max():.2f}).{why} "
            f"At temperature {self.temperature:g}, {names} {get} {share} of the weight, and the answer is "
            f"{number(self.answer)}; a hard look-up would answer {number(self.hard)}, {number(apart)} away."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of any question."""
        low, high = self.values.min(), self.values.max()
        slack = 1e-9 * max(abs(low), abs(high), 1)
        return {
            "the weights sum to 1": bool(abs(self.weights.sum() - 1) < 1e-12),
            "the answer lies between the smallest and the largest value": bool(
                low - slack <= self.answer <= high + slack
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row per key."""
        columns = {
            "x": self.keys[:, 0], "y": self.keys[:, 1], "q·k": self.products, "score": self.scores,
            "weight": self.weights, "value": self.values, "weight × value": self.weights * self.values,
        }  # fmt: skip
        return pd.DataFrame(columns, index=pd.Index(list(NAMES[: len(self.keys)]), name="key"))

    def recipe(self) -> str:
        """A script that leaves the same in `answer` and `weights`."""
        keys, values = self.keys.tolist(), self.values.tolist()
        return script(recipe.look_up, point=list(self.query), keys=keys, values=values, temperature=self.temperature)


def number(value: float) -> str:
    """Two decimals at most: 10, 17.31; with a true minus, and 0 rather than -0."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")


def look_up(state: AttentionState) -> Lookup:
    """Ask, by the library's own attention, in float64: dₖ is 2, and the temperature multiplies its root."""
    entries = torch.tensor(vectors(state.entries), dtype=torch.float64)
    key, value = entries[:, :2], entries[:, 2:]
    query = torch.tensor(vectors(state.ask), dtype=torch.float64)
    scale = 1 / (math.sqrt(2) * state.temperature)
    answer, weights = scaled_dot_product_attention(query, key, value, scale=scale)
    return Lookup(
        query=vectors(state.ask)[0],
        keys=key.numpy(),
        values=value[:, 0].numpy(),
        temperature=state.temperature,
        products=attention_scores(query, key, scale=1.0)[0].numpy(),
        scores=attention_scores(query, key, scale=scale)[0].numpy(),
        weights=weights[0].numpy(),
        answer=answer.item(),
    )
