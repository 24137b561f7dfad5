"""Words for what is seen: token labels, and sentences computed from the data. Arrays and strings alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional

import numpy as np
from numpy.typing import NDArray

from tfm_core import Tokens, collisions
from tfm_ui.text import look
from tfm_ui.text.ties import one_of_ties, places_of_largest

LONGEST = 10
SHOWN = {" ": "·", "\t": "⇥", "\n": "↵", "\u200d": "ZWJ", "": "∅"}
INVISIBLE_BUT_NEEDED = "\u200d\ufe0e\ufe0f"  # they join and shape emoji
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# Weights that differ by less than this share of the larger are called alike in words: a favourite leads by more. What
# rounding alone tells apart is for tfm_ui/text/tied.py.
TIE = 0.01
NO_CHOICE = "No token has a choice: each may look at one at most."


def labels(tokens: Tokens) -> list[str]:
    """A short, unique name per token: long ones cut in the middle, repeats numbered, white space visible; then PADs."""
    names: dict[str, None] = {}  # an ordered set
    used: dict[str, int] = {}  # the last number that each name got
    for piece in tokens.pieces:
        name = base = _short(piece)
        while name in names:
            used[base] = used.get(base, 1) + 1
            name = base + str(used[base]).translate(SUBSCRIPTS)
        names[name] = None
    return [*map(_isolated, names), *["PAD"] * tokens.padding]


def named(piece: str) -> str:
    """A token as it can be shown within a sentence: short, visible, and not turning what is around it."""
    return _isolated(_short(piece))


def token_names(ids: Sequence[int], texts: Sequence[Tokens]) -> list[str]:
    """Tokens by what they are called in these texts, or by their id: a hash cannot be turned back."""
    known = {i: piece for text in texts for i, piece in zip(text.ids, text.pieces, strict=False)}
    return [f"“{named(known[i])}”" if i in known else f"id {i}" for i in ids]


def _short(piece: str) -> str:
    if piece.isalnum() and len(piece) <= LONGEST:  # most are plain words
        return piece
    signs = (sign if sign.isprintable() or sign in INVISIBLE_BUT_NEEDED else repr(sign)[1:-1] for sign in piece)
    name = SHOWN.get(piece) or "".join(signs)
    return name if len(name) <= LONGEST else f"{name[:5]}…{name[-4:]}"


def _isolated(name: str) -> str:
    """Right-to-left names in marks that keep them from turning the sentence around them."""
    turns = not name.isascii() and any(bidirectional(sign) in ("R", "AL", "AN") for sign in name)
    return f"\u2068{name}\u2069" if turns else name


def about_tokens(tokens: Tokens) -> list[str]:
    """What the reader must know about how the text was read: cut, padded, collided. Often nothing."""
    said = []
    if tokens.dropped:
        total = len(tokens.pieces) + tokens.dropped
        said.append(f"The text has {total} tokens; the first {len(tokens.pieces)} are read.")
    if tokens.pieces and tokens.padding:
        hold = "holds" if tokens.padding == 1 else "hold"
        said.append(f"{tokens.padding} of {len(tokens.ids)} places {hold} padding (PAD).")
    groups = collisions(tokens)
    few = len(groups) <= 3
    for group in groups if few else groups[:1]:
        names = " and ".join(f"“{named(piece)}”" for piece in group)
        more = "" if few else f"; so do {len(groups) - 1} more groups"
        said.append(f"{names} share an id, so the model takes them for the same token{more}.")
    return said


@dataclass(frozen=True)
class Rows:
    """Where the rows of one head look: an entry per row that is a token, all (query).

    Attributes:
        first: the largest weight.
        key: the column it stands in.
        second: the next.
        visible: how many keys the row may see.
    """

    first: NDArray[np.float32]
    key: NDArray[np.intp]
    second: NDArray[np.float32]
    visible: NDArray[np.intp]


def about_head(rows: Rows, queries: Sequence[str], keys: Sequence[str], *, same_text: bool = True) -> str:
    """One sentence on what a head does, over the rows that have a choice; says so when no pattern stands out.

    Args:
        rows: of this head.
        queries: a label per row.
        keys: a label per column.
        same_text: whether rows and columns are the same tokens: only then is there a previous one.
    """
    free = np.flatnonzero(rows.visible > 1)
    if len(free) == 0:
        return NO_CHOICE
    if (rows.first[free] * rows.visible[free] < 1 + TIE).all():
        return "No pattern: every row spreads its weight evenly over the tokens that it may see."
    return f"{_habit(rows, free, keys, same_text)} {_strongest(rows, free, queries, keys)}"


def _habit(rows: Rows, free: NDArray[np.intp], keys: Sequence[str], same_text: bool) -> str:
    """What most rows have in common; rows without a clear favourite belong to no habit."""
    clear = rows.first[free] - rows.second[free] >= TIE * rows.first[free]
    top = np.where(clear, rows.key[free], -2)  # -2 is no key, and next to none
    habits = {"the first token": top == 0}
    if same_text:
        habits = {
            "the previous token": top == free - 1,
            "itself": top == free,
            "the next token": top == free + 1,
        } | habits
    habit, hits = max(((name, int(rows_of.sum())) for name, rows_of in habits.items()), key=lambda item: item[1])
    favourite = int(np.bincount(top[clear]).argmax()) if clear.any() else 0
    times = int((top == favourite).sum())
    if len(free) < 3:
        return "Too few rows for a pattern."
    if hits * 2 > len(free):
        return f"Looks most at {habit} in {hits} of {len(free)} rows."
    if times * 2 > len(free):
        return f"Favours one token: “{keys[favourite]}” tops {times} of {len(free)} rows."
    if times > 1:
        return f"No pattern stands out: “{keys[favourite]}” tops {times} of {len(free)} rows, no token more."
    return "No pattern stands out: no token tops two rows."


def _strongest(rows: Rows, free: NDArray[np.intp], queries: Sequence[str], keys: Sequence[str]) -> str:
    """The pair with the largest weight, if it is one pair."""
    first = rows.first[free]
    row = free[first.argmax()]
    largest, almost = rows.first[row], rows.first[row] * (1 - TIE)
    equals = int((first > almost).sum())
    if equals > 1:
        return f"The largest weight, {_weight(largest)}, stands in {equals} rows."
    if rows.second[row] > almost:
        return f"The largest weight, {_weight(largest)}, stands in the row of “{queries[row]}”, more than once."
    return f"Strongest: {queries[row]} → {keys[rows.key[row]]}, {_weight(largest)}."


def about_heads(first: NDArray[np.float32], visible: NDArray[np.intp]) -> str:
    """Which head is the sharpest of all, beside an even spread.

    Args:
        first: (layer, head, query), the largest weight of each row that is a token.
        visible: (query), how many keys the row may see.
    """
    free = visible > 1
    if not free.any():
        return NO_CHOICE
    sharpness = first[:, :, free].mean(-1)  # (layer, head)
    sharpest = places_of_largest(sharpness)
    layer, head = divmod(sharpest[0], first.shape[1])
    even = (1 / visible[free]).mean()
    if sharpness[layer, head] < even * (1 + TIE):
        return f"No head is sharper than an even spread, whose top weight averages {_weight(even)} a row."
    top = _weight(sharpness[layer, head])
    return (
        f"Sharpest: layer {layer + 1}, head {head + 1}{one_of_ties(len(sharpest))}. Its top weight averages {top} a row; "
        f"an even spread would give {_weight(even)}."
    )


def _weight(number: float) -> str:
    """As on the cells: 1.00, not 1."""
    return "1.00" if number == 1 else look.weight(number)


@dataclass(frozen=True)
class Names:
    """What sentences call the tokens and heads of a model.

    Attributes:
        tokens: text -> a label for each of its tokens.
        with_kinds: whether the kind of attention must be said of a head, as there are several.
    """

    tokens: Mapping[str, Sequence[str]]
    with_kinds: bool

    def token(self, text: str, number: int) -> str:
        """A token in quotes, counted from 1; by its number if the text has no such token."""
        names = self.tokens[text]
        return f"“{names[number - 1]}”" if 1 <= number <= len(names) else f"token {number}"

    def head(self, kind: str, layer: int, head: int | None) -> str:
        """A head; all of its layer, if it is None."""
        place = f"layer {layer}, head {head}" if head is not None else f"all heads of layer {layer}"
        return f"{place} ({kind})" if self.with_kinds else place
