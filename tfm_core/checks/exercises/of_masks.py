"""Exercises of masks, True = may attend, and of padding."""

import torch
from torch import Generator, Tensor

from tfm_core.checks.exercises.beside import Beside, Call, Function, Slip, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.masks import basic, patterns
from tfm_core.study.exercise import PAD_ID
from tfm_core.study.mistakes import MISTAKES


def causal_mask(seq: int) -> Tensor:
    """Who may see whom, boolean (query, key): no query sees a later key."""
    places = torch.arange(seq)
    # blank: True where a key stands at the place of its query or before it; places[:, None] are those of queries
    return places <= places[:, None]


def padding_mask(ids: Tensor, pad_id: int = 0) -> Tensor:
    """Which keys are no padding, boolean (batch, 1, 1, key), of token ids (batch, seq)."""
    # blank: True for each token that is no padding, (batch, seq)
    is_token = ids != pad_id
    # blank: with an axis for heads and one for queries, so that each query of each head sees the same keys
    return is_token[:, None, None, :]


def window_mask(seq: int, window: int) -> Tensor:
    """A sliding window, boolean (query, key): each query sees itself and the keys before it, `window` in all."""
    places = torch.arange(seq)
    # blank: how far each key stands before its query, (query, key)
    back = places[:, None] - places
    # blank: True where a key is not ahead, and fewer than `window` tokens back
    return (back >= 0) & (back < window)


def mean_of_tokens(x: Tensor, is_token: Tensor) -> Tensor:
    """One vector for each sentence, (batch, d_model), of x (batch, seq, d_model); is_token (batch, seq) is a mask."""
    # blank: zeros in place of padding, (batch, seq, d_model)
    kept = x * is_token[..., None]
    # blank: how many tokens each sentence has, (batch, 1)
    count = is_token.sum(1, keepdim=True)
    return kept.sum(1) / count


def _sentences(generator: Generator) -> list[Call]:
    lengths = torch.tensor([5, 3, 1])
    return [(randn(generator, 3, 5, 4), torch.arange(5) < lengths[:, None])]


def _window(seq: int, window: int) -> Tensor:
    return patterns.window_mask(seq, window=window) & basic.causal_mask(seq)


def _padded(generator: Generator) -> list[Call]:
    ids = torch.randint(1, 10, (3, 6), generator=generator)
    padding = torch.arange(6) >= torch.tensor([5, 3, 6])[:, None]
    return [(ids.masked_fill(padding, pad), pad) for pad in (PAD_ID, 11)]


def _wrongly_causal(name: str) -> Function:
    wrong: Function = MISTAKES[name].wrong["causal"]
    return lambda seq: wrong(seq, seq)


def _wrongly_padded(name: str) -> Function:
    wrong: Function = MISTAKES[name].wrong["padding"]
    return lambda ids, pad_id: wrong(ids.masked_fill(ids == pad_id, PAD_ID), ids.shape[1])


INVERTED = "mask inverted"
CAUSAL = {  # mistake -> its cure here
    "diagonal hidden": "A query sees itself, too: <=, not <.",
    "next token visible": "The last key that a query sees is its own: nothing is added to the places of queries.",
    "looks ahead instead of back": "The keys that are seen stand before the query: <=, not >=.",
    "causal mask forgotten": "Compare the places of keys with those of queries, (query, key).",
}
PADDING = {
    "padding on the query axis": "The new axes stand before the keys: [:, None, None, :].",
    "first sentence’s padding for all": "Each sentence has its own row: keep the batch axis.",
    "padding mask forgotten": "Compare each id with pad_id.",
}
ATTEND = "True means “may attend” here: the mask is the opposite, so exchange True and False."
OF_MASKS = {
    "causal-mask": Coding(
        title="No looking ahead",
        task="Write the mask in which a query sees itself and all keys before it. True = may attend.",
        solution=causal_mask,
        check=Beside(
            name="causal_mask",
            right=basic.causal_mask,
            calls=lambda _: [(6,), (3,)],
            mistakes={**{name: _wrongly_causal(name) for name in CAUSAL}, INVERTED: lambda n: ~basic.causal_mask(n)},
            cures={**CAUSAL, INVERTED: ATTEND},
        ),
    ),
    "padding-mask": Coding(
        title="Padding is hidden",
        task="Write the mask that hides padding from all queries, with an axis for heads and one for queries, both of "
        "length 1. True = may attend.",
        solution=padding_mask,
        check=Beside(
            name="padding_mask",
            right=basic.padding_mask,
            calls=_padded,
            mistakes={
                **{name: _wrongly_padded(name) for name in PADDING},
                INVERTED: lambda ids, pad_id: ~basic.padding_mask(ids, pad_id),
            },
            slips=[
                Slip(
                    lambda ids, pad_id: basic.padding_mask(ids),
                    "It is right where padding is 0: pad_id is not used.",
                    "Compare the ids with pad_id.",
                ),
                Slip(
                    lambda ids, pad_id: (ids != pad_id)[:, None],
                    "The axis for heads, or that for queries, is missing.",
                    "Two new axes stand between the batch and the keys: [:, None, None, :].",
                ),
            ],
            cures={**PADDING, INVERTED: ATTEND},
        ),
    ),
    "window-mask": Coding(
        title="A sliding window",
        task="Write the mask of a causal window: each query sees itself and the few keys just before it. True = "
        "may attend.",
        solution=window_mask,
        check=Beside(
            name="window_mask",
            right=_window,
            calls=lambda _: [(8, 3), (5, 1), (4, 9)],
            mistakes={INVERTED: lambda seq, window: ~_window(seq, window)},
            slips=[
                Slip(
                    lambda seq, window: patterns.window_mask(seq, window=window),
                    "Queries see ahead: the window reaches to both sides.",
                    "A key that stands ahead has a negative distance: ask for at least 0, too.",
                ),
                Slip(
                    lambda seq, window: _window(seq, window + 1),
                    "The window is one token too wide: the query itself counts, too.",
                    "The largest distance is window − 1.",
                ),
            ],
            cures={INVERTED: ATTEND},
        ),
    ),
    "mean-of-tokens": Coding(
        title="A sentence as one vector",
        task="Write the mean of a sentence’s vectors. Padding must not count, neither in the sum nor in the number.",
        solution=mean_of_tokens,
        check=Beside(
            name="mean_of_tokens",
            right=lambda x, is_token: torch.stack(
                [vectors[kept].mean(0) for vectors, kept in zip(x, is_token, strict=True)]
            ),
            calls=_sentences,
            slips=[
                Slip(
                    lambda x, is_token: x.mean(1),
                    "Padding counts: the mean is of all places.",
                    "Multiply by the mask before the sum, and divide by the number of tokens.",
                ),
                Slip(
                    lambda x, is_token: (x * is_token[..., None]).mean(1),
                    "The sum leaves padding out, and its number is counted all the same.",
                    "Divide by is_token.sum(1, keepdim=True), not by the length.",
                ),
                Slip(
                    lambda x, is_token: (x * ~is_token[..., None]).sum(1) / is_token.sum(1, keepdim=True),
                    "Tokens become zeros, and padding stays: the mask is read inverted.",
                    "True means a token: multiply by is_token.",
                ),
            ],
        ),
    ),
}
