"""Experiments on order: words that are shuffled, and an encoding that is added along the wrong axis."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core.model.initialization import generator


def shuffle_order(ids: Sequence[int], seed: int) -> list[int]:
    """A random order of these tokens that makes another text of them; as they stand, if no order does.

    Args:
        ids: token ids, of the text without its padding.
        seed: of the draws.

    Returns:
        order[i] is the old place of the token that now stands at place i.
    """
    numbers, text = generator(seed, "shuffle"), torch.tensor(ids)
    order = torch.arange(len(ids))
    while len(set(ids)) > 1 and torch.equal(text[order], text):
        order = torch.randperm(len(ids), generator=numbers)
    places: list[int] = order.tolist()
    return places


def moved(before: Tensor, after: Tensor, order: Sequence[int]) -> Tensor:
    """How far each word's vector moved when the words were shuffled, as a share of its length; (seq).

    Without positions and without a mask nothing moves but by rounding: attention is a function of sets, and the rows
    of its output are permuted as those of its input (Lee et al. 2019, section 3).

    Args:
        before: (seq, d_model), row i of the word at place i.
        after: (seq, d_model), row i of the word that stood at place order[i].
        order: as `shuffle_order` gives it.
    """
    return apart(before, after[torch.argsort(torch.tensor(order))])


def apart(before: Tensor, after: Tensor) -> Tensor:
    """How far each vector moved, as a share of its length: (..., seq, d_model) twice to (..., seq)."""
    shares: Tensor = (after - before).norm(dim=-1) / before.norm(dim=-1).clamp(min=1e-30)
    return shares


def difference(before: Tensor, after: Tensor, order: Sequence[int]) -> Tensor:
    """after - before, (seq, d_model), each word's new row less its old one: arguments as in `moved`."""
    return after[torch.argsort(torch.tensor(order))] - before


def along_sequence(x: Tensor, pe: Tensor) -> Tensor:
    """Right: position i gets PE(i)."""
    # (batch, seq, d_model) + (seq, d_model)
    return x + pe[: x.size(1)]


def along_batch(x: Tensor, pe: Tensor) -> Tensor:
    """Wrong: all of sentence b gets PE(b)."""
    pe = pe.unsqueeze(1)  # (max_len, 1, d_model)
    # (batch, seq, d_model) + (batch, 1, d_model)
    return x + pe[: x.size(0)]
