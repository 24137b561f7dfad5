"""Several changes: their text in the link, which of them a model allows, and what they do to its texts and attentions.

In a link they are separated by semicolons: "silence 1.2; weight 1.1 6>2 0.9; drop 4". See kinds.py for each.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfm_ui.lenses.attention.change.aligned import Places, Positions
from tfm_ui.lenses.attention.change.kinds import KINDS, Call, Change, Drop, OfAttention, Replace, Swap
from tfm_ui.live import places
from tfm_ui.state.links import quoted
from tfm_ui.state.model_state import ModelState

EXPECTED = "expected such as silence 1.2, zero 1 3, weight 1.2 5>3 0.9, drop 4, swap 2 5 or replace 4 dog"
ROOM = 300  # characters of a link that B's changes may take, and A's as many; this leaves room for the rest of the link


def parse(text: str) -> tuple[list[Change], list[str]]:
    """The changes in a text, and the parts of it that are none."""
    changes: dict[Change, None] = {}
    wrong = []
    for part in filter(None, (" ".join(part.split()) for part in text.split(";"))):
        if change := next(filter(None, (kind.parse(part) for kind in KINDS)), None):
            changes[change] = None
        else:
            wrong.append(part)
    return list(changes), wrong


def written(changes: Iterable[Change]) -> str:
    """The changes as they stand in a link."""
    return "; ".join(map(str, changes))


def fits(changes: Iterable[Change], room: int = ROOM) -> bool:
    """Whether `room` characters of a link hold them: there 日 takes nine, and each mark between two changes four."""
    return len(quoted(written(changes))) <= room


def with_change(changes: Sequence[Change], new: Change) -> list[Change]:
    """These and a new one; of one cell only the last weight counts, of one place the last token."""
    return [*(change for change in changes if not new.undoes(change)), new]


@dataclass(frozen=True)
class Changes:
    """A control that holds changes: the text that stands for them."""

    label: str
    max_chars: int = ROOM  # in a link

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The changes among what was asked for, as many as there is room for."""
        asked, wrong = parse(raw)
        reason = f"“{wrong[0][:40]}” is no change, {EXPECTED}" if wrong else ""
        taken: list[Change] = []
        for change in asked:
            if not fits([*taken, change], self.max_chars):
                reason = reason or f"a link holds {self.max_chars} characters of changes; what is beyond is left out"
                break
            taken.append(change)
        return written(taken), reason


@dataclass(frozen=True)
class Sizes:
    """What a model leaves to be changed: numbers of layers, of heads, of tokens; of the target 0 if there is none."""

    layers: int
    heads: int
    source: int
    target: int


def sizes(model: ModelState) -> Sizes:
    """What this model leaves to be changed."""
    target = len(model.target_tokens.pieces) if model.is_encoder_decoder else 0
    return Sizes(model.num_layers, model.num_heads, len(model.source_tokens.pieces), target)


def possible(text: str, model: ModelState) -> list[Change]:
    """The changes in a text that this model allows."""
    return sort_out(parse(text)[0], sizes(model))[0]


def sort_out(changes: Iterable[Change], sizes: Sizes) -> tuple[list[Change], dict[Change, str]]:
    """The changes that can be made to a model, and why each of the others cannot."""
    changes = list(changes)
    reasons: dict[Change, str] = {}
    dropped: dict[str, set[int]] = {"source": set(), "target": set()}
    for change in changes:  # what is dropped first: nothing else can be done to it
        if isinstance(change, Drop):
            last = len(dropped[change.text]) + 1 == getattr(sizes, change.text)
            if reason := _problem(change, sizes) or last * "one token must be left":
                reasons[change] = reason
            else:
                dropped[change.text].add(change.token)
    for change in changes:
        if not isinstance(change, Drop):
            on_dropped = any(token in dropped[text] for text, token in change.tokens())
            if reason := _problem(change, sizes) or on_dropped * "its token is dropped":
                reasons[change] = reason
    return [change for change in changes if change not in reasons], reasons


def _problem(change: Change, sizes: Sizes) -> str:
    """Why a change cannot be made, whatever the others are; "" if it can."""
    if change.stack_text() == "target" and not sizes.target:
        return "only an encoder-decoder has that"
    if isinstance(change, OfAttention):
        if not 1 <= change.layer <= sizes.layers:
            return f"layers go from 1 to {sizes.layers}"
        if not change.first_head <= change.head <= sizes.heads:
            return f"heads go from 1 to {sizes.heads}"
    if isinstance(change, Swap) and change.first == change.second:
        return "a token is swapped with another one"
    for text, token in change.tokens():
        if not token:
            return "tokens count from 1"
        if token > getattr(sizes, text):
            return f"the {'text' if text == 'source' else 'target text'} has fewer tokens"
    return ""


def order(changes: Iterable[Change], text: str, tokens: int) -> list[int]:
    """The tokens of a text, from 0, in the order in which the model reads them."""
    left = list(range(tokens))
    for change in changes:
        if isinstance(change, Swap) and change.text == text:
            first, second = left.index(change.first - 1), left.index(change.second - 1)
            left[first], left[second] = left[second], left[first]
    dropped = {change.token - 1 for change in changes if isinstance(change, Drop) and change.text == text}
    return [token for token in left if token not in dropped]


def replaced(changes: Iterable[Change], text: str, model: ModelState) -> dict[int, str]:
    """The tokens of a text, from 0, in whose place another is read -> the text whose first token that is.

    Where tokens carry the space before them, the other one has it if that one has it.
    """
    pieces = (model.target_tokens if text == "target" else model.source_tokens).pieces
    return {
        at: f" {change.piece}" if model.is_lab_gpt and pieces[at].startswith(" ") else change.piece
        for change in changes
        if isinstance(change, Replace) and change.text == text and (at := change.token - 1) < len(pieces)
    }


def positions(changes: Iterable[Change], model: ModelState) -> dict[str, Places]:
    """Text -> where each of its tokens stands, from 0; -1 if it is dropped."""
    standing = {}
    for text, tokens in (("source", model.source_tokens), ("target", model.target_tokens)):
        left = order(changes, text, len(tokens.pieces))
        standing[text] = np.full(len(tokens.pieces), -1, np.intp)
        standing[text][left] = np.arange(len(left))
    return standing


def edits(changes: Iterable[Change], model: ModelState, standing: Positions) -> dict[str, list[Call]]:
    """What these changes do in a pass of the model: name in a recording -> the calls that make its edits.

    Args:
        changes: those that the model allows.
        model: the model.
        standing: text -> where each of its tokens stands.
    """
    calls: dict[str, list[Call]] = {}
    for change in changes:
        if isinstance(change, OfAttention):
            place = places.place(model, places.kind_of(model, change.kind))
            name = place.format(layer=change.layer - 1, what=change.site)
            calls.setdefault(name, []).append(change.edit(standing))
    return calls
