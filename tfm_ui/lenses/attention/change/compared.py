"""The same model twice, A and B, each with changes of its own, and what differs between the two.

Tokens are aligned by what they are: rows and columns stand in the order of the text as it is written, wherever the
model read them. What is kept does not grow with the number of heads, and of the residual stream only lengths are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.lenses.attention.change.feasible import order
from tfm_ui.lenses.attention.change.grammar import Change, Weight
from tfm_ui.lenses.attention.change.rerun import Bench, Looks, Side, looks_back_only, sizes
from tfm_ui.live.texts import texts_of


@dataclass(frozen=True)
class Leak:
    """A weight that was set where the mask forbids to look.

    Attributes:
        change: that weight.
        more: how many other weights leak too.
        moved: how far the query's output moves when the key's token is another one, as a share of its length; without
            the leak it could not depend on it at all. None if the query is of the text that is not looked at.
    """

    change: Weight
    more: int
    moved: float | None


@dataclass(frozen=True, kw_only=True)
class Differs:
    """What differs between A and B whatever head is looked at. A pair of arrays is of A, then of B.

    Attributes:
        places: a column of the residual stream each: "start", then the layer and the sub-layer behind which it is.
        moved: float32 (query, place), the length of the difference, ||x_B - x_A||.
        length: float32 (query, place), ||x_A||.
        probabilities: float32 (2, vocab), at the last token.
        last: the last token of the text that the model goes on with, from 0, in A and in B.
        leak: the first one of B.
    """

    places: list[str]
    moved: NDArray[np.float32]
    length: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    last: tuple[int, int]
    leak: Leak | None

    @property
    def relative(self) -> NDArray[np.float32]:
        """(query, place), how far each vector moved as a share of its length in A."""
        return np.asarray(self.moved / np.maximum(self.length, 1e-30), np.float32)


@dataclass(frozen=True, kw_only=True)
class Effect(Differs):
    """What B's changes come to: that, and B's heads.

    Attributes:
        looks: who looks at whom in B.
    """

    looks: Looks


@dataclass(frozen=True, kw_only=True)
class Compared(Differs):
    """A beside B: that, and one head of both.

    Attributes:
        queries, keys: the tokens of the rows and columns, from 0, as the text is written.
        weights: float32 (2, query, key), of one head.
        visible: boolean (2, query, key), where the mask lets look.
        there: boolean (2, query, key), False where a token is dropped.
    """

    queries: list[int]
    keys: list[int]
    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]
    there: NDArray[np.bool_]

    @property
    def difference(self) -> NDArray[np.float32]:
        """(query, key), B - A."""
        return np.asarray(self.weights[1] - self.weights[0])

    @property
    def both(self) -> NDArray[np.bool_]:
        """(query), whether the token of the row is there in A and in B."""
        return np.asarray(self.there.any(-1).all(0))


def effect(bench: Bench, a: Sequence[Change], b: Sequence[Change], side_a: Side) -> Effect:
    """Run the model with B's changes and keep what differs from A.

    Args:
        bench: the model.
        a: changes, all of them possible.
        b: likewise.
        side_a: what `bench.run(a)` left: it stays the same while B is dragged.
    """
    side_b = bench.run(b)
    at = [side.at[bench.text] for side in (side_a, side_b)]
    rows = _in_either(at)
    old, new = (places[rows] for places in at)
    lengths = [_moved(x, side_b.stream[site], old, new) for site, x in side_a.stream.items()]
    moved, length = (np.stack(parts, -1) for parts in zip(*lengths, strict=True))
    pieces = getattr(sizes(bench.state), bench.final_text)
    return Effect(
        looks=side_b.looks,
        places=[_name(site) for site in side_a.stream],
        moved=moved,
        length=length,
        probabilities=np.stack([side.logits.softmax(-1).numpy() for side in (side_a, side_b)]),
        last=(order(a, bench.final_text, pieces)[-1], order(b, bench.final_text, pieces)[-1]),
        leak=_leak(bench, b, side_b),
    )


def compare(a: Looks, effect: Effect, kind: str, layer: int, head: int) -> Compared:
    """One head of A beside B.

    Args:
        a: who looks at whom in A.
        effect: of what makes B of A.
        kind: of attention, of the stack that the effect was read in.
        layer: from 0.
        head: from 0.
    """
    sides = a, effect.looks
    queries, keys = ([side.at[text] for side in sides] for text in texts_of(kind))
    rows, columns = _in_either(queries), _in_either(keys)
    aligned = [
        _aligned(side.weights(kind, layer, head), side.heads[kind].visible, q[rows], k[columns])
        for side, q, k in zip(sides, queries, keys, strict=True)
    ]
    weights, visible, there = (np.stack(pair) for pair in zip(*aligned, strict=True))
    return Compared(
        queries=rows.tolist(),
        keys=columns.tolist(),
        weights=weights,
        visible=visible,
        there=there,
        **{field.name: getattr(effect, field.name) for field in fields(Differs)},
    )


def _in_either(at: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
    """The tokens that stand somewhere in A or in B, from 0."""
    return np.flatnonzero((np.stack(at) >= 0).any(0))


def _leak(bench: Bench, changes: Sequence[Change], side: Side) -> Leak | None:
    """The first weight that lets a token see a later one, and what comes of it: the later one is exchanged."""
    leaks = [change for change in changes if isinstance(change, Weight) and _sees_a_later_one(bench, change, side)]
    if not leaks:
        return None
    change, more = leaks[0], len(leaks) - 1
    text = texts_of(change.kind)[0]
    if bench.text != text:  # the stream that is looked at is another one
        return Leak(change, more, None)
    query = side.at[text][change.query - 1]
    after = bench.run(changes, other=(text, change.key - 1)).end[query]
    return Leak(change, more, ((after - side.end[query]).norm() / side.end[query].norm()).item())


def _sees_a_later_one(bench: Bench, change: Weight, side: Side) -> bool:
    if not change.weight or not looks_back_only(bench.state, change.kind):
        return False
    at = side.at[texts_of(change.kind)[0]]
    return bool(at[change.key - 1] > at[change.query - 1])


def _aligned(
    weights: NDArray[np.float32], visible: NDArray[np.bool_], queries: NDArray[np.intp], keys: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
    """Weights, visibility, and whether both tokens are there, (query, key) in the order of the written text."""
    there = (queries >= 0)[:, None] & (keys >= 0)
    pick = np.ix_(queries, keys)
    return np.where(there, weights[pick], np.float32(0)), visible[pick] & there, there


def _moved(
    a: Tensor, b: Tensor, in_a: NDArray[np.intp], in_b: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """||x_B - x_A|| and ||x_A|| of each token, 0 where it is not in both."""
    both = torch.from_numpy((in_a >= 0) & (in_b >= 0))
    old, new = a[torch.from_numpy(in_a)], b[torch.from_numpy(in_b)]
    return ((new - old).norm(dim=-1) * both).numpy(), (old.norm(dim=-1) * both).numpy()


def _name(site: str) -> str:
    """ "start", "1 attention", "1 cross", "1 FFN"."""
    if site.endswith("residual_before"):
        return "start"
    layer, sub_layer = site.split(".")[-3:-1]
    short = {"self_attention": "attention", "cross_attention": "cross", "feed_forward": "FFN"}
    return f"{int(layer) + 1} {short[sub_layer]}"
