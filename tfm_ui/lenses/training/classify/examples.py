"""Held-out examples with what the network says of them, and what it looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch

from tfm_core import TrainingConfig
from tfm_core.training.tasks.counting import CLS
from tfm_core.training.tasks.textbook import GROUPS, counts
from tfm_ui.lenses.training.classify.said import Said, examples_of, texts, tokens_of
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

FIRST, WRONG = 6, 4  # rows: of the first held-out examples, and of the most confident mistakes
ELSE = "something else"


@dataclass(frozen=True)
class Confusion(Result):
    """Which labels are taken for which."""

    config: TrainingConfig
    said: Said

    @cached_property
    def counts(self) -> np.ndarray:
        """Right label x said label; the last column is anything else, and is there only if it is needed."""
        counts: np.ndarray = self.said.confusion.numpy()
        return counts if counts[:, -1].any() else counts[:, :-1]

    @property
    def columns(self) -> list[str]:
        """The labels that are said, and at the end anything else, if it is needed."""
        return [*self.config.about.labels, ELSE][: self.counts.shape[1]]

    def sentence(self) -> str:
        """The most frequent mistake."""
        labels, total = self.config.about.labels, len(self.said.labels)
        right = int(self.said.is_right.sum())
        told = f"{formats.count(right)} of {formats.count(total)} held-out labels are right."
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        if not wrong.any():
            return told
        places = places_of_largest(wrong.astype(np.float32))
        pairs = [
            f"“{labels[row]}” taken for “{self.columns[column]}”"
            for row, column in (divmod(place, wrong.shape[1]) for place in places)
        ]
        return f"{told} The most frequent mistake: {formats.listed(pairs)}, {formats.count(int(wrong.max()))} times."

    def table(self) -> pd.DataFrame:
        """The counts."""
        index = pd.Index(self.config.about.labels, name="right label \\ said")
        return pd.DataFrame(self.counts, index=index, columns=self.columns)

    def laws(self) -> Mapping[str, bool]:
        """Every example is counted once."""
        return {"the counts add up to all held-out examples": int(self.counts.sum()) == len(self.said.labels)}


@dataclass(frozen=True)
class Sentences(Result):
    """A few held-out examples, and what the network says of them.

    Attributes:
        config: of the run.
        said: what it says.
        row: which row of the table is looked at, from 0.
    """

    config: TrainingConfig
    said: Said
    row: int

    @property
    def pools(self) -> bool:
        """Whether the answer is read from the mean over all tokens."""
        return bool(self.config.about.classes) and self.config.pooling == "mean"

    @property
    def who(self) -> str:
        """The token whose weights are shown."""
        if self.pools:
            return "all tokens together"
        return CLS if CLS in self.config.about.vocabulary else "the first token"

    @cached_property
    def shown(self) -> list[int]:
        """The first held-out examples, then the most confident mistakes."""
        first = list(range(min(FIRST, len(self.said.labels))))
        sure = self.said.probabilities.max(1).values.masked_fill(self.said.is_right, -1)
        mistakes = sure.argsort(descending=True, stable=True)[: int((sure > 0).sum())].tolist()
        every = texts(self.config.task)
        once = set({every[number]: number for number in reversed(mistakes)}.values())  # some may be there twice
        return first + [number for number in mistakes if number in once and number not in first][:WRONG]

    @property
    def example(self) -> int:
        """The number of the example that is looked at."""
        return self.shown[min(self.row, len(self.shown) - 1)]

    def tokens(self, example: int) -> Sequence[str]:
        """The example's tokens as the network reads it, without padding."""
        return tokens_of(self.config)[example]

    def text(self, example: int) -> str:
        """The example's text without the token at which the answer is said."""
        return texts(self.config.task)[example]

    def label(self, number: int) -> str:
        """The name of what is said."""
        return [*self.config.about.labels, ELSE][number]

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of the example that is looked at: (head, key), without padding."""
        weights: np.ndarray = self.said.looks[self.example, :, : len(self.tokens(self.example))].numpy()
        return weights

    def most(self, example: int) -> str:
        """The token to which the heads together give most weight."""
        tokens = self.tokens(example)
        mean = self.said.looks[example].mean(0)[: len(tokens)]
        return f"{tokens[int(mean.argmax())]} ({formats.weight(float(mean.max()))})"

    def sentence(self) -> str:
        """The example that is looked at."""
        example, said = self.example, self.said
        share = said.probabilities[example].max()
        right, chosen = self.label(int(said.labels[example])), self.label(int(said.chosen[example]))
        verdict = "which is right" if right == chosen else f"but it is “{right}”"
        told = f"“{self.text(example)}”: the network says “{chosen}” ({formats.percent(float(share))}), {verdict}."
        weights = said.looks[example].mean(0).numpy()
        places = places_of_largest(weights)
        token = self.tokens(example)[places[0]]
        heads = f", the mean of {self.config.num_heads} heads" if self.config.num_heads > 1 else ""
        look = "look" if self.pools else "looks"
        return (
            f"{told} In the last layer {self.who} {look} most at “{token}”{one_of_ties(len(places))}: "
            f"{formats.weight(float(weights.max()))} of the weight{heads}."
        )

    def table(self) -> pd.DataFrame:
        """A row per example."""
        said, rows = self.said, []
        for example in self.shown:
            row: dict[str, object] = {
                "text": self.text(example),
                "right": self.label(int(said.labels[example])),
                "said": self.label(int(said.chosen[example])),
            }
            row |= {
                name: 100 * float(share)
                for name, share in zip(self.config.about.labels, said.probabilities[example], strict=True)
            }
            if self.config.task.startswith("textbook"):
                of_group = counts(examples_of(self.config).source[example : example + 1])[0].tolist()
                row["counts"] = ", ".join(f"{count} {group}" for group, count in zip(GROUPS, of_group, strict=True))
            row["looks most at"] = self.most(example)
            rows.append(row)
        return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1, name="example"))

    def laws(self) -> Mapping[str, bool]:
        """Whether probabilities and weights add up as they must."""
        sums = self.said.probabilities.sum(1)
        rows = self.said.looks.sum(-1)
        return {
            "the probabilities of the labels add up to at most 1": bool((sums < 1 + 1e-5).all()),
            "rows of weights sum to 1": bool(torch.allclose(rows, torch.ones_like(rows), atol=1e-5)),
        }
