"""What lessons measure on the page of the Heads lens."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tfm_ui.lenses.heads.panels import Head, Heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState

GOES_ON = "##"  # how BERT's vocabulary marks a piece that goes on a word
ROUNDING = 1e-5  # of a weight, whose row sums to 1


def changed_by_padding(model: ModelState, state: HeadsState) -> str:
    """Whether padding changes a weight between two tokens by more than rounding: "yes" or "no"."""
    return "yes" if moved_by_padding(model, state) > ROUNDING else "no"


def last_token(model: ModelState, state: HeadsState) -> str:
    """The last token that is read, as the page names it; "" if there is none."""
    heads = Heads(model, state)
    return heads.queries[heads.read - 1] if heads.read else ""


def moved_by_padding(model: ModelState, state: HeadsState) -> float:
    """The largest difference that padding makes to a weight between two tokens; 0 where nothing is padded."""
    if not padding(model, state):
        return 0.0
    padded, alone = (Heads(each, state) for each in (model, replace(model, seq_len=0)))
    pairs = ((padded.exact(*place), alone.exact(*place)) for place in alone.places)
    return max(float(np.abs(a[:, : b.shape[1]] - b).max(initial=0)) for a, b in pairs)


def padding(model: ModelState, state: HeadsState) -> int:
    """How many of the places hold padding."""
    return 0 if model.array else len(model.source_tokens.ids) - len(model.source_tokens.pieces)


def pieces_within_words(model: ModelState, state: HeadsState) -> int:
    """How many tokens go on a word that the token before has begun."""
    if model.array:
        return 0
    pieces, join = model.source_tokens.pieces, model.tokens_by.join
    pairs = [(before, piece) for before, piece in pairwise(pieces) if before[-1:].isalnum()]
    return sum(
        piece.removeprefix(GOES_ON)[:1].isalnum()
        and join([before, piece]).endswith(before.removeprefix(GOES_ON) + piece.removeprefix(GOES_ON))
        for before, piece in pairs
    )


def row_largest(model: ModelState, state: HeadsState) -> float:
    """The largest weight of the last token's row in the head on screen."""
    head = Head(model, state)
    return float(head.weights[head.read - 1].max()) if head.read else 0.0


MEASURES: Mapping[str, Callable[[ModelState, HeadsState], float | str]] = {
    measure.__name__: measure
    for measure in (
        changed_by_padding,
        last_token,
        moved_by_padding,
        padding,
        pieces_within_words,
        row_largest,
    )
}
