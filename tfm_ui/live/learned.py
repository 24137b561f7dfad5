"""What trained weights should do with the example that they read: the right answers, and where heads should look."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.training.examples import held_out
from tfm_core.training.tasks.task import Pattern
from tfm_ui.live.places import tokens_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import EXAMPLES
from tfm_ui.text import formats

UNKNOWN = "What is right is known of examples of a task, read by weights that were trained on it."


def right_answers(model: ModelState, logits: Tensor) -> tuple[int, int] | None:
    """How many answers are right, and how many are asked for; None if nobody knows what is right.

    Args:
        model: the model, with the text that it reads.
        logits: (position, vocab), of the text that is written.
    """
    asked = [at for at, answer in enumerate(model.right_answers) if answer]
    if not asked:
        return None
    likeliest = logits.argmax(-1)
    right = sum(int(likeliest[at]) == model.tokens_by.id_of(model.right_answers[at]) for at in asked)
    return right, len(asked)


@dataclass(frozen=True)
class Looking:
    """Where a head that solves the task should look, in the example that is read.

    Attributes:
        pattern: of the task.
        cells: boolean (query, key), the cells that should get the weight of their row.
    """

    pattern: Pattern
    cells: NDArray[np.bool_]

    @property
    def rows(self) -> NDArray[np.intp]:
        """The queries that should look anywhere in particular."""
        return np.flatnonzero(self.cells.any(-1))

    def score(self, weights: NDArray[np.float32]) -> float:
        """The share of a head's weight in these cells, (query, key) -> the mean over `rows`."""
        queries, keys = self.cells.shape
        return float(np.where(self.cells, weights[:queries, :keys], 0).sum(-1)[self.rows].mean())

    def even(self, visible: NDArray[np.bool_]) -> float:
        """Their share in a head that looks alike at all keys that it may see."""
        return self.score((visible / visible.sum(-1, keepdims=True).clip(min=1)).astype(np.float32))


def where_to_look(model: ModelState, kind: str) -> list[Looking]:
    """The patterns of the task that can be seen in this kind of attention; none of random weights or other texts.

    Args:
        model: the model, with the text that it reads.
        kind: of attention: "self" of a single stack, "encoder", "decoder" or "cross".
    """
    number = model.example
    if not model.trained or number is None or kind not in ("self", "cross"):
        return []
    example = held_out(model.trained, EXAMPLES)[number : number + 1]
    patterns = [pattern for pattern in model.trained.about.patterns if pattern.kind == kind and not pattern.even]
    queries, keys = (len(tokens.pieces) for tokens in tokens_of(model, kind))  # some examples end in padding
    looking = [Looking(pattern, pattern.cells(example)[0, :queries, :keys].numpy()) for pattern in patterns]
    return [each for each in looking if each.cells.any()]


def in_words(counted: tuple[int, int] | None) -> str:
    """How many answers are right: "10 of 10 answers"; UNKNOWN if nobody knows."""
    return f"{counted[0]} of {formats.plural(counted[1], 'answer')}" if counted else UNKNOWN
