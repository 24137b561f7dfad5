"""Where every head looked when each token was written: the row of the position whose logits wrote it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import recording
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.courses import Settings
from tfm_ui.lenses.generate.look.recipe import weights_by_step
from tfm_ui.lenses.generate.of_course import OfCourse
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest


@cached()
def rows_of(model: ModelState, settings: Settings) -> list[NDArray[np.float32]]:
    """The weights of the position that wrote each step: (layer, head, key), keys from its context's first on.

    A causal model's weights do not change when tokens follow, so a single pass over each context gives what each step
    saw when it was written.
    """
    course, passes = courses.course_of(model, settings), dict[int, Tensor]()
    tokens, prompt = course.tokens, len(course.prompt)
    rows = []
    for step in course.steps:
        if step.begin not in passes:
            last = max(other.number for other in course.steps if other.begin == step.begin)
            passes[step.begin] = _weights(model, tokens[step.begin : prompt + last])
        at = prompt + step.number - 1 - step.begin
        rows.append(passes[step.begin][:, :, at, : at + 1].numpy())
    return rows


@torch.no_grad()
def _weights(model: ModelState, tokens: tuple[int, ...]) -> Tensor:
    """The attention of all heads on these tokens, (layer, head, query, key)."""
    with recording("*.self_attention.weights") as trace:
        transformer(model.config)(torch.tensor([tokens]))
    return torch.stack([trace[f"layers.{layer}.self_attention.weights"][0] for layer in range(model.num_layers)])


@dataclass(frozen=True)
class Looked(OfCourse):
    """Where a head looked, step by step.

    Attributes:
        layer, head: the head, from 0.
    """

    layer: int
    head: int

    @cached_property
    def rows(self) -> list[NDArray[np.float32]]:
        """The weights of all heads at each step."""
        return rows_of(self.model, self.settings)

    @property
    def pieces(self) -> list[str]:
        """The whole text, as it is written."""
        pieces = self.model.tokens_by.pieces
        return [pieces[token] for token in self.course.tokens]

    @property
    def begins(self) -> list[int]:
        """Where the context of each step begins in the text."""
        return [step.begin for step in self.course.steps]

    def means(self) -> NDArray[np.float64]:
        """(layer, head, 3): the mean weight on the first token of the context, the token before, and the token itself.

        Steps whose context is a single token are left out.
        """
        longer = [row for row in self.rows if row.shape[-1] > 2]
        if not longer:
            return np.full((self.model.num_layers, self.model.num_heads, 3), np.nan)
        places = [np.stack([row[..., 0], row[..., -2], row[..., -1]], -1) for row in longer]
        means: NDArray[np.float64] = np.mean(places, 0, dtype=np.float64)
        return means

    def sentence(self) -> str:
        """What this head does on average, and which head looks most at the token before."""
        means = self.means()
        if np.isnan(means).any():
            return "Nothing was written after more than two tokens."
        first, before, itself = (formats.weight(float(share)) for share in means[self.layer, self.head])
        most = places_of_largest(means[..., 1])
        layer, head = divmod(most[0], self.model.num_heads)
        return (
            f"While {formats.plural(len(self.rows), 'token')} were written, head {self.head + 1} of layer "
            f"{self.layer + 1} gave, on average, {first} of its weight to the first token of the context, {before} to "
            f"the token before the last, and {itself} to the last token itself. Head {head + 1} of "
            f"layer {layer + 1}{one_of_ties(len(most))} gave the token before the last the most: "
            f"{formats.weight(float(means[layer, head, 1]))}."
        )

    def table(self) -> pd.DataFrame:
        """A row per step: where the head looked most."""
        text, prompt = self.pieces, len(self.pieces) - len(self.rows)
        rows = []
        for number, (row, begin) in enumerate(zip(self.rows, self.begins, strict=True)):
            weights = row[self.layer, self.head]
            at = int(weights.argmax())
            rows.append(
                {
                    "step": number + 1,
                    "written": text[prompt + number],
                    "last token": text[prompt + number - 1],
                    "looked most at": text[begin + at],
                    "its place": begin + at + 1,
                    "weight": float(weights[at]),
                    "on the token before the last": float(weights[-2]) if len(weights) > 1 else float("nan"),
                }
            )
        return pd.DataFrame(rows).set_index("step") if rows else pd.DataFrame({"step": []}).set_index("step")

    def laws(self) -> dict[str, bool]:
        """What must hold of the weights."""
        return {
            "each head’s weights sum to 1 at each step": all(
                bool(np.allclose(row.sum(-1), 1, atol=1e-5)) for row in self.rows
            )
        }

    def recipe(self) -> str:
        """Plain Python that gives the weights of each step."""
        return script(weights_by_step, **self.arguments(), layer=self.layer, head=self.head)


def looked(model: ModelState, state: GenerateState) -> Looked:
    """What the link asks for."""
    return Looked(model, courses.settings_of(model, state), state.layer - 1, state.head - 1)
