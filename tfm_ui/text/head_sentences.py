"""Sentences on where heads look, computed from their weights. Pure functions."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

# Sentences call weights alike if they differ by less than this share of the larger one. Differences that come from
# rounding alone are much smaller: see tfm_ui/text/ties.py.
TIE = 0.01
NEAR = 3  # places between a query and its favourite key
NO_CHOICE = "No token has a choice: each may look at one at most."
NO_WEIGHT = "All weights of tokens that have a choice are 0."


@dataclass(frozen=True)
class Rows:
    """Where the rows of one head look: arrays (query) with an entry for each row that is a token.

    Attributes:
        first: the largest weight of the row.
        key: the column of the largest weight.
        second: the second largest weight of the row.
        visible: how many keys the row may see.
    """

    first: NDArray[np.float32]
    key: NDArray[np.intp]
    second: NDArray[np.float32]
    visible: NDArray[np.intp]


def about_head(
    rows: Rows,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    same_text: bool = True,
    ids: Sequence[int] = (),
    shares_out_1: bool = True,
) -> str:
    """What a head does, in one or two sentences, from the rows that can see more than one key.

    Args:
        rows: the head's rows.
        queries: a label for each row.
        keys: a label for each column.
        same_text: whether rows and columns are the same tokens, so that there is a previous token.
        ids: the number of each row's token, if it is to be told whether the head looks after earlier places of it.
        shares_out_1: whether rows sum to 1; weights out of a file need not.
    """
    free = np.flatnonzero((rows.visible > 1) & (rows.first > 0))
    if len(free) == 0:
        return NO_WEIGHT if (rows.visible > 1).any() else NO_CHOICE
    if shares_out_1 and (rows.first[free] * rows.visible[free] < 1 + TIE).all():
        return "No pattern: every row spreads its weight evenly over the tokens that it may see."
    copies = _looks_behind(rows, ids) if same_text else ""
    return f"{_habit(rows, free, keys, same_text, copies)} {_strongest(rows, free, queries, keys)}"


def behind_earlier(ids: Sequence[int]) -> NDArray[np.bool_]:
    """Boolean (query, key): the keys right after the earlier places of the query's own token."""
    same = np.tril(np.equal.outer(ids, ids), -1)  # (query, earlier place)
    cells: NDArray[np.bool_] = np.zeros(same.shape, bool)
    cells[:, 1:] = same[:, :-1]
    return cells


def _looks_behind(rows: Rows, ids: Sequence[int]) -> str:
    """A sentence that most rows whose token stood before look most at what came after it there; "" if they do not."""
    cells = behind_earlier(ids[: len(rows.key)])
    again = np.flatnonzero(cells.any(-1)) if cells.size else np.zeros(0, np.intp)
    clear = rows.first[again] - rows.second[again] >= TIE * rows.first[again]
    hits = int(cells[again, rows.key[again]][clear].sum())
    by_chance = float((cells[again].sum(-1) / rows.visible[again]).sum())
    if len(again) < 3 or hits * 2 <= len(again) or hits <= 2 * by_chance:
        return ""
    return f"Where a token stood before, looks most at what came after it, in {hits} of {len(again)} such rows."


def _habit(rows: Rows, free: NDArray[np.intp], keys: Sequence[str], same_text: bool, copies: str) -> str:
    """What most rows have in common; rows without a clear favourite count for no habit."""
    clear = rows.first[free] - rows.second[free] >= TIE * rows.first[free]
    left_out = (rows.visible <= 1).any()  # as the first row of a causal map, which has a single token to look at
    among = f"{len(free)} rows with a choice" if left_out else f"{len(free)} rows"
    top = np.where(clear, rows.key[free], -2)  # -2 is not a key, nor next to a key
    habits = {"the first token": top == 0}
    if same_text:
        habits = {
            "the previous token": top == free - 1,
            "itself": top == free,
            "the next token": top == free + 1,
        } | habits
    habit, hits = max(((name, int(rows_of.sum())) for name, rows_of in habits.items()), key=lambda item: item[1])
    counts = np.bincount(top[clear]) if clear.any() else np.zeros(1, int)
    favourite, times = int(counts.argmax()), int(counts.max())
    others = int((counts == times).sum()) - 1  # tokens that are the favourite of as many rows
    if len(free) < 3:
        return "Too few rows for a pattern."
    if hits * 2 > len(free):
        return f"Looks most at {habit} in {hits} of {among}."
    near = int((clear & (np.abs(top - free) <= NEAR)).sum())
    by_chance = float(np.minimum((2 * NEAR + 1) / rows.visible[free], 1).sum())  # at most: in short texts all is near
    if same_text and near * 2 > len(free) and near > 2 * by_chance:
        return f"Looks most at itself or a token at most {NEAR} places away in {near} of {among}."
    mirrored = int((top == len(rows.key) - 1 - free).sum())
    if mirrored * 2 > len(free):
        where = "its mirror place, the last token from the first and so on,"
        return f"Looks most at {where} in {mirrored} of {among}."
    if same_text and (steady := _steady(free[clear] - rows.key[free][clear], len(free), among)):
        return steady
    if copies:
        return copies
    if times * 2 > len(free):
        return f"Favours one token: “{keys[favourite]}” gets the most weight in {times} of {among}."
    if hits > times and hits * 3 > len(free):
        which = "its own token" if habit == "itself" else habit
        return f"No pattern in most rows: the commonest favourite of a row is {which}, in {hits} of {among}."
    level = int((~clear).sum())
    but = f"; {formats.plural(level, 'row')} ha{'ve' if level > 1 else 's'} no clear favourite" if level else ""
    if times <= 1:
        return f"No clear pattern: no token gets the most weight in two rows{but}."
    of_rows = f"in {times} of {among}"
    if others:
        ties = f"“{keys[favourite]}” and {formats.plural(others, 'other token')}"
        return f"No clear pattern: {ties} each get the most weight {of_rows}{but}."
    most = f"“{keys[favourite]}” gets the most weight {of_rows}, more often than any other token"
    return f"No clear pattern: {most}{but}."


def _steady(back: NDArray[np.intp], rows: int, among: str) -> str:
    """A sentence that most rows look as many places back or ahead, "" if they do not; `back` is of clear rows."""
    ways, counts = np.unique(back, return_counts=True)
    if not len(ways) or counts.max() * 2 <= rows:
        return ""
    far = int(ways[counts.argmax()])
    way = f"{formats.plural(abs(far), 'place')} {'back' if far > 0 else 'ahead'}"
    return f"Looks most at the token {way} in {counts.max()} of {among}."


def _strongest(rows: Rows, free: NDArray[np.intp], queries: Sequence[str], keys: Sequence[str]) -> str:
    """The pair with the largest weight; if several pairs share it, how many."""
    first = rows.first[free]
    row = free[first.argmax()]
    largest, almost = rows.first[row], rows.first[row] * (1 - TIE)
    said, alike = _weight(largest), np.sort(first[first > almost])
    # How many print the same: they are the last of these, and few need be printed to find where they begin.
    equals = len(alike) - bisect_left(alike, True, key=lambda weight: _weight(weight) == said)
    if equals > 1:
        return f"The largest weight, {said}, stands in {equals} rows."
    if rows.second[row] > almost:
        return f"The largest weight, {said}, stands in the row of “{queries[row]}”, more than once."
    return f"Strongest: {pair(queries[row], keys[rows.key[row]])}, {said}."


def pair(query: str, key: str) -> str:
    """Who looks at whom; in quotes, as a token may be a comma."""
    return f"“{query}” → “{key}”"


def about_heads(first: NDArray[np.float32], visible: NDArray[np.intp]) -> str:
    """Which head is the sharpest, compared with an even spread of the weights.

    Args:
        first: (layer, head, query), the largest weight of each row that is a token.
        visible: (query), how many keys each row may see.
    """
    free = visible > 1
    if not free.any():
        return NO_CHOICE
    sharpness = first[:, :, free].mean(-1)  # (layer, head)
    sharpest = places_of_largest(sharpness)
    layer, head = divmod(sharpest[0], first.shape[1])
    even = (1 / visible[free]).mean()
    if sharpness[layer, head] < even * (1 + TIE):
        return f"No head is sharper than an even spread: the largest weight of a row is {_weight(even)} on average."
    top = _weight(sharpness[layer, head])
    return (
        f"Sharpest: layer {layer + 1}, head {head + 1}{one_of_ties(len(sharpest))}. The largest weight of its rows is "
        f"{top} on average; with an even spread it would be {_weight(even)}."
    )


def _weight(number: float) -> str:
    """The weight as the cells of a map show it: 1.00, not 1."""
    return "1.00" if number == 1 else formats.weight(number)
