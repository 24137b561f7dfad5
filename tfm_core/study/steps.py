"""The steps of a transformer's layer, from token ids to the loss, as a table; each is made of exchangeable pieces.

A piece is a function: how embeddings are scaled, what a score is divided by, which axis the softmax runs over. Exchange
one of the right ones (`pieces.py`), and each later step is what somebody gets who made that mistake (`mistakes.py`).
Results are kept by the pieces that they depend on, so that many exchanges share what they have in common.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from tfm_core.study.exercise import Exercise, given
from tfm_core.study.pieces import POST, RIGHT, Pieces, relu


@dataclass(frozen=True)
class Step:
    """A step of the table.

    Attributes:
        axes: of its result.
        reads: the steps before, and the given tensors, that it is computed of.
        uses: the pieces.
        compute: (exercise, pieces, what it reads, in order) -> the result.
        about: what it is, in a few words.
    """

    axes: tuple[str, ...]
    reads: tuple[str, ...]
    uses: tuple[str, ...]
    compute: Callable[..., Any]
    about: str = ""


TOKENS = ("batch", "token", "dimension")
HEADS = ("batch", "head", "token", "head dimension")
PAIRS = ("batch", "head", "query", "key")


def _linear(x: str, letter: str) -> Step:
    return Step(
        TOKENS,
        (x, f"W_{letter}", f"b_{letter}"),
        ("weight", "shift"),
        lambda _, pieces, x, weight, shift: x @ pieces["weight"](weight).mT + pieces["shift"](shift),
    )


def _normed(exercise: Exercise, pieces: Pieces, gain: Tensor, shift: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda x: pieces["norm"](x, pieces["gain"](gain), shift, exercise.eps)


def _heads(at: int) -> Callable[..., Tensor]:
    return lambda _, pieces, heads: heads[at]


def _in_heads(exercise: Exercise, pieces: Pieces, *projected: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (the last tokens, where the others are cached), keys and values of each head."""
    if exercise.positional == "RoPE":
        projected = pieces["rotate_before"](*projected)
    query, key, value = (pieces["split"](x, exercise.num_heads) for x in pieces["roles"](*projected))
    if exercise.positional == "RoPE":
        # keys are turned from 0 on; a query stands where its key does
        query, key, value = pieces["rotate"](query[..., exercise.cached :, :], key, value, exercise.cached)
        return query, key, value
    return query[..., exercise.cached :, :], key, value


def _scores(exercise: Exercise, pieces: Pieces, products: Tensor) -> Tensor:
    scores: Tensor = pieces["scale"](products, exercise.head_dim, exercise.d_model)
    if exercise.positional == "ALiBi":
        scores = pieces["bias"](scores, pieces["slopes"](exercise.num_heads).to(scores))
    return scores


def _mask(exercise: Exercise, pieces: Pieces, ids: Tensor) -> Tensor:
    queries, keys = exercise.queries, exercise.seq
    mask = torch.ones(1, 1, queries, keys, dtype=torch.bool)
    if exercise.is_causal:
        mask = mask & pieces["causal"](queries, keys)
    if exercise.has_padding:
        mask = mask & pieces["padding"](ids, queries)
    polar: Tensor = pieces["polarity"](mask.expand(len(ids), 1, queries, keys))
    return polar


def _weights(exercise: Exercise, pieces: Pieces, masked: Tensor, mask: Tensor) -> Tensor:
    weights = pieces["empties"](pieces["normalise"](masked), masked)
    used: Tensor = pieces["after_softmax"](weights, mask)
    return used


def _positions(exercise: Exercise, pieces: Pieces) -> Tensor:
    """The table that is added: zeros where positions enter elsewhere."""
    if exercise.positional != "sines":
        return torch.zeros(exercise.seq, exercise.d_model)
    table: Tensor = pieces["encode"](exercise.seq, exercise.d_model)
    return table


STEPS: dict[str, Step] = {
    "scaled embedding": Step(
        TOKENS,
        ("embedding", "ids"),
        ("embed",),
        lambda _, pieces, table, ids: pieces["embed"](table, ids),
        "the tokens’ rows of the embedding, times √d_model",
    ),
    "positional encoding": Step(("token", "dimension"), (), ("encode",), _positions, "the table of sines and cosines"),
    "x": Step(
        TOKENS,
        ("scaled embedding", "positional encoding"),
        ("join",),
        lambda _, pieces, x, encoding: pieces["join"](x, encoding.to(x)),
        "the layer’s input: embedding and position",
    ),
    "attention input": Step(
        TOKENS,
        ("x", "gain_1", "shift_1"),
        ("before", "norm", "gain"),
        lambda exercise, pieces, x, *affine: pieces["before"](x, _normed(exercise, pieces, *affine)),
        "what the attention reads: under pre-norm LayerNorm(x), under post-norm x",
    ),
    "query": _linear("attention input", "Q"),
    "key": _linear("attention input", "K"),
    "value": _linear("attention input", "V"),
    "in heads": Step(
        (), ("query", "key", "value"), ("roles", "split", "rotate", "rotate_before"), _in_heads
    ),  # three tensors at once
    "query of each head": Step(
        HEADS, ("in heads",), (), _heads(0), "queries in heads, turned by their positions under RoPE"
    ),
    "key of each head": Step(
        HEADS, ("in heads",), (), _heads(1), "keys in heads, turned by their positions under RoPE"
    ),
    "value of each head": Step(HEADS, ("in heads",), (), _heads(2), "values in heads"),
    "products": Step(
        PAIRS,
        ("query of each head", "key of each head"),
        ("product",),
        lambda _, pieces, query, key: pieces["product"](query, key),
        "q · k of each pair",
    ),
    "scores": Step(
        PAIRS,
        ("products",),
        ("scale", "bias", "slopes"),
        _scores,
        "q · k / √d_k, and ALiBi’s bias where it is used; before the mask",
    ),
    "mask": Step(
        PAIRS, ("ids",), ("causal", "padding", "polarity"), _mask, "boolean (batch, 1, query, key), True = may attend"
    ),
    "masked scores": Step(
        PAIRS,
        ("scores", "mask"),
        ("hide", "fill"),
        lambda _, pieces, scores, mask: pieces["hide"](scores, mask, pieces["fill"]()),
        "the scores, −∞ where a pair may not attend",
    ),
    "weights": Step(
        PAIRS,
        ("masked scores", "mask"),
        ("normalise", "empties", "after_softmax"),
        _weights,
        "softmax of the masked scores over the keys",
    ),
    "head outputs": Step(
        HEADS,
        ("weights", "value of each head"),
        ("gather",),
        lambda _, pieces, weights, value: pieces["gather"](weights, value),
        "weights times values, head by head",
    ),
    "merged heads": Step(
        TOKENS,
        ("head outputs",),
        ("merge",),
        lambda _, pieces, heads: pieces["merge"](heads),
        "the heads side by side",
    ),
    "output": Step(
        TOKENS,
        ("merged heads", "W_O", "b_O"),
        ("project", "weight", "shift"),
        lambda _, pieces, x, weight, shift: pieces["project"](x, pieces["weight"](weight), pieces["shift"](shift)),
        "the attention’s output, after W_O",
    ),
    "after attention": Step(
        TOKENS,
        ("x", "attention input", "output", "gain_1", "shift_1"),
        ("residual", "after", "norm", "gain"),
        lambda exercise, pieces, x, read, output, *affine: pieces["after"](
            pieces["residual"](x, read)[:, exercise.cached :], output, _normed(exercise, pieces, *affine)
        ),
        "the residual stream after the attention",
    ),
    "feed-forward input": Step(
        TOKENS,
        ("after attention", "gain_2", "shift_2"),
        ("before", "norm", "gain"),
        lambda exercise, pieces, x, *affine: pieces["before"](x, _normed(exercise, pieces, *affine)),
        "what the feed-forward network reads: under pre-norm normed",
    ),
    "hidden units": Step(
        ("batch", "token", "hidden unit"),
        ("feed-forward input", "W_1", "b_1"),
        ("activation", "shift"),
        lambda _, pieces, x, weight, shift: pieces["activation"](x @ weight.mT + pieces["shift"](shift)),
        "the feed-forward network’s hidden units, after the activation",
    ),
    "layer output": Step(
        TOKENS,
        ("after attention", "feed-forward input", "hidden units", "W_2", "b_2", "gain_2", "shift_2"),
        ("residual", "after", "norm", "gain", "shift"),
        lambda exercise, pieces, x, read, hidden, weight, shift, *affine: pieces["after"](
            pieces["residual"](x, read), hidden @ weight.mT + pieces["shift"](shift), _normed(exercise, pieces, *affine)
        ),
        "the residual stream after the whole layer",
    ),
    "stack output": Step(
        TOKENS,
        ("layer output", "gain_final", "shift_final"),
        ("last", "norm", "gain"),
        lambda exercise, pieces, x, *affine: pieces["last"](x, _normed(exercise, pieces, *affine)),
        "the stack’s output: under pre-norm LayerNorm of the layer’s output",
    ),
    "logits": Step(
        ("batch", "token", "vocabulary"),
        ("stack output", "embedding"),
        ("unembed",),
        lambda _, pieces, x, table: pieces["unembed"](x, table),
        "a score for each token of the vocabulary",
    ),
    "loss": Step(
        (),
        ("logits", "ids"),
        ("loss",),
        lambda exercise, pieces, logits, ids: pieces["loss"](logits, ids[:, exercise.cached :]),
        "mean cross-entropy of the next tokens, without padding",
    ),
}


@cache
def pieces_of(step: str) -> frozenset[str]:
    """The pieces that a step's result depends on, those of the steps before included."""
    before_it = [pieces_of(read) for read in STEPS[step].reads if read in STEPS]
    return frozenset(STEPS[step].uses).union(*before_it)


class Steps:
    """The steps of an exercise, computed when asked for, under any exchange of pieces.

    Args:
        exercise: whose steps.
        starts: tensors in place of the exercise's own, by name, such as a reader's W_Q.
        dtype: the float type that everything is computed in.
    """

    def __init__(
        self, exercise: Exercise, starts: Mapping[str, Tensor] | None = None, dtype: torch.dtype = torch.float64
    ) -> None:
        self.exercise = exercise
        self.given = {
            name: tensor.to(dtype) if tensor.is_floating_point() else tensor
            for name, tensor in {**given(exercise), **(starts or {})}.items()
        }
        self.right: Pieces = {**RIGHT, **(POST if exercise.norm == "post" else {})}
        if exercise.activation == "relu":
            self.right = {**self.right, "activation": relu}
        self._kept: dict[tuple[Any, ...], Any] = {}

    def value(self, step: str, exchanged: Pieces | None = None) -> Any:
        """A step's result, with the step's axes; where pieces are exchanged, what comes of that.

        Raises:
            RuntimeError: of torch, where exchanged pieces do not fit each other.
        """
        if step in self.given:
            return self.given[step]
        concerned = pieces_of(step)
        exchanged = {name: piece for name, piece in (exchanged or {}).items() if name in concerned}
        key = (step, *((name, exchanged[name]) for name in sorted(exchanged)))
        if key not in self._kept:
            entry = STEPS[step]
            read = [self.value(name, exchanged) for name in entry.reads]
            self._kept[key] = entry.compute(self.exercise, {**self.right, **exchanged}, *read)
        return self._kept[key]

    def forget(self, step_of: Pieces) -> None:
        """Drop what was kept under these exchanges and others together."""
        pieces = set(step_of.items())
        for key in [key for key in self._kept if pieces <= set(key[1:])]:
            del self._kept[key]
