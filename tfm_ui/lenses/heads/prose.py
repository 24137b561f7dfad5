"""Answers about heads of a language model: where they look in a text, measured, and true of any model."""

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.heads.numbers import AllHeads, all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.head_sentences import behind_earlier
from tfm_ui.text.ties import places_of_largest

TWO_TEXTS = "Queries and keys are two texts here, so no key stands before its query."


def looks_at_previous(model: ModelState, state: HeadsState) -> str:
    """The weight of the token before in the head on screen, beside an even spread, and the head with the most."""
    shown = all_heads(model, state.kind)
    if not shown.same_text:
        return TWO_TEXTS
    if shown.attention.read < 2:
        return "There is a single token, and none before it."
    weights = _weights(shown)
    share, even = _previous(weights), _previous(_even(shown))
    at = _on_screen(shown, state)
    best = np.unravel_index(places_of_largest(share)[0], share.shape)
    rows = formats.plural(shown.attention.read - 1, "row")
    most = int((weights[at].argmax(-1)[1:] == np.arange(shown.attention.read - 1)).sum())
    other = (
        "No head here gives more."
        if share[best] <= share[at]
        else f"{_named(best).capitalize()} gives the most here, {formats.percent(float(share[best]))}."
    )
    return (
        f"{_named(at).capitalize()} gives the token before {formats.percent(float(share[at]))} of its weight, and in "
        f"{most} of {rows} more than any other; spread evenly it would be {formats.percent(float(even))}. {other}"
    )


def percent_on_previous(model: ModelState, state: HeadsState) -> float:
    """The share of weight of the token before in the head on screen, in percent."""
    shown = all_heads(model, state.kind)
    if not shown.same_text or shown.attention.read < 2:
        return 0.0
    return round(100 * float(_previous(_weights(shown))[_on_screen(shown, state)]), 1)


def looks_at_first(model: ModelState, state: HeadsState) -> str:
    """The number of heads in which most rows look at the first token, and the largest mean share it gets in one."""
    shown = all_heads(model, state.kind)
    rows = _with_a_choice(shown)
    if not len(rows):
        return "No token has a choice here: each may look at one at most."
    shares = _weights(shown)[:, :, rows, 0].mean(-1)
    best = np.unravel_index(places_of_largest(shares)[0], shares.shape)
    even = formats.percent(float(_even(shown)[rows, 0].mean()))
    return (
        f"In {heads_on_first(model, state)} of {formats.plural(shares.size, 'head')} most rows look more at "
        f"“{shown.keys[0]}” than at any other token; rows without a choice are left out. "
        f"{_named(best).capitalize()} gives it the most, {formats.percent(float(shares[best]))} on average; spread "
        f"evenly it would be {even}. A softmax must share out 1 in every row: a head that finds nothing can leave its "
        "weight at a token that everybody sees, and what it then writes can be the same for all."
    )


def heads_on_first(model: ModelState, state: HeadsState) -> int:
    """The number of heads in which more than half of the rows that have a choice look most at the first token."""
    shown = all_heads(model, state.kind)
    rows = _with_a_choice(shown)
    first = _weights(shown)[:, :, rows].argmax(-1) == 0
    return int((2 * first.sum(-1) > len(rows)).sum())


def looks_behind(model: ModelState, state: HeadsState) -> str:
    """The weight, in heads, of the token that followed the row's own token when that last stood in the text."""
    shown = all_heads(model, state.kind)
    if not shown.same_text:
        return TWO_TEXTS
    cells = behind_earlier(shown.ids)
    rows = np.flatnonzero(cells.any(-1))
    if not len(rows):
        return "No token stands in this text twice, so nothing came after an earlier one of the same kind."
    share = _on(_weights(shown), cells, rows)
    even = float(_on(_even(shown)[None, None], cells, rows)[0, 0])
    at, best = _on_screen(shown, state), np.unravel_index(places_of_largest(share)[0], share.shape)
    verdict = "it does look there" if share[at] > 2 * even else "it hardly looks there"
    return (
        f"In {formats.plural(len(rows), 'row')} the token has stood before. {_named(at).capitalize()} gives "
        f"{formats.percent(float(share[at]))} of its weight to what came after it, where an even spread would give "
        f"{formats.percent(even)}: {verdict}. The most, {formats.percent(float(share[best]))}, comes from "
        f"{_named(best)}. A head that looks there can copy what came last time; whether the model does, only its "
        "output tells."
    )


def _on(weights: NDArray[np.float32], cells: NDArray[np.bool_], rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """The share of each head's weight on these cells, (layer, head), over these rows."""
    shares: NDArray[np.float32] = np.where(cells, weights, 0).sum(-1)[..., rows].mean(-1)
    return shares


def _weights(shown: AllHeads) -> NDArray[np.float32]:
    """All weights among the tokens, (layer, head, query, key)."""
    (layers, heads), read = shown.kept.largest.shape, shown.attention.read
    keys = read if shown.same_text else len(shown.keys)
    return np.stack(
        [[shown.attention.exact(layer, head)[:read, :keys] for head in range(heads)] for layer in range(layers)]
    )


def _even(shown: AllHeads) -> NDArray[np.float32]:
    """The weights of a head that looks alike at all keys that it may see, (query, key)."""
    read = shown.attention.read
    visible = shown.attention.visible[:read, : read if shown.same_text else None]
    even: NDArray[np.float32] = (visible / visible.sum(-1, keepdims=True).clip(min=1)).astype(np.float32)
    return even


def _previous(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean weight on the token before, over all rows but the first, (...)."""
    means: NDArray[np.float32] = np.asarray(weights.diagonal(-1, -2, -1).mean(-1))
    return means


def _with_a_choice(shown: AllHeads) -> NDArray[np.intp]:
    """The rows of tokens that may look at more than one."""
    return np.flatnonzero(shown.visible_keys[: shown.attention.read] > 1)


def _on_screen(shown: AllHeads, state: HeadsState) -> tuple[int, int]:
    """Layer and head, from 0."""
    layers, heads = shown.kept.largest.shape
    return min(state.layer, layers) - 1, min(state.head, heads) - 1


def _named(at: tuple[int | np.intp, ...]) -> str:
    layer, head = at
    return f"layer {layer + 1}, head {head + 1}"
