"""The same model twice, A and B, each with changes of its own, and what differs between the two.

Tokens are aligned by what they are: rows and columns stand in the order of the text as it is written, wherever the
model read them. What is kept does not grow with the number of heads, and of the residual stream only lengths are kept.
One pass of each side serves all layers and heads, and of an encoder-decoder both attentions of the decoder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import recording
from tfm_core.study.interventions import in_turn
from tfm_ui.lenses.attention.changes import (
    Change,
    Places,
    Positions,
    Weight,
    changed_ids,
    edits_of,
    order,
    positions,
    possible,
    replacements,
)
from tfm_ui.live import origins, passes, places
from tfm_ui.live.cache import cached
from tfm_ui.live.learned import in_words, right_answers
from tfm_ui.live.origins import Heads
from tfm_ui.live.places import texts_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import Names

NOTHING = 1e-6  # what moves less than this, as a share, has not moved but for rounding


@dataclass(frozen=True)
class Side:
    """What one pass left behind."""

    heads: Mapping[str, Heads]
    """Kind of attention -> its heads, as the model computed them."""

    changes: Sequence[Change]
    """What was done in the pass; among it, what was done to the weights of some heads."""

    positions: Positions
    """Where each token of the texts stands."""

    stream: Mapping[str, Tensor]
    """Site -> (seq, d_model), the residual stream, from its start on."""

    logits: Tensor
    """(vocab), at the last token."""

    right: tuple[int, int] | None
    """How many answers of the task are right, and how many are asked for; None if nobody knows them."""

    def weights(self, kind: str, layer: int, head: int) -> NDArray[np.float32]:
        """(query, key), as the model went on with them; layer and head from 0."""
        edits = [
            replace(change, head=1).edit(self.positions)()  # of weights that are those of its head alone
            for change in self.changes
            if isinstance(change, Weight) and (change.kind, change.layer - 1, change.head - 1) == (kind, layer, head)
        ]
        weights = torch.from_numpy(self.heads[kind].exact(layer, head))
        return np.asarray(in_turn(*edits)(weights[None, None])[0, 0].numpy())


@dataclass(frozen=True)
class Leak:
    """A weight that was set where the mask forbids to look: a token sees a later one."""

    change: Weight
    """That weight."""

    more: int
    """How many other weights leak too."""

    moved: float | None
    """How far the query's output moves when the key's token is another one, as a share of its length; without the leak
    it could not depend on it at all. None if the query is of the text that is not looked at."""

    def in_words(self, names: Names) -> str:
        """Who sees whom, and what was measured."""
        query, key = (names.token(*token) for token in self.change.tokens())
        where = names.head(self.change.kind, self.change.layer, self.change.head)
        more = f"; {formats.plural(self.more, 'other weight')} of B leak{'s' if self.more == 1 else ''} too"
        leak = f"✕ A leak in B, {where}: {query} sees {key}, which comes later{more if self.more else ''}."
        if self.moved is None:
            return leak
        if self.moved < NOTHING:
            return f"{leak} Yet reading another token for {key} moves the output at {query} by nothing."
        return (
            f"{leak} Reading another token for {key} now moves the output at {query} by {formats.percent(self.moved)} "
            "of its length."
        )


@dataclass(frozen=True)
class Effect:
    """What differs between A and B whatever head is looked at. Pairs are of A, then of B."""

    sides: tuple[Side, Side]
    """Both, without their residual streams."""

    places: list[str]
    """A column of the residual stream each: "start", then the layer and the sub-layer that it stands after."""

    moved: NDArray[np.float32]
    """(query, place), the length of the difference, ||x_B - x_A||."""

    length: NDArray[np.float32]
    """(query, place), ||x_A||."""

    leak: Leak | None
    """The first one of B."""

    @cached_property
    def probabilities(self) -> NDArray[np.float32]:
        """(2, vocab), at the last token."""
        return np.stack([side.logits.softmax(-1).numpy() for side in self.sides])

    @property
    def right_in_words(self) -> str:
        """How many answers of the task are right, where that is known, as the end of a sentence; "" elsewhere."""
        a, b = (side.right for side in self.sides)
        return f" Right: {in_words(a)} in A, {in_words(b)} in B." if a and b else ""

    @property
    def relative(self) -> NDArray[np.float32]:
        """(query, place), how far each vector moved as a share of its length in A."""
        return np.asarray(self.moved / np.maximum(self.length, 1e-30), np.float32)


@cached()
def _side(model: ModelState, changes: str, kinds: tuple[str, ...]) -> Side:
    """The model with changes, as in a link; those that it does not allow are passed over."""
    return rerun(model, kinds, possible(changes, model))


@cached()
def effect_of(model: ModelState, a: str, b: str, kinds: tuple[str, ...]) -> Effect:
    """The model with changes A beside the model with changes B. A is kept by itself: it stays while B is dragged.

    Raises:
        ValueError: if the model is `too_large`.
    """
    if reason := passes.too_large(model):
        raise ValueError(reason)
    side_a, side_b = _side(model, a, kinds), rerun(model, kinds, possible(b, model))
    standing = [side.positions[texts_of(kinds[0])[0]] for side in (side_a, side_b)]
    rows = in_either(standing)
    lengths = [distances(x, side_b.stream[site], *(at[rows] for at in standing)) for site, x in side_a.stream.items()]
    moved, length = (np.stack(parts, -1) for parts in zip(*lengths, strict=True))
    return Effect(
        sides=(replace(side_a, stream={}), replace(side_b, stream={})),
        places=[_name(site) for site in side_a.stream],
        moved=moved,
        length=length,
        leak=_leak(model, kinds, side_b),
    )


def rerun(
    model: ModelState, kinds: Sequence[str], changes: Sequence[Change], other: tuple[str, int] | None = None
) -> Side:
    """One pass with changes: what comes of them, read in all heads and along the residual stream.

    Args:
        model: that runs.
        kinds: of the attentions that are looked at; they are of one stack, whose residual stream is looked at too.
        changes: what is done to it, all of it possible.
        other: a text, and a token of it from 0 in whose place another one is read.
    """
    ids, standing, as_written = {}, positions(changes, model), True
    for text, tokens in (("source", model.source_tokens), ("target", model.target_tokens)):
        left = order(changes, text, len(tokens.pieces))
        ids[text] = changed_ids(tokens, model.tokens_by, replacements(changes, text, model), left)
        if other and other[0] == text:
            at = int(standing[text][other[1]])
            ids[text][0, at] = _other_id(model, int(ids[text][0, at]))
        as_written = as_written and torch.equal(ids[text], tokens.batch)
    sites = [places.place(model, places.kind_of(model, kind)) for kind in kinds]
    layers = sites[0].split("{layer}")[0]
    stream_sites = [f"{layers}0.self_attention.residual_before", f"{layers}*.residual_after"]
    head_sites = [name for site in sites for name in (*origins.sites(site), _mask(site))]
    edits = {name: in_turn(*(call() for call in calls)) for name, calls in edits_of(changes, model).items()}
    with torch.no_grad(), recording(stream_sites, edits) as stream, recording(head_sites) as trace:
        logits = passes.forward(model, ids["source"], ids["target"])
    last = int(standing[final_text(model)].max())
    heads = {kind: _heads(model, trace, kind, site) for kind, site in zip(kinds, sites, strict=True)}
    right = right_answers(model, logits[0]) if as_written else None  # of another text nobody knows them
    streams = {name: x[0] for name, x in stream.items()}
    return Side(heads, changes, standing, streams, logits[0, last].clone(), right)


def _heads(model: ModelState, trace: Mapping[str, Tensor], kind: str, site: str) -> Heads:
    scheme = passes.scheme(model, places.kind_of(model, kind))
    made_of = origins.origins(trace, site, model.num_layers, scheme)
    shape = (1, 1, made_of[0].query.shape[-2], made_of[0].key.shape[-2])
    return Heads(made_of, trace[_mask(site)].expand(shape)[0, 0].contiguous().numpy())


def _mask(site: str) -> str:
    """The recording's name of the mask, which is alike in all layers."""
    return site.format(layer=0, what="mask")


def final_text(model: ModelState) -> str:
    """The text that the model goes on with."""
    return "target" if model.is_encoder_decoder else "source"


def _other_id(model: ModelState, token_id: int) -> int:
    """The id of any other token."""
    first, count = model.tokens_by.first_id, model.tokens_by.vocab_size
    return first + (token_id - first + 1) % (count - first)


def in_either(standing: Sequence[Places]) -> list[int]:
    """The tokens that stand somewhere in A or in B, from 0."""
    tokens: list[int] = np.flatnonzero((np.stack(standing) >= 0).any(0)).tolist()
    return tokens


def by_token(matrix: NDArray[Any], queries: Places, keys: Places) -> NDArray[Any]:
    """A matrix, (query, key), in the order of the written text; 0 where a token is dropped."""
    there = (queries >= 0)[:, None] & (keys >= 0)
    return np.where(there, matrix[np.ix_(queries, keys)], matrix.dtype.type(0))


def distances(a: Tensor, b: Tensor, in_a: Places, in_b: Places) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """||b - a|| and ||a|| of each token's vectors, 0 where it is not in both."""
    both = torch.from_numpy((in_a >= 0) & (in_b >= 0))
    old, new = a[torch.from_numpy(in_a)], b[torch.from_numpy(in_b)]
    return ((new - old).norm(dim=-1) * both).numpy(), (old.norm(dim=-1) * both).numpy()


def _leak(model: ModelState, kinds: Sequence[str], side: Side) -> Leak | None:
    """The first weight that lets a token see a later one, and what comes of it: the later one is exchanged."""
    leaks = [change for change in side.changes if isinstance(change, Weight) and _sees_a_later_one(model, change, side)]
    if not leaks:
        return None
    change, more = leaks[0], len(leaks) - 1
    text = texts_of(change.kind)[0]
    if texts_of(kinds[0])[0] != text:  # the stream that is looked at is another one
        return Leak(change, more, None)
    exchanged = rerun(model, kinds, side.changes, other=(text, change.key - 1))
    end, query = list(side.stream)[-1], side.positions[text][change.query - 1]
    before, after = (each.stream[end][query] for each in (side, exchanged))
    return Leak(change, more, ((after - before).norm() / before.norm()).item())


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
