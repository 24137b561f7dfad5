"""What a model allows of changes, and what these do to the texts. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from tfm_ui.lenses.attention.change.grammar import OF_TEXT, Change, Drop, Replace, Swap, Weight, Zero
from tfm_ui.live.texts import texts_of


@dataclass(frozen=True)
class Sizes:
    """What a model leaves to be changed: numbers of layers, of heads, of tokens; of the target 0 if there is none."""

    layers: int
    heads: int
    source: int
    target: int


def sort_out(changes: Iterable[Change], sizes: Sizes) -> tuple[list[Change], dict[Change, str]]:
    """The changes that can be made to a model, and why each of the others cannot."""
    changes = list(changes)
    aside: dict[Change, str] = {}
    gone: dict[str, set[int]] = {"source": set(), "target": set()}
    for change in changes:  # what is dropped first: nothing else can be done to it
        if isinstance(change, Drop) and not (reason := _problem(change, sizes)):
            if len(gone[change.text]) + 1 < getattr(sizes, change.text):
                gone[change.text].add(change.token)
            else:
                aside[change] = "one token must be left"
        elif isinstance(change, Drop):
            aside[change] = reason
    for change in changes:
        if not isinstance(change, Drop) and (reason := _problem(change, sizes) or _dropped(change, gone)):
            aside[change] = reason
    return [change for change in changes if change not in aside], aside


def _tokens(change: Change) -> list[tuple[str, int]]:
    """The tokens that a change names, each with its text."""
    match change:
        case Zero():
            return [(texts_of(change.kind)[1], change.token)]
        case Weight():
            queries, keys = texts_of(change.kind)
            return [(queries, change.query), (keys, change.key)]
        case Drop() | Replace():
            return [(change.text, change.token)]
        case Swap():
            return [(change.text, change.one), (change.text, change.other)]
    return []


def _problem(change: Change, sizes: Sizes) -> str:
    text = getattr(change, "text", None) or texts_of(getattr(change, "kind", "encoder"))[0]
    if text == "target" and not sizes.target:
        return "only an encoder-decoder has that"
    if not isinstance(change, OF_TEXT):
        least = 0 if isinstance(change, Zero) else 1
        if not 1 <= change.layer <= sizes.layers:
            return f"layers go from 1 to {sizes.layers}"
        if not least <= change.head <= sizes.heads:
            return f"heads go from 1 to {sizes.heads}"
    if isinstance(change, Swap) and change.one == change.other:
        return "a token is swapped with another one"
    for text, token in _tokens(change):
        if not token:
            return "tokens count from 1"
        if token > getattr(sizes, text):
            return f"the {'text' if text == 'source' else 'target text'} has fewer tokens"
    return ""


def _dropped(change: Change, gone: dict[str, set[int]]) -> str:
    return "its token is dropped" if any(token in gone[text] for text, token in _tokens(change)) else ""


def order(changes: Iterable[Change], text: str, tokens: int) -> list[int]:
    """The tokens of a text, from 0, in the order in which the model reads them."""
    left = list(range(tokens))
    for change in changes:
        if isinstance(change, Swap) and change.text == text:
            one, other = left.index(change.one - 1), left.index(change.other - 1)
            left[one], left[other] = left[other], left[one]
    dropped = {change.token - 1 for change in changes if isinstance(change, Drop) and change.text == text}
    return [token for token in left if token not in dropped]


def replaced(changes: Iterable[Change], text: str) -> dict[int, str]:
    """The tokens of a text, from 0, in whose place another is read -> that one."""
    return {change.token - 1: change.piece for change in changes if isinstance(change, Replace) and change.text == text}
