"""What tasks share that a decoder answers, and those with texts of several lengths: ends, padding, teacher forcing."""

import torch
from torch import Tensor

from tfm_core.training.tasks.task import IGNORED, Examples

END = "END"  # what a decoder writes last


def for_decoder(source: Tensor, answers: Tensor, start: int) -> Examples:
    """Examples whose decoder reads the answers one place later, after the token `start`: teacher forcing.

    Args:
        source: int64 (batch, seq), 0 after the end of a shorter text.
        answers: int64 (batch, target), `IGNORED` after the end.
        start: the id that is read first.
    """
    target = answers.roll(1, 1)
    target[:, 0] = start
    return Examples(source, answers, target.masked_fill(target == IGNORED, 0))


def compact(slots: Tensor) -> tuple[Tensor, Tensor]:
    """Rows without their empty places: what is there moves to the left, and 0 fills the end.

    Args:
        slots: int64 (batch, slot), 0 where nothing is.

    Returns:
        The rows, and the new place of each slot, both (batch, slot); where nothing is, the place means nothing.
    """
    order = (slots == 0).long().argsort(dim=1, stable=True)
    return slots.gather(1, order), order.argsort(1)


def rows_of_ids(rows: list[list[int]], width: int, fill: int) -> Tensor:
    """Lists of ids as one tensor (batch, width), with `fill` after the end of each."""
    return torch.tensor([row + [fill] * (width - len(row)) for row in rows])


def text_of(ids: list[int]) -> list[int]:
    """The ids of a text without its padding."""
    return [number for number in ids if number > 0]
