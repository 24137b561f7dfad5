"""A mask's conventions, each verified against the call that it is for, with a layer's own weights."""

from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.recording import recording
from tfm_core.study.mask_calls import merged
from tfm_core.study.mask_conventions import Convention


@dataclass(frozen=True)
class Verified:
    """A convention's call beside ours, under one mask.

    Attributes:
        difference: the largest of any output, over queries that may see something; NaN where the call gives NaN.
        of_said: the same beside ours under what the convention can say of the mask.
        lost: how many cells of the mask the convention cannot say.
        empty: what the call gives a query that may see nothing: "NaN", "as ours" or "other numbers"; "" without one.
        slipped: the largest difference with the mistaken mask, over numbers that are numbers.
        slipped_nan: how many queries that may see something get NaN then.
        largest: of our own outputs, by absolute value.
    """

    difference: float
    of_said: float
    lost: int
    empty: str
    slipped: float
    slipped_nan: int
    largest: float


@torch.no_grad()
def verify(convention: Convention, attention: MultiHeadAttention, query: Tensor, key: Tensor, mask: Tensor) -> Verified:
    """Make the call, and compare it with ours.

    Args:
        convention: which one.
        attention: a layer's. Schemes of positions that act inside the attention take no part, on either side.
        query: (batch, query, d_model), what the layer's queries are made of.
        key: (batch, key, d_model), likewise; the same tensor in self-attention.
        mask: boolean (batch, query, key), True = may attend.
    """
    heads = attention.num_heads
    handed = convention.to(mask, heads)
    said = convention.back(handed, tuple(mask.shape), heads)
    lost = int((said != mask).sum())
    theirs = convention.call(attention, query, key, handed)
    ours = _ours(convention, attention, query, key, mask)
    ours_said = _ours(convention, attention, query, key, said) if lost else ours
    slipped = convention.call(attention, query, key, convention.slip(mask, heads))
    seeing, seeing_said = mask.any(-1), said.any(-1)
    off = (slipped - ours)[seeing].abs()
    return Verified(
        difference=_largest((theirs - ours)[seeing]),
        of_said=_largest((theirs - ours_said)[seeing_said]),
        lost=lost,
        empty=_given(theirs[~seeing_said], ours_said[~seeing_said]),
        slipped=_largest(off[~off.isnan()]),
        slipped_nan=int(off.isnan().any(-1).sum()),
        largest=_largest(ours),
    )


def _largest(values: Tensor) -> float:
    return float(values.abs().max()) if values.numel() else 0.0


def _given(theirs: Tensor, ours: Tensor) -> str:
    """What queries that may see nothing get."""
    if not theirs.numel():
        return ""
    if bool(theirs.isnan().any()):
        return "NaN"
    return "as ours" if torch.allclose(theirs, ours, atol=1e-6) else "other numbers"


def _ours(convention: Convention, attention: MultiHeadAttention, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
    with recording("*output") as trace:
        attention(query, key, mask=mask[:, None])
    (compared,) = (values for site, values in trace.items() if site.rpartition(".")[2] == convention.compares)
    return compared if convention.compares == "output" else merged(compared)
