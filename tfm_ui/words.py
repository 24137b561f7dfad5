"""Words for what is seen: token labels, and sentences computed from the data. Arrays and strings alone."""

from collections.abc import Sequence
from unicodedata import bidirectional

import numpy as np
from numpy.typing import NDArray

from tfm_core import Tokens, collisions

LONGEST = 10
SHOWN = {" ": "·", "\t": "⇥", "\n": "↵", "\u200d": "ZWJ", "": "∅"}
INVISIBLE_BUT_NEEDED = "\u200d\ufe0e\ufe0f"  # they join and shape emoji
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
TIE = 1e-3  # weights closer than this count as equal: no token is then the favourite


def labels(tokens: Tokens) -> list[str]:
    """A short, unique name per token: long ones cut in the middle, repeats numbered, white space visible; then PADs."""
    names: list[str] = []
    for piece in tokens.pieces:
        base, number = _short(piece), 1
        name = base
        while name in names:
            number += 1
            name = base + str(number).translate(SUBSCRIPTS)
        names.append(name)
    return [*map(_isolated, names), *["PAD"] * tokens.padding]


def named(piece: str) -> str:
    """A token as it can be shown within a sentence: short, visible, and not turning what is around it."""
    return _isolated(_short(piece))


def _short(piece: str) -> str:
    signs = (sign if sign.isprintable() or sign in INVISIBLE_BUT_NEEDED else repr(sign)[1:-1] for sign in piece)
    name = SHOWN.get(piece) or "".join(signs)
    return name if len(name) <= LONGEST else f"{name[:5]}…{name[-4:]}"


def _isolated(name: str) -> str:
    """Right-to-left names in marks that keep them from turning the sentence around them."""
    turns = any(bidirectional(sign) in ("R", "AL", "AN") for sign in name)
    return f"\u2068{name}\u2069" if turns else name


def about_tokens(tokens: Tokens) -> list[str]:
    """What the reader must know about how the text was read: cut, padded, collided. Often nothing."""
    said = []
    if tokens.dropped:
        total = len(tokens.pieces) + tokens.dropped
        said.append(f"The text has {total} tokens; the first {len(tokens.pieces)} are read.")
    if tokens.pieces and tokens.padding:
        hold = "holds" if tokens.padding == 1 else "hold"
        said.append(f"{tokens.padding} of {len(tokens.ids)} places {hold} padding (PAD), which nobody looks at.")
    groups = collisions(tokens)
    for group in groups[:3]:
        names = " and ".join(f"“{named(piece)}”" for piece in group)
        said.append(f"{names} share an id, so the model takes them for the same token.")
    if len(groups) > 3:
        said.append(f"{len(groups) - 3} more groups of tokens share an id.")
    return said


def about_head(
    weights: NDArray[np.float32],
    visible: NDArray[np.bool_],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    same_text: bool = True,
) -> str:
    """One sentence on what a head does, over the rows that have a choice; says so when no pattern stands out.

    Args:
        weights: (query, key), the rows of padding left out.
        visible: (query, key).
        queries: a label per row.
        keys: a label per column.
        same_text: whether rows and columns are the same tokens: only then is there a previous one.
    """
    rows = np.flatnonzero(visible.sum(1) > 1)
    if len(rows) == 0:
        return "No row has a choice: each may look at one token at most."
    chosen = weights[rows]
    if (chosen.max(1) - 1 / visible[rows].sum(1) < TIE).all():
        return "No pattern: every row spreads its weight evenly over the tokens that it may see."
    return f"{_habit(chosen, rows, keys, same_text)} {_strongest(chosen, rows, queries, keys)}"


def _habit(chosen: NDArray[np.float32], rows: NDArray[np.intp], keys: Sequence[str], same_text: bool) -> str:
    """What most rows have in common; rows without a clear favourite belong to no habit."""
    second, first = np.sort(chosen, axis=1)[:, -2:].T
    top = np.where(first - second >= TIE, chosen.argmax(1), -2)  # -2 is no key, and next to none
    habits = {"the first token": top == 0}
    if same_text:
        habits = {
            "the previous token": top == rows - 1,
            "itself": top == rows,
            "the next token": top == rows + 1,
        } | habits
    habit, hits = max(((name, int(rows_of.sum())) for name, rows_of in habits.items()), key=lambda item: item[1])
    clear = top[top >= 0]
    favourite = int(np.bincount(clear).argmax()) if len(clear) else 0
    times = int((top == favourite).sum())
    if len(rows) < 3:
        return "Too few rows for a pattern."
    if hits * 2 > len(rows):
        return f"Looks most at {habit} in {hits} of {len(rows)} rows."
    if times * 2 > len(rows):
        return f"Favours one token: “{keys[favourite]}” tops {times} of {len(rows)} rows."
    if times > 1:
        return f"No pattern stands out: “{keys[favourite]}” tops {times} of {len(rows)} rows, no token more."
    return "No pattern stands out: no token tops two rows."


def _strongest(chosen: NDArray[np.float32], rows: NDArray[np.intp], queries: Sequence[str], keys: Sequence[str]) -> str:
    """The pair with the largest weight, if it is one pair."""
    equals = int((chosen > chosen.max() - TIE).sum())
    if equals > 1:
        return f"The largest weight, {chosen.max():.2f}, stands in {equals} cells."
    query, key = divmod(int(chosen.argmax()), chosen.shape[1])
    return f"Strongest: {queries[rows[query]]} → {keys[key]}, {chosen[query, key]:.2f}."


def about_heads(weights: NDArray[np.float32], visible: NDArray[np.bool_]) -> str:
    """Which head is the sharpest of all, beside an even spread. Weights (layer, head, query, key), padding left out."""
    rows = visible.sum(1) > 1
    if not rows.any():
        return "No row has a choice: each may look at one token at most."
    sharpness = weights[:, :, rows].max(-1).mean(-1)  # (layer, head)
    layer, head = divmod(int(sharpness.argmax()), weights.shape[1])
    even = (1 / visible[rows].sum(1)).mean()
    if sharpness[layer, head] - even < TIE:
        return f"No head is sharper than an even spread, whose top weight averages {even:.2f} a row."
    return (
        f"Sharpest: layer {layer + 1}, head {head + 1}. Its top weight averages {sharpness[layer, head]:.2f} a row; "
        f"an even spread would give {even:.2f}."
    )
