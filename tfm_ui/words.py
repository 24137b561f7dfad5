"""Words for what is seen: token labels, and sentences computed from the data. Arrays and strings alone."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tfm_core import Tokens, collisions

LONGEST = 10
SHOWN = {" ": "·", "\t": "⇥", "\n": "↵", "\u200d": "ZWJ", "": "∅"}
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def labels(tokens: Tokens) -> list[str]:
    """A short, unique name per token: long ones cut in the middle, repeats numbered, white space visible, then PAD."""
    seen: dict[str, int] = {}
    names = []
    for piece in tokens.pieces:
        seen[piece] = seen.get(piece, 0) + 1
        name = SHOWN.get(piece, piece if any(map(str.isprintable, piece)) else repr(piece)[1:-1])
        if len(name) > LONGEST:
            name = f"{name[:5]}…{name[-4:]}"
        repeat = str(seen[piece]).translate(SUBSCRIPTS) if seen[piece] > 1 else ""
        names.append(name + repeat)
    return names + ["PAD"] * tokens.padding


def about_tokens(tokens: Tokens, tokenizer: str) -> list[str]:
    """What the reader must know about how the text was read: cut, padded, collided. Often nothing."""
    unit = {"word": "words", "character": "characters", "byte": "bytes"}.get(tokenizer, "tokens")
    said = []
    if tokens.dropped:
        total = len(tokens.pieces) + tokens.dropped
        said.append(f"The text has {total} {unit}; the first {len(tokens.pieces)} are read.")
    if tokens.pieces and tokens.padding:
        said.append(
            f"{_plural(tokens.padding, 'place')} of {len(tokens.ids)} hold padding (PAD), which nobody looks at."
        )
    for group in collisions(tokens)[:3]:
        names = " and ".join(f"“{piece}”" for piece in group)
        said.append(f"{names} share an id, so the model takes them for the same {unit.removesuffix('s')}.")
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
    top = weights[rows].argmax(1)
    query, key = divmod(int(weights[rows].argmax()), weights.shape[1])
    strongest = f"Strongest: {queries[rows[query]]} → {keys[key]}, {weights[rows[query], key]:.2f}."
    habits = {"the first token": int((top == 0).sum())}
    if same_text:
        habits = {
            "the previous token": int((top == rows - 1).sum()),
            "itself": int((top == rows).sum()),
            "the next token": int((top == rows + 1).sum()),
        } | habits
    habit, hits = max(habits.items(), key=lambda item: item[1])
    favourite = int(np.bincount(top).argmax())
    times = int((top == favourite).sum())
    if hits * 2 >= len(rows):
        return f"Looks most at {habit} in {hits} of {len(rows)} rows. {strongest}"
    if times * 2 >= len(rows):
        return f"Favours one token: “{keys[favourite]}” tops {times} of {len(rows)} rows. {strongest}"
    most = (
        f"“{keys[favourite]}” tops {times} of {len(rows)} rows" if times > 1 else "each row has a favourite of its own"
    )
    return f"No pattern stands out: {most}. {strongest}"


def about_heads(weights: NDArray[np.float32], visible: NDArray[np.bool_]) -> str:
    """Which head is the sharpest of all, beside an even spread. Weights (layer, head, query, key), padding left out."""
    rows = visible.sum(1) > 1
    if not rows.any():
        return "No row has a choice: each may look at one token at most."
    sharpness = weights[:, :, rows].max(-1).mean(-1)  # (layer, head)
    layer, head = divmod(int(sharpness.argmax()), weights.shape[1])
    even = (1 / visible[rows].sum(1)).mean()
    return (
        f"Sharpest: layer {layer + 1}, head {head + 1}. Its top weight averages {sharpness[layer, head]:.2f} a row; "
        f"an even spread would give {even:.2f}."
    )


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("s" if number != 1 else "")
