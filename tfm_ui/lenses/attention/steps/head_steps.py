"""All that one head computes from its input to its output, step by step, with switches that the reader may move."""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import attention_scores, attention_weights, mask_scores
from tfm_ui.lenses.attention.inside import Inside


@dataclass(frozen=True)
class Cell:
    """A place in the matrices of one head; all numbers count from 0.

    Attributes:
        query, key: a token each.
        dim: of the head's head_dim.
        channel: of d_model.
    """

    query: int
    key: int
    dim: int
    channel: int


@dataclass(frozen=True)
class HeadSteps:
    """The steps of one head. While no switch is moved, their numbers are what the model computed, to the last digit.

    Attributes:
        inside: the attention that it belongs to.
        number: which, from 0.
        scaled: whether scores are divided by the root of d_k.
        masked: whether the mask is obeyed.
        temperature: what the scores are divided by after scaling and bias.
        queries, keys: a label per row and per column, padding included.
        positional: the name of the positional scheme that acts in this attention; "none" where there is none.
        crosses: whether queries and keys come from two texts.
    """

    inside: Inside
    number: int
    scaled: bool
    masked: bool
    temperature: float
    queries: list[str]
    keys: list[str]
    positional: str
    crosses: bool

    @property
    def as_in_the_model(self) -> bool:
        """Whether every switch stands as the model has it."""
        return self.scaled and self.masked and self.temperature == 1

    @property
    def head_dim(self) -> int:
        """d_k."""
        return self.inside.head_dim

    @property
    def factor(self) -> float:
        """What the dot products are multiplied with."""
        return 1 / math.sqrt(self.head_dim) if self.scaled else 1.0

    @property
    def visible(self) -> Tensor:
        """Boolean (query, key): whether the query may see the key; all True if the mask is switched off."""
        return self.inside.visible if self.masked else torch.ones_like(self.inside.visible)

    @cached_property
    def query(self) -> Tensor:
        """(query, head_dim): the queries, rotated if the positional scheme rotates them."""
        return self.inside.query[self.number]

    @cached_property
    def key(self) -> Tensor:
        """(key, head_dim): the keys, rotated if the positional scheme rotates them."""
        return self.inside.key[self.number]

    @cached_property
    def value(self) -> Tensor:
        """(key, head_dim): the values."""
        return self.inside.value[self.number]

    @cached_property
    def bias(self) -> Tensor | None:
        """(query, key): the bias that the positional scheme adds to the scores; None if it adds none."""
        return self.inside.origin.bias(self.number)

    @cached_property
    def scores(self) -> Tensor:
        """(query, key): the plain dot products."""
        return attention_scores(self.query[None], self.key[None], scale=1.0)[0]

    @cached_property
    def scaled_scores(self) -> Tensor:
        """(query, key): the scores, scaled, with the positional scheme's bias added, and divided by the temperature."""
        return self._scaled(self.number, slice(None))

    @cached_property
    def masked_scores(self) -> Tensor:
        """(query, key): the scaled scores, and -inf where the query may not see the key."""
        return mask_scores(self.scaled_scores, self.visible)

    @cached_property
    def weights(self) -> Tensor:
        """(query, key): the softmax of each row of the masked scores; a row that may see nothing is 0."""
        return attention_weights(self.masked_scores, self.visible)

    @cached_property
    def output(self) -> Tensor:
        """(query, head_dim): for each query, the sum of the values times their weights."""
        return self.inside.recorded["head_output"][self.number] if self.as_in_the_model else self.weights @ self.value

    def weighted_values(self, query: int) -> Tensor:
        """(key, head_dim): each key's value times its weight, for one query, counted from 0."""
        return self.weights[query, :, None] * self.value

    def merged(self, rows: slice) -> Tensor:
        """(rows, d_model): all heads side by side, for these queries."""
        outputs = self.inside.recorded["head_output"][:, rows]
        if not self.as_in_the_model:
            outputs = torch.stack([self._gathered(head, rows) for head in range(len(outputs))])
        return outputs.transpose(0, 1).flatten(1)  # (head, rows, head_dim) -> (rows, d_model)

    def projected(self, rows: slice) -> Tensor:
        """(rows, d_model): what the attention adds to the residual stream, for these queries."""
        if self.as_in_the_model:
            return self.inside.recorded["output"][rows]
        with torch.no_grad():
            projected: Tensor = self.inside.module.output_projection(self.merged(rows))
        return projected

    def _scaled(self, head: int, rows: slice) -> Tensor:
        scores = self.inside.origin.scores(head, scale=self.factor, rows=rows)
        return scores if self.temperature == 1 else scores / self.temperature

    def _gathered(self, head: int, rows: slice) -> Tensor:
        visible = self.visible[rows]
        return attention_weights(mask_scores(self._scaled(head, rows), visible), visible) @ self.inside.value[head]
