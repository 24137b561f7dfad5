"""What a pasted table means as a mask, and why; and what kind of mask it is then. Pure."""

import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.masks.conventions.mask_text import Table
from tfm_ui.lenses.masks.state import ADDED, ATTEND, IGNORE, WEIGHTS
from tfm_ui.text import formats

LOOK_AT_THEM = (
    "To look at these weights themselves, load their file under Weights, “From a file or folder”, and open Heads."
)
NAMED = 4  # rows that are named before "and n more"

Mask = NDArray[np.bool_]


def guess(table: Table) -> tuple[str, str]:
    """The likeliest reading, and the reason in words."""
    values, ones = table.values, table.values == 1
    yes, no = ("True", "False") if table.kind == "booleans" else ("1", "0")
    if named := said(table):
        return named, "the file says so itself"
    if table.kind == "signs":
        return ATTEND, "it is drawn: a filled sign, such as ■, stands where a query sees a key"
    if are_weights(values):
        return WEIGHTS, "no number is below 0, and each row sums to 1"
    if not np.isin(values, (0, 1)).all():
        low = values.min()
        example = (
            f", such as {formats.number(low) if np.isinf(low) else f'{low:g}'.replace('-', '−')}" if low < 0 else ""
        )
        return ADDED, f"there are other numbers than 0 and 1{example}: these are added to the scores"
    if ones.all():
        return ATTEND, f"all is {yes}: the other way round nobody would see anything"
    if not ones.any():
        return ADDED if table.kind == "numbers" else IGNORE, (
            f"all is {no}: the other way round nobody would see anything"
        )
    if ones.shape[0] == ones.shape[1] and len(ones) > 1:
        return _square(ones, table.kind, yes, no)
    return _rows(ones, table.kind, yes, no)


def _square(ones: Mask, kind: str, yes: str, no: str) -> tuple[str, str]:
    below, above = ones[np.tril_indices(len(ones), -1)], ones[np.triu_indices(len(ones), 1)]
    diagonal = ones.diagonal()
    itself = f"the diagonal is {yes if diagonal[0] else no} throughout" if len(set(diagonal.tolist())) == 1 else ""
    if below.any() and not above.any():
        where = "on the diagonal and below" if diagonal.all() else "on or below the diagonal"
        where = where if diagonal.any() else "below the diagonal"
        reader = ", as F.scaled_dot_product_attention reads booleans" if kind == "booleans" else ""
        return ATTEND, f"{yes} stands only {where}: so nobody looks ahead{reader}"
    if above.any() and not below.any():
        where = "on the diagonal and above" if diagonal.all() else "on or above the diagonal"
        where = where if diagonal.any() else "above the diagonal"
        return IGNORE, f"{yes} stands only {where}: so nobody looks ahead, as in nn.MultiheadAttention’s attn_mask"
    for way, visible, hidden in ((ATTEND, ones, no), (IGNORE, ~ones, yes)):
        if not np.triu(visible, 1).any() and 2 * int((~visible.any(1)).sum()) < len(visible):
            return way, f"{hidden} stands everywhere above the diagonal: so nobody looks ahead"
    if itself:
        way = ATTEND if diagonal[0] else IGNORE
        return way, f"{itself}, and a token nearly always sees itself"
    empty = {ATTEND: int((~ones.any(1)).sum()), IGNORE: int(ones.all(1).sum())}
    if empty[ATTEND] != empty[IGNORE]:
        way = min(empty, key=lambda name: empty[name])
        rows = formats.plural(max(empty.values()), "query", "queries")
        return way, f"the other way round, {rows} would see nothing" + (f", and not {empty[way]}" if empty[way] else "")
    return ATTEND, "nothing in it tells the two ways apart; this is F.scaled_dot_product_attention’s"


def _rows(ones: Mask, kind: str, yes: str, no: str) -> tuple[str, str]:
    """A row per sentence, or queries and keys of different number."""
    falls, rises = (ones[:, :-1] >= ones[:, 1:]).all(), (ones[:, :-1] <= ones[:, 1:]).all()
    for way, visible, one_more in ((ATTEND, ones, f"one more {yes}"), (IGNORE, ~ones, f"one {yes} fewer")):
        if _of_a_cache(visible):
            than = f"each row has {one_more} than the one before"
            return way, f"{than}: a causal mask, with keys of the past before it"
    if falls:
        return ATTEND, f"in no row does {yes} stand after a {no}: padding at the end is hidden"
    if rises and kind == "booleans":
        return (
            IGNORE,
            "where True stands, it stands last: padding at the end is ignored, as by a key_padding_mask",
        )
    if rises:
        return (
            ATTEND,
            f"where {yes} stands, it stands last: padding at the beginning is hidden, as for generation",
        )
    return ATTEND, "nothing in it tells the two ways apart; this is F.scaled_dot_product_attention’s"


def _of_a_cache(mask: Mask) -> bool:
    """Whether it is causal, the last query beside the last key."""
    rows, columns = mask.shape
    return rows > 1 and np.array_equal(mask, np.tri(rows, columns, columns - rows, dtype=bool))


def said(table: Table) -> str:
    """The reading that our own files name in their first cell; "" of other files."""
    if not (says := re.match(r"(True|False|0|1|added) = may attend|weights", table.says)):
        return ""
    added = "−∞" in table.says or "-inf" in table.says
    return WEIGHTS if not says[1] else ADDED if added else ATTEND if says[1] in ("True", "1") else IGNORE


def are_weights(values: NDArray[np.float64]) -> bool:
    """Whether it may be what a softmax gave: no number below 0, each row sums to 1, or to 0 without any key."""
    sums = values.sum(-1)
    near = np.isclose(sums, 1, atol=2e-3 + 5e-5 * values.shape[-1])  # rounded to four digits, when it was printed
    shares = bool((values >= 0).all() and (values <= 1).all() and not np.isin(values, (0, 1)).all())
    return shares and bool((near | (sums == 0)).all() and near.any())


def hides(values: NDArray[np.float64], precision: str) -> Mask:
    """What leaves no weight when it is added to a score: e to its power is exactly 0 in this float type."""
    hidden: Mask = np.exp(values.clip(max=0).astype(precision)) == 0
    return hidden


def mask_of(table: Table, reading: str) -> Mask:
    """Boolean (row, column), True = may attend."""
    values = table.values
    mask: Mask = values == 0 if reading == IGNORE else values != 0
    return ~hides(values, table.precision) if reading == ADDED else mask


def warning(table: Table, reading: str) -> str:
    """What another call makes of the table as it is; "" if there is nothing to be warned of."""
    if reading == ATTEND and table.kind == "numbers" and np.isin(table.values, (0, 1)).all():
        return (
            "But it holds floats, and torch adds a float mask to the scores: handed over as it is, 1 would hide "
            f"nothing, and neither would 0. “.bool()” is missing; “Read as: {ADDED}” shows what torch makes of it."
        )
    return ""


def odd_values(table: Table, reading: str) -> str:
    """Values that the reading has no place for, and what is done with them; "" if there are none."""
    values = table.values
    if reading == WEIGHTS:
        return LOOK_AT_THEM if are_weights(values) else ""
    usual = (values == 0) | (values == -np.inf) if reading == ADDED else np.isin(values, (0, 1))
    odd, counts = np.unique(values[~usual], return_counts=True)
    if not len(odd):
        return ""
    if reading != ADDED:
        return f"{_listed(odd, counts)} {_is(counts)} neither 0 nor 1, and taken as 1."
    said, hidden = [], hides(odd, table.precision)
    zero = f"as good as −∞, and taken as hidden, because e to its power is exactly 0 in {table.precision}"
    for these, what in (
        (hidden, zero),
        (~hidden & (odd < np.inf), "neither 0 nor −∞: a bias, and taken as seen"),
        (odd == np.inf, "what makes every weight of its row NaN, and taken as seen"),
    ):
        if these.any():
            said.append(f"{_listed(odd[these], counts[these])} {_is(counts[these])} {what}.")
    return " ".join(said)


def _listed(odd: NDArray[np.float64], counts: NDArray[np.intp]) -> str:
    names = ["∞" if value == np.inf else f"{value:g}".replace("-", "−") for value in odd[:3]]
    more = f" and {formats.plural(len(odd) - 3, 'more value')}" if len(odd) > 3 else ""
    cells = int(counts.sum())
    return f"{', '.join(names)}{more} ({formats.count(cells)} {'cell' if cells == 1 else 'cells'})"


def _is(counts: NDArray[np.intp]) -> str:
    return "is" if len(counts) == 1 else "are"


class Facts:
    """What can be said of a mask, (row, column), True = may attend."""

    def __init__(self, mask: Mask) -> None:
        self.mask = mask

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Lengths of the blocks on the diagonal that do not see each other; a square mask alone has them."""
        if not self.square:
            return ()
        rows = len(self.mask)
        either = self.mask | self.mask.T | np.eye(rows, dtype=bool)
        tied = rows - 1 - either[:, ::-1].argmax(1)  # the last that each is tied to
        furthest = np.maximum.accumulate(tied)
        ends = np.flatnonzero(furthest == np.arange(rows)) + 1
        return tuple(int(size) for size in np.diff(ends, prepend=0))

    @property
    def square(self) -> bool:
        """Whether there are as many rows as columns."""
        return bool(self.mask.shape[0] == self.mask.shape[1])

    @property
    def causal(self) -> bool:
        """Whether no query looks ahead, the last query beside the last key."""
        rows, columns = self.mask.shape
        return not bool(np.triu(self.mask, columns - rows + 1).any())

    @property
    def per_key(self) -> bool:
        """Whether it may be a mask of padding: one row for all queries, or a row per sentence, hiding the same end."""
        rows, columns = self.mask.shape
        end, beginning = self.mask[:, :-1] >= self.mask[:, 1:], self.mask[:, :-1] <= self.mask[:, 1:]
        return bool(rows == 1 or (rows != columns and (end.all() or beginning.all()) and not _of_a_cache(self.mask)))

    def sentence(self) -> str:
        """All of it in words."""
        rows, columns = self.mask.shape
        kept = int(self.mask.sum())
        sentences = [
            f"{rows} × {columns}, {'square' if self.square else 'not square'}; {formats.count(kept)} of "
            f"{formats.count(self.mask.size)} pairs kept ({formats.percent(kept / self.mask.size)})."
        ]
        if self.per_key:
            sentences.append(
                "Taken as padding: a row of keys " + ("for all queries." if rows == 1 else "per sentence.")
            )
        elif self.square and rows > 1:
            sentences.append(self._order())
            if len(self.blocks) > 1 and kept:
                sentences.append(self._blocks())
            elif bool((self.mask == self.mask[0]).all()) and 0 < kept < self.mask.size:
                sentences.append("All rows are alike: which keys are hidden, as padding is.")
        elif rows > 1:
            sentences.append("No query looks ahead." if self.causal else "Some queries look ahead.")
        return " ".join(part for part in (*sentences, self._empties()) if part)

    def _order(self) -> str:
        diagonal = self.mask.diagonal()
        if not self.mask.any():
            return ""
        if self.causal and not diagonal.any():
            return "Strictly lower triangular: nobody sees itself, or what comes later."
        ahead = int(np.triu(self.mask, 1).sum())
        sentence = "Causal: nobody looks ahead."
        if not self.causal:
            sentence = f"Not causal: {formats.plural(ahead, 'pair looks', 'pairs look')} ahead."
        if not diagonal.any():
            return f"{sentence} The diagonal is hidden: nobody sees itself."
        if not diagonal.all():
            blind = int((~diagonal).sum())
            return f"{sentence} {formats.plural(blind, 'token cannot see itself', 'tokens cannot see themselves')}."
        return sentence

    def _blocks(self) -> str:
        if len(self.blocks) == len(self.mask):
            return "Diagonal: everybody sees at most itself."
        shown = ", ".join(map(str, self.blocks[:8])) + (", …" if len(self.blocks) > 8 else "")
        return f"Block-diagonal: {len(self.blocks)} blocks of {shown} tokens that do not see each other."

    def _empties(self) -> str:
        empty = np.flatnonzero(~self.mask.any(1))
        if not len(empty):
            return ""
        if len(empty) == len(self.mask):
            return "No row has any key: it hides everything."
        names = ", ".join(str(row + 1) for row in empty[:NAMED])
        more = f" and {formats.count(len(empty) - NAMED)} more" if len(empty) > NAMED else ""
        return f"{'Row' if len(empty) == 1 else 'Rows'} {names}{more} without any key."
