"""The same model twice, A and B, each with changes of its own, and what differs between the two.

Tokens are aligned by what they are: rows and columns stand in the order of the text as it is written, wherever the
model read them. What is kept does not grow with the number of heads, and of the residual stream only lengths are kept.
One pass of each side serves all layers and heads, and of an encoder-decoder both attentions of the decoder.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core import encode
from tfm_core.model.tokens import PAD_ID
from tfm_ui.lenses.attention.change.aligned import by_token, distances, in_either
from tfm_ui.lenses.attention.change.changes import edits, order, positions, possible, replaced, sizes
from tfm_ui.lenses.attention.change.kinds import Change, Weight
from tfm_ui.lenses.attention.change.leak import Leak
from tfm_ui.lenses.attention.change.rerun import EditFunction, Input, PassWeights, Side, final_text, rerun
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.learned import in_words
from tfm_ui.live.texts import texts_of
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True)
class Effect:
    """What differs between A and B whatever head is looked at. A pair of arrays is of A, then of B.

    Attributes:
        pass_weights: the weights of B's pass.
        places: a column of the residual stream each: "start", then the layer and the sub-layer that it stands after.
        moved: float32 (query, place), the length of the difference, ||x_B - x_A||.
        length: float32 (query, place), ||x_A||.
        probabilities: float32 (2, vocab), at the last token.
        last: the last token of the text that the model goes on with, from 0, in A and in B.
        leak: the first one of B.
        right: how many answers of the task are right in A and in B, see `Side`.
    """

    pass_weights: PassWeights
    places: list[str]
    moved: NDArray[np.float32]
    length: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    last: tuple[int, int]
    leak: Leak | None
    right: tuple[tuple[int, int] | None, tuple[int, int] | None]

    @property
    def right_in_words(self) -> str:
        """How many answers of the task are right, where that is known, as the end of a sentence; "" elsewhere."""
        a, b = self.right
        return f" Right: {in_words(a)} in A, {in_words(b)} in B." if a and b else ""

    @property
    def relative(self) -> NDArray[np.float32]:
        """(query, place), how far each vector moved as a share of its length in A."""
        return np.asarray(self.moved / np.maximum(self.length, 1e-30), np.float32)


@dataclass(frozen=True)
class Compared:
    """One head of A beside the same head of B.

    Attributes:
        effect: what differs beside this head.
        queries, keys: the tokens of the rows and columns, from 0, as the text is written.
        weights: float32 (2, query, key), of this head.
        visible: boolean (2, query, key), where the mask lets look.
        there: boolean (2, query, key), False where a token is dropped.
    """

    effect: Effect
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


def compared(model: ModelState, a: str, b: str, kind: str, layer: int, head: int) -> Compared:
    """The model with changes A beside the model with changes B.

    Args:
        model: the model, and the texts that it reads.
        a: changes, as in a link; those that this model does not allow are passed over.
        b: likewise.
        kind: of attention; any, of a single stack.
        layer: from 0.
        head: from 0.

    Raises:
        ValueError: if the model is `too_large`.
    """
    if reason := passes.too_large(model):
        raise ValueError(reason)
    return _compared(model, a, b, kind if model.is_encoder_decoder else "encoder", layer, head)


@cached()
def _compared(model: ModelState, a: str, b: str, kind: str, layer: int, head: int) -> Compared:
    kinds = ("encoder",) if kind == "encoder" else ("decoder", "cross")
    effect = _effect(model, a, b, kinds)
    sides = _side(model, a, kinds).pass_weights, effect.pass_weights
    queries, keys = ([side.positions[text] for side in sides] for text in texts_of(kind))
    rows, columns = in_either(queries), in_either(keys)
    aligned = [
        by_token(side.weights(kind, layer, head), side.heads[kind].visible, q[rows], k[columns])
        for side, q, k in zip(sides, queries, keys, strict=True)
    ]
    weights, visible, there = (np.stack(pair) for pair in zip(*aligned, strict=True))
    return Compared(effect, rows.tolist(), columns.tolist(), weights, visible, there)


@cached()
def _side(model: ModelState, changes: str, kinds: tuple[str, ...]) -> Side:
    return rerun(model, kinds, _input_of(model, possible(changes, model)))


@cached()
def _effect(model: ModelState, a: str, b: str, kinds: tuple[str, ...]) -> Effect:
    """Run the model with B's changes and keep what differs from A, which is kept: it stays while B is dragged."""
    changes = [possible(text, model) for text in (a, b)]
    side_a, side_b = _side(model, a, kinds), rerun(model, kinds, _input_of(model, changes[1]))
    places = [side.positions[texts_of(kinds[0])[0]] for side in (side_a, side_b)]
    rows = in_either(places)
    lengths = [distances(x, side_b.stream[site], *(at[rows] for at in places)) for site, x in side_a.stream.items()]
    moved, length = (np.stack(parts, -1) for parts in zip(*lengths, strict=True))
    text = final_text(model)
    last_a, last_b = (order(of_side, text, getattr(sizes(model), text))[-1] for of_side in changes)
    return Effect(
        pass_weights=side_b.pass_weights,
        places=[_name(site) for site in side_a.stream],
        moved=moved,
        length=length,
        probabilities=np.stack([side.logits.softmax(-1).numpy() for side in (side_a, side_b)]),
        last=(last_a, last_b),
        leak=_leak(model, kinds, changes[1], side_b),
        right=(side_a.right, side_b.right),
    )


def _input_of(model: ModelState, changes: Sequence[Change], other: tuple[str, int] | None = None) -> Input:
    """What the model reads with these changes, all of them possible.

    Args:
        model: the model.
        changes: what is done to it.
        other: a text, and a token of it from 0 in whose place another one is read.
    """
    ids, standing = {}, positions(changes, model)
    for text, tokens in (("source", model.source_tokens), ("target", model.target_tokens)):
        new_ids = list(tokens.ids)
        for token, piece in replaced(changes, text, model).items():
            new_ids[token] = encode(piece, model.tokens_by).ids[0]
        if other and other[0] == text:
            new_ids[other[1]] = _other_id(model, new_ids[other[1]])
        left = [new_ids[token] for token in order(changes, text, len(tokens.pieces))]
        ids[text] = torch.tensor([left + [PAD_ID] * (len(tokens.ids) - len(left))])
    weight_edits: dict[tuple[str, int, int], list[EditFunction]] = {}
    for change in changes:
        if isinstance(change, Weight):
            alone = replace(change, head=1).edit(standing)  # of weights that are those of its head alone
            weight_edits.setdefault((change.kind, change.layer - 1, change.head - 1), []).append(alone())
    made = {name: [call() for call in calls] for name, calls in edits(changes, model, standing).items()}
    return Input(ids, standing, made, weight_edits)


def _other_id(model: ModelState, token_id: int) -> int:
    """The id of any other token."""
    first, count = model.tokens_by.first_id, model.tokens_by.vocab_size
    return first + (token_id - first + 1) % (count - first)


def _leak(model: ModelState, kinds: Sequence[str], changes: Sequence[Change], side: Side) -> Leak | None:
    """The first weight that lets a token see a later one, and what comes of it: the later one is exchanged."""
    leaks = [change for change in changes if isinstance(change, Weight) and _sees_a_later_one(model, change, side)]
    if not leaks:
        return None
    change, more = leaks[0], len(leaks) - 1
    text = texts_of(change.kind)[0]
    if texts_of(kinds[0])[0] != text:  # the stream that is looked at is another one
        return Leak(change, more, None)
    query = side.positions[text][change.query - 1]
    after = rerun(model, kinds, _input_of(model, changes, other=(text, change.key - 1))).end[query]
    return Leak(change, more, ((after - side.end[query]).norm() / side.end[query].norm()).item())


def _sees_a_later_one(model: ModelState, change: Weight, side: Side) -> bool:
    looks_back = change.kind == "decoder" if model.is_encoder_decoder else model.looks_back_only
    standing = side.positions[texts_of(change.kind)[0]]
    return bool(change.weight and looks_back and standing[change.key - 1] > standing[change.query - 1])


def _name(site: str) -> str:
    """ "start", "1 attention", "1 cross", "1 FFN"."""
    if site.endswith("residual_before"):
        return "start"
    layer, sub_layer = site.split(".")[-3:-1]
    short = {"self_attention": "attention", "cross_attention": "cross", "feed_forward": "FFN"}
    return f"{int(layer) + 1} {short[sub_layer]}"
