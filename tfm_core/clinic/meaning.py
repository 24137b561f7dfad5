"""What a table means as a mask, and why: every meaning that stays open, with its evidence. Pure."""

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.facts import Mask, counted, of_a_cache
from tfm_core.clinic.reading import Meaning
from tfm_core.clinic.table import Table, Values

LOOKED_AT = 64  # tables of a file that are asked what they mean; the others are taken as they are
LISTED = 6  # values that are named before "and n more"
MOST_DISTINCT = 2**16  # values of which the different ones are counted
NEVER_0 = -50.0  # e to the power of this is above 0 in float32, and so of all larger numbers
NOT_A_TOKEN = -100  # what stands for "no token" among labels of torch's losses

Reasons = dict[Meaning, str]


def guess(table: Table) -> Mapping[Meaning, str]:
    """The meanings that stay open, the likeliest first, each with its reason, a clause."""
    values = table.values
    if named := said(table):
        return {named: "its signs say so themselves" if table.kind == "signs" else "the file says so itself"}
    if table.kind == "signs":
        return _drawn(values)
    if are_0_or_1(values):
        return _binary(table)
    if are_weights(values, table.precision):
        return {"weights": "no number is below 0, and each row sums to 1"}
    low = float(values.min())
    example = f", such as {_written(low)}" if low < 0 else ""
    bias = f"there are other numbers than 0 and 1{example}: these are added to the scores"
    if are_ids(values) and table.kind == "whole numbers":
        ids = "all are whole numbers, some above 1, as ids of tokens or positions are"
        if values.shape[-1] == values.shape[-2]:
            return {"added": bias, "token ids": ids} if _is_by_distance(values) else {"token ids": ids, "added": bias}
        return {"token ids": ids}
    if low >= 0 and values.max() <= 1:
        shares = "all numbers lie from 0 to 1, though rows do not sum to 1, as after dropout"
        return {"added": bias, "weights": shares}
    return {"added": bias}


def _drawn(values: Values) -> Reasons:
    """The meanings of filled signs: a key that is seen, but where they stand above the diagonal alone."""
    usual = "it is drawn: a filled sign, such as ■, stands where a query sees a key"
    rows, columns = values.shape
    if rows == columns and values.any() and not np.tril(values).any():
        return {"ignore": "it is drawn, and filled signs stand above the diagonal alone", "attend": usual}
    return {"attend": usual}


def are_0_or_1(values: Values) -> bool:
    """Whether there is no other number."""
    return bool(((values == 0) | (values == 1)).all())


def _binary(table: Table) -> Reasons:
    """The meanings of 0 and 1, as most of the tables have them."""
    values, kind = table.values, table.kind
    yes, no = ("True", "False") if kind == "booleans" else ("1", "0")
    ones = values == 1
    if ones.all():
        reasons: Reasons = {"attend": f"all is {yes}: the other way round nobody would see anything"}
    elif not ones.any():
        nothing = f"all is {no}: the other way round nobody would see anything"
        return {"added": nothing, "ignore": nothing} if kind == "numbers" else {"ignore": nothing}
    else:
        ways = _square if values.shape[-1] == values.shape[-2] > 1 else _rows
        tables = ones.reshape(-1, *ones.shape[-2:])[:LOOKED_AT]
        telling = [part for part in tables if part.any() and not part.all()]
        each = [ways(part, kind, yes, no) for part in telling]
        usual = Counter(next(iter(way)) for way in each).most_common(1)[0][0]
        reasons = next(dict(way) for way in each if next(iter(way)) == usual)
        for way in each:
            reasons |= {meaning: reason for meaning, reason in way.items() if meaning not in reasons}
    if kind == "numbers":
        reasons["added"] = "these are floats, which torch adds to the scores: as they are, they hide nothing"
    return reasons


def _both(way: Meaning, reason: str) -> Reasons:
    """A meaning, and that the other way round is possible, too."""
    other: Meaning = "ignore" if way == "attend" else "attend"
    return {way: reason, other: "nothing in it rules out the other way round"}


def _square(ones: Mask, kind: str, yes: str, no: str) -> Reasons:
    below, above = bool(np.tril(ones, -1).any()), bool(np.triu(ones, 1).any())
    diagonal = ones.diagonal()
    if below and not above:
        where = "on the diagonal and below" if diagonal.all() else "on or below the diagonal"
        where = where if diagonal.any() else "below the diagonal"
        reader = ", as F.scaled_dot_product_attention reads booleans" if kind == "booleans" else ""
        reason = f"{yes} stands only {where}: so nobody looks ahead{reader}"
        if diagonal.any():
            return {"attend": reason}
        return {"attend": reason, "ignore": "the other way round each token sees itself, and what comes after it"}
    if above and not below:
        where = "on the diagonal and above" if diagonal.all() else "on or above the diagonal"
        where = where if diagonal.any() else "above the diagonal"
        reason = f"{yes} stands only {where}: so nobody looks ahead, as in nn.MultiheadAttention’s attn_mask"
        if not diagonal.any():
            return {"ignore": reason}
        return {"ignore": reason, "attend": "the other way round each token sees itself, and what comes after it"}
    ways: tuple[tuple[Meaning, Mask, str], ...] = (("attend", ones, no), ("ignore", ~ones, yes))
    for way, visible, hidden in ways:
        if not np.triu(visible, 1).any() and 2 * int((~visible.any(1)).sum()) < len(visible):
            reason = f"{hidden} stands everywhere above the diagonal: so nobody looks ahead"
            return {way: reason} if visible.any(1).all() and visible.diagonal().all() and below else _both(way, reason)
    if diagonal.all() or not diagonal.any():
        way = "attend" if diagonal.all() else "ignore"
        itself = f"the diagonal is {yes if diagonal.all() else no} throughout, and a token nearly always sees itself"
        return {way: itself}
    empty: dict[Meaning, int] = {"attend": int((~ones.any(1)).sum()), "ignore": int(ones.all(1).sum())}
    if empty["attend"] != empty["ignore"]:
        way = min(empty, key=lambda name: empty[name])
        rows = counted(max(empty.values()), "query", "queries")
        return _both(
            way, f"the other way round, {rows} would see nothing" + (f", and not {empty[way]}" if empty[way] else "")
        )
    return _rows(ones, kind, yes, no)


def _rows(ones: Mask, kind: str, yes: str, no: str) -> Reasons:
    """The meanings of a row per sentence, or of queries and keys of different number."""
    falls, rises = bool((ones[:, :-1] >= ones[:, 1:]).all()), bool((ones[:, :-1] <= ones[:, 1:]).all())
    ways: tuple[tuple[Meaning, Mask, str], ...] = (
        ("attend", ones, f"one more {yes}"),
        ("ignore", ~ones, f"one {yes} fewer"),
    )
    for way, visible, one_more in ways:
        if of_a_cache(visible):
            return {way: f"each row has {one_more} than the row before: a causal mask, with keys of the past before it"}
    steps = set(np.diff(ones.sum(1)).tolist())
    stairs = ""
    if steps in ({1}, {-1}) and len(ones) > 1:
        stairs = (
            ", and each row shows one more key than the row before, so it may as well be a causal mask counted from "
            "the upper left corner, as is_causal=True counts"
        )
    if falls:
        end = f"in no row does {yes} stand after a {no}: padding at the end is hidden"
        if kind != "booleans":
            return {"attend": end + stairs * (steps == {1})}
        other = "the other way round the beginning of each row is ignored, as padding on the left is"
        return {"attend": end + stairs * (steps == {1}), "ignore": other}
    left = f"where {yes} stands, it stands last: padding at the beginning is hidden, as for generation"
    right = f"where {yes} stands, it stands last: padding at the end is ignored, as by a key_padding_mask"
    if rises and kind == "booleans":
        return {"ignore": right + stairs * (steps == {-1}), "attend": left}
    if rises:
        return {"attend": left, "ignore": right + stairs * (steps == {-1})}
    return _both("attend", "nothing in it tells the two ways apart; this is F.scaled_dot_product_attention’s")


def said(table: Table) -> Meaning | None:
    """The meaning that our own files name in their first cell; None of other files."""
    if not (says := re.match(r"(True|False|0|1|added) = may attend|weights", table.says)):
        return None
    if not says[1]:
        return "weights"
    if "−∞" in table.says or "-inf" in table.says:
        return "added"
    return "attend" if says[1] in ("True", "1") else "ignore"


def are_weights(values: Values, precision: str = "float64") -> bool:
    """Whether it may be what a softmax gave: no number below 0, each row sums to 1, or to 0 without any key."""
    if values.min() < 0 or values.max() > 1 or are_0_or_1(values):
        return False
    sums = values.sum(-1)
    # Rounded to four digits, when it was printed; bfloat16 has three.
    atol = (1e-2 if precision == "bfloat16" else 2e-3) + 5e-5 * values.shape[-1]
    near = np.isclose(sums, 1, atol=atol)
    return bool((near | (sums == 0)).all() and near.any())


def are_ids(values: Values) -> bool:
    """Whether all are whole numbers as tokens have, some above 1."""
    is_whole = bool((values == np.round(values)).all())
    return is_whole and bool(((values >= 0) | (values == NOT_A_TOKEN)).all()) and bool(values.max() > 1)


def _is_by_distance(values: Values) -> bool:
    """Whether every number is told by how far key and query are apart, as biases of positions are."""
    return values.shape[-1] > 1 and bool((values[..., 1:, 1:] == values[..., :-1, :-1]).all())


def hides(values: Values, precision: str) -> Mask:
    """What leaves no weight when it is added to a score: e to its power is exactly 0 in this float type.

    Halves are counted as float32: in them −18 would be 0, too, which is an ordinary bias beside scores of ten.
    """
    narrow = np.float64 if precision == "float64" else np.float32
    hidden: Mask = values < NEVER_0
    with np.errstate(over="ignore"):
        hidden[hidden] = np.exp(values[hidden].astype(narrow)) == 0
    return hidden


def mask_of(values: Values, meaning: Meaning, precision: str) -> Mask:
    """Boolean of the same shape, True = may attend."""
    if meaning == "added":
        return ~hides(values, precision)
    mask: Mask = values == 0 if meaning == "ignore" else values != 0
    return mask


def warning(values: Values, kind: str, meaning: Meaning) -> str:
    """What torch makes of floats of 0 and 1 as they are; "" if there is nothing to be warned of."""
    if meaning in ("attend", "ignore") and kind == "numbers" and are_0_or_1(values):
        return (
            "It holds floats, and torch adds a float mask to the scores: handed over as it is, 1 would hide nothing, "
            "and neither would 0. “.bool()” is missing."
        )
    return ""


def odd_values(values: Values, precision: str, meaning: Meaning) -> str:
    """Values that the meaning has no place for, and what is done with them; "" if there are none."""
    if meaning in ("weights", "token ids"):
        return ""
    usual = (values == 0) | (values == -np.inf if meaning == "added" else values == 1)
    odd = values[~usual]
    if not len(odd):
        return ""
    if meaning != "added":
        return f"{_listed(odd)} neither 0 nor 1, and taken as 1."
    said, hidden = [], hides(odd, precision)
    narrow = "float64" if precision == "float64" else "float32"
    zero = f"as good as −∞, and taken as hidden, because e to its power is exactly 0 in {narrow}"
    for these, what in (
        (hidden, zero),
        (~hidden & (odd < np.inf), "neither 0 nor −∞: a bias, and taken as seen"),
        (odd == np.inf, "what makes every weight of its row NaN, and taken as seen"),
    ):
        if these.any():
            said.append(f"{_listed(odd[these])} {what}.")
    return " ".join(said)


def _listed(odd: NDArray[np.float64]) -> str:
    """The smallest values, how many there are, and the verb."""
    cells = counted(len(odd), "cell")
    if len(odd) > MOST_DISTINCT:
        return f"{_written(odd.min())} to {_written(odd.max())} ({cells}) are"
    distinct = np.unique(odd)
    more = f" and {counted(len(distinct) - LISTED, 'more value')}" if len(distinct) > LISTED else ""
    names = ", ".join(map(_written, distinct[:LISTED]))
    return f"{names}{more} ({cells}) {'is' if len(distinct) == 1 else 'are'}"


def _written(value: float) -> str:
    return f"{value:g}".replace("-", "−").replace("inf", "∞")
