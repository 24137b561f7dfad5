"""Answers to the questions of the Heads lens: computed from the heads on screen, and true of any model."""

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.heads.numbers import AllHeads, all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live.learned import UNKNOWN, where_to_look
from tfm_ui.live.passes import adds_bias
from tfm_ui.live.places import kind_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import places_of_largest


def first_row(model: ModelState, state: HeadsState) -> str:
    """Why the first row of a causal model is fixed."""
    shown = all_heads(model, state.kind)
    may_see = int(shown.visible_keys[0])
    if may_see == 1:
        return (
            f"“{shown.queries[0]}” may look at one token alone, itself. The softmax shares out exactly 1 in each row, "
            "so that one weight is 1 whatever the scores are, and training can only change scores."
        )
    return (
        f"Here it could: the first row may look at {may_see} tokens, as nothing hides later ones from it. "
        "A row of a single token is fixed, because the softmax always shares out exactly 1."
    )


def order_is_lost(model: ModelState, state: HeadsState) -> str:
    """Whether rows of one word differ, and what makes them differ."""
    shown = all_heads(model, state.kind)
    pairs = same_word(shown)
    if not pairs:
        return "No word stands in this text twice, so there are no rows to compare."
    apart = max(_rows_apart(shown, a, b) for a, b in pairs)
    if apart == 0:
        return (
            "It could not: rows of the same word have the same weights, to the last digit, in every head. Without "
            "positions and without a mask, a query knows only which word it is, not where it stands."
        )
    by = [*(["the positions"] if model.positional != "none" else []), *(["the mask"] if model.looks_back_only else [])]
    return (
        f"By {formats.listed(by)}: rows of the same word differ by up to {formats.weight(apart)}. "
        "What differs between them is where the word stands, and that is enough to tell who saw whom."
    )


def ahead(model: ModelState, state: HeadsState) -> str:
    """How much weight goes to later tokens."""
    share = weight_ahead(model, state)
    if share == 0:
        return (
            "Nothing here looks ahead: no weight goes to a later token. That is what predicting the next token needs, "
            "because a model that sees it has only to copy it."
        )
    return (
        f"Of all weight on screen {formats.percent(share)} goes to later tokens. In predicting the next token that "
        "would be cheating: the answer stands in the text. In translating or classifying a text that is there as a "
        "whole, it is allowed."
    )


def weight_ahead(model: ModelState, state: HeadsState) -> float:
    """The share of all weight that goes to tokens after the query, over all heads and the rows of tokens."""
    shown = all_heads(model, state.kind)
    total = ahead = 0.0
    for weights in _exact(shown):
        total += float(weights.sum())
        ahead += float(np.triu(weights, 1).sum())
    return ahead / total if total else 0.0


def sharpest_and_bluntest(model: ModelState, state: HeadsState) -> str:
    """The heads whose rows are the sharpest and the bluntest."""
    shown = all_heads(model, state.kind)
    top = _mean_top(shown)
    if top is None:
        return "No token has a choice here: each may look at one at most, so all heads are alike."
    low, high = np.unravel_index(top.argmin(), top.shape), np.unravel_index(top.argmax(), top.shape)
    width = model.d_model // model.num_heads
    if top[high] < 1.01 * top[low]:
        return "They are alike: in each head, the largest weight of a row is the same on average."
    return (
        f"They differ{model.if_random(', though nobody trained them')}. "
        f"The sharpest is {_named(high)}: the largest weight of its rows is "
        f"{formats.weight(top[high])} on average. The bluntest is {_named(low)}, with {formats.weight(top[low])}. "
        f"Each compares tokens by {formats.plural(width, 'number')}"
        f"{model.if_random(', and its weights were drawn by themselves')}."
    )


def sharpest(model: ModelState, state: HeadsState) -> str:
    """The name of the sharpest head."""
    top = _mean_top(all_heads(model, state.kind))
    return "none" if top is None else _named(np.unravel_index(places_of_largest(top)[0], top.shape))


def sight(model: ModelState, state: HeadsState) -> str:
    """How far the most short-sighted head looks, and the most far-sighted."""
    shown = all_heads(model, state.kind)
    if not shown.same_text:
        return "Queries and keys are two texts here, so there is no distance between them."
    table = shown.table()["distance"].to_numpy().reshape(shown.kept.largest.shape)
    low, high = np.unravel_index(table.argmin(), table.shape), np.unravel_index(table.argmax(), table.shape)
    why = (
        "Each head has a slope of its own, and a steep slope takes more from the scores of far keys."
        if model.positional == "alibi"
        else f"No slope makes them so: ALiBi is not chosen, and T5’s bias is {model.if_random('random', 'learned')}."
        if adds_bias(model)
        else "No slope makes them so: only ALiBi has one for each head. "
        f"Their weights {model.if_random('were drawn at random', 'come from training')}."
    )
    return (
        f"The most short-sighted is {_named(low)}: its weight lies {table[low]:.1f} tokens away on average. "
        f"{_named(high).capitalize()} looks furthest, {table[high]:.1f} tokens. {why}"
    )


def two_texts(model: ModelState, state: HeadsState) -> str:
    """Why cross-attention needs no causal mask."""
    shown = all_heads(model, state.kind)
    hidden = int((~shown.attention.visible[: shown.attention.read]).sum())
    if shown.same_text:
        return (
            "On screen queries and keys are the same text. Choose an encoder-decoder and the attention “cross” to see "
            "how one text looks at another."
        )
    if hidden:
        return f"Not every cell is free: {formats.count(hidden)} lead to padding, which is no part of the text."
    return (
        "The text that is looked at is there as a whole before the first word is written. Only the decoder’s own words "
        "have to be hidden from each other, and that is done in its self-attention."
    )


def looks_where_it_should(model: ModelState, state: HeadsState) -> str:
    """The head that looks most where each pattern of the task says, and the share of its weight there."""
    shown = all_heads(model, state.kind)
    patterns = where_to_look(model, kind_of(model, state.kind))
    if not patterns:
        return f"{UNKNOWN} Here no head has a place where it should look."
    said = []
    for pattern in patterns:
        scores = np.array([pattern.score(weights) for weights in _exact(shown)]).reshape(shown.kept.largest.shape)
        best = np.unravel_index(scores.argmax(), scores.shape)
        said.append(
            f"{pattern.pattern.why} {_named(best).capitalize()} gives {formats.share(float(scores[best]))} of its "
            f"weight to these places, over the rows that have such places; spread evenly it would be "
            f"{formats.share(pattern.even(shown.attention.visible))}."
        )
    return " ".join(said)


def best_layer(model: ModelState, state: HeadsState) -> str:
    """The layer with the head that looks most where it should, by the first pattern of the task; "none" without one."""
    shown = all_heads(model, state.kind)
    patterns = where_to_look(model, kind_of(model, state.kind))
    if not patterns:
        return "none"
    scores = [patterns[0].score(weights) for weights in _exact(shown)]
    return f"layer {int(np.argmax(scores)) // model.num_heads + 1}"


def same_word(shown: AllHeads) -> list[tuple[int, int]]:
    """Pairs of rows, from 0, that are the same word: each with the first of them."""
    first: dict[int, int] = {}
    ids = shown.model.target_tokens.ids if shown.place.startswith("decoder") else shown.model.source_tokens.ids
    pairs = []
    for row, number in enumerate(ids[: shown.attention.read]):
        if number in first:
            pairs.append((first[number], row))
        first.setdefault(number, row)
    return pairs


def _rows_apart(shown: AllHeads, a: int, b: int) -> float:
    return max(float(np.abs(weights[a] - weights[b]).max()) for weights in _exact(shown))


def _exact(shown: AllHeads) -> list[NDArray[np.float32]]:
    """Each head's weights, float32 (query, key), without rows of padding."""
    layers, heads = shown.kept.largest.shape
    read = shown.attention.read
    return [shown.attention.exact(layer, head)[:read] for layer in range(layers) for head in range(heads)]


def _mean_top(shown: AllHeads) -> NDArray[np.float32] | None:
    """The mean of the rows' largest weights, (layer, head), over the rows that have a choice."""
    read = shown.attention.read
    free = shown.visible_keys[:read] > 1
    if not free.any():
        return None
    means: NDArray[np.float32] = shown.kept.first[:, :, :read][:, :, free].mean(-1)
    return means


def _named(at: tuple[np.intp, ...]) -> str:
    layer, head = at
    return f"layer {layer + 1}, head {head + 1}"
