"""What is wrong in who sees whom: rows without a key, diagonals that are off, padding on the wrong axis."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.finding import Finding
from tfm_core.clinic.findings_case import Case, first, has, lines, listed, signed

GRAINS = {
    "float16": 2**-10,
    "bfloat16": 2**-7,
    "float32": 2**-23,
    "float64": 2**-52,
}  # next to 1, up to the next number
FEW = 0.25  # of the pairs ahead: up to this share a mask is "otherwise causal"
CAUSAL = {
    "attend": "torch.ones_like({m}).tril()",
    "ignore": "torch.ones_like({m}).triu(1)",
    "added": 'torch.full_like(mask, float("-inf")).triu(1)',
}
INVERTED = {"attend": "~{m}", "ignore": "~{m}", "added": 'torch.where(mask <= {limit}, 0.0, float("-inf"))'}
OPENED = {
    "attend": "{m} | ~{m}.any(-1, keepdim=True)",
    "ignore": "{m} & ~{m}.all(-1, keepdim=True)",
    "added": "mask.masked_fill((mask <= {limit}).all(-1, keepdim=True), 0.0)",
}
CUT = {
    "attend": "{m}.tril()",
    "ignore": "{m} | torch.ones_like({m}).triu(1)",
    "added": 'mask + torch.full_like(mask, float("-inf")).triu(1)',
}
LOWER_RIGHT = {
    "attend": "torch.ones_like({m}).tril(mask.shape[1] - mask.shape[0])",
    "ignore": "torch.ones_like({m}).triu(mask.shape[1] - mask.shape[0] + 1)",
    "added": 'torch.full_like(mask, float("-inf")).triu(mask.shape[1] - mask.shape[0] + 1)',
}
ON_KEYS = {
    "attend": "{m}.any(-1).expand(mask.shape)",
    "ignore": "{m}.all(-1).expand(mask.shape)",
    "added": "mask.amax(-1).expand(mask.shape)",
}
ON_KEYS_CAUSAL = {
    "attend": "{m}.any(-1) & torch.ones_like({m}).tril()",
    "ignore": "{m}.all(-1) | torch.ones_like({m}).triu(1)",
    "added": 'mask.amax(-1) + torch.full_like(mask, float("-inf")).triu(1)',
}


def of_pattern(case: Case) -> list[Finding]:
    """The findings that the visible pairs show."""
    visible = case.visible
    if not visible.any():
        return [*_of_nothing(case), *_of_rows(case)]
    if visible.all():
        if case.zeros_and_ones and case.meaning == "added":
            return []  # 0 and 1 that are added hide nothing: told of the numbers
        return [
            case.finding(
                "note",
                "hides nothing",
                "The mask hides nothing: every query sees every key.",
                "Attention with it is attention without a mask.",
            )
        ]
    return [*_of_order(case), *_of_rows(case), *_of_columns(case)]


def _of_nothing(case: Case) -> Iterator[Finding]:
    yield case.finding(
        "error",
        "hides everything",
        "The mask hides everything: no query sees any key.",
        "True and False, or 0 and 1, are probably the wrong way round.",
        mending=INVERTED,
    )


def _of_rows(case: Case) -> Iterator[Finding]:
    """Rows without a key, and what softmax makes of them."""
    if not len(case.empty):
        return
    row = int(case.empty[0])
    name = "Sentence" if case.sentences and len(case.visible) > 1 else "Row"
    title = f"{lines(case.empty, name)} {has(case.empty)} no key."
    yield case.finding("error", "row without a key", title, _fate(case, row), mending=OPENED, row=row)


def _fate(case: Case, row: int) -> str:
    """What becomes of a row without a key."""
    numbers = case.values[row]
    if case.meaning != "added" or np.isneginf(numbers).all():
        return (
            "Softmax over nothing but −∞ is 0 / 0. A softmax written by hand gives NaN, and so does "
            "nn.MultiheadAttention with its weights; F.scaled_dot_product_attention gives zeros. A NaN reaches every "
            "token in the next layer, because 0 times NaN is NaN."
        )
    most = float(numbers.max())
    told = signed(most)
    if (numbers < most).any():
        return f"The largest of the numbers, {told}, takes the weight: these keys are visible, though they were hidden."
    if abs(most) * GRAINS.get(case.precision, GRAINS["float32"]) > 1:
        return (
            f"All is {told}, beside which the scores vanish: each key gets the same weight, 1 / {len(numbers)}, hidden "
            "keys included. There is no NaN that would tell."
        )
    return (
        f"All is {told}, which softmax takes away again: the weights are those without a mask, hidden keys included. "
        "There is no NaN that would tell."
    )


def _of_order(case: Case) -> Iterator[Finding]:
    """Diagonals that are off, and looking ahead."""
    rows, columns = case.visible.shape
    if rows != columns:
        yield from _of_uneven(case)
        return
    if not case.square:
        return
    visible = case.visible
    for offset in (-2, -1, 1, 2):
        if rows > abs(offset) and np.array_equal(visible, np.tri(rows, rows, offset, dtype=bool)):
            yield _off(case, offset)
            return
    for offset in (0, -1):
        if np.array_equal(visible, ~np.tri(rows, rows, offset, dtype=bool)):
            yield case.finding(
                "error",
                "looks only ahead",
                f"Every query sees only what comes after it{'' if offset else ', not itself'}: the mask is inverted.",
                "The future is visible and the past is hidden. In training the next token, which is to be predicted, "
                "is visible: the loss falls, and generation fails.",
                first(np.triu(visible, 1)),
                CAUSAL,
            )
            return
    yield from _padding_on_queries(case)
    yield from _looks_ahead(case)


def _off(case: Case, offset: int) -> Finding:
    many = abs(offset)
    if offset < 0:
        return case.finding(
            "error",
            "diagonal hidden",
            f"The diagonal is off by {many}: no token sees itself.",
            f"Row 1{' and row 2 have' if many == 2 else ' has'} no key, and each other token is built from earlier "
            "tokens alone.",
            (0, 0),
            CAUSAL,
        )
    return case.finding(
        "error",
        "one ahead",
        f"The diagonal is off by {many}: every token sees exactly {many} token{'s' * (many > 1)} ahead.",
        "In training the next token, which is to be predicted, is visible: the loss falls to almost 0, and generation "
        "fails.",
        (0, many),
        CAUSAL,
    )


def _of_uneven(case: Case) -> Iterator[Finding]:
    visible = case.visible
    rows, columns = visible.shape
    if case.column:
        yield case.finding(
            "error",
            "padding on queries",
            f"The mask has {rows:,} rows and 1 column: it hides queries, not keys.",
            "A single column stands for all keys: a row shows all of them or none. Padding belongs on the key axis: "
            "[:, None, None, :].",
            mending=dict.fromkeys(("attend", "ignore"), "{m}.mT") | {"added": "mask.mT"},
            axes="sentences",
        )
        return
    if rows > 1 and np.array_equal(visible, np.tri(rows, columns, dtype=bool)):
        many = columns - rows
        yield case.finding(
            "warning",
            "upper left",
            f"If it is causal, it begins in the upper left corner, with {rows:,} queries and {columns:,} keys.",
            (
                f"After a cache the last query belongs beside the last key: now the last {many:,} keys are hidden from "
                "everybody. torch's is_causal=True makes such masks. As padding, a row per sentence, it is right."
                if many > 0
                else f"The last {-many:,} queries see all keys."
            ),
            mending=LOWER_RIGHT if many > 0 else None,
            axes="uneven pairs",
        )
    elif columns > rows > 1 and np.array_equal(visible, np.tri(rows, columns, columns - rows, dtype=bool)):
        yield case.finding(
            "note",
            "cache",
            f"There are {columns:,} keys for {rows:,} queries: causal, with {columns - rows:,} of a cache.",
            "The last query stands beside the last key. is_causal=True would begin in the upper left corner instead: "
            "hand over the mask.",
        )


def _padding_on_queries(case: Case) -> Iterator[Finding]:
    """Empty rows, where the same columns are visible to the others."""
    empty = case.empty
    if not len(empty) or len(empty) == len(case.visible):
        return
    full = ~np.isin(np.arange(len(case.visible)), empty)[:, None]
    pattern = np.broadcast_to(full, case.visible.shape)
    causal = pattern & np.tri(len(case.visible), dtype=bool)
    if not (np.array_equal(case.visible, pattern) or np.array_equal(case.visible, causal)):
        return
    if np.array_equal(case.visible, causal) and empty[-1] != len(full) - 1:
        return  # a causal mask with a gap in the middle or at its beginning: no sentence's end
    told = f"{'row' if len(empty) == 1 else 'rows'} {listed(empty)}"
    yield case.finding(
        "error",
        "padding on queries",
        f"Padding is on the query axis: {told} {'is' if len(empty) == 1 else 'are'} empty, and no column is hidden.",
        "The queries of padding have no key, and its keys are hidden from no other query. Padding belongs on the key "
        "axis: [:, None, None, :].",
        mending=ON_KEYS if np.array_equal(case.visible, pattern) else ON_KEYS_CAUSAL,
        row=int(empty[0]),
    )


def _looks_ahead(case: Case) -> Iterator[Finding]:
    """A few pairs ahead in an otherwise causal mask; a prefix, whose tokens all see each other, is no fault."""
    visible = case.visible
    ahead = np.triu(visible, 1)
    count = int(ahead.sum())
    if not count or not _few_ahead(visible) or np.array_equal(visible, visible.T):
        return
    prefix = int(np.flatnonzero(ahead.any(0))[-1]) + 1
    if prefix > 1 and visible[:prefix, :prefix].all() and not ahead[:, prefix:].any():
        yield case.finding(
            "note",
            "prefix",
            f"The first {prefix:,} tokens see each other; after them it is causal.",
            "So are masks of a prompt that is read both ways. In a causal model its tokens would look ahead.",
        )
        return
    cells = [f"row {row + 1}, column {column + 1}" for row, column in np.argwhere(ahead)[:3]]
    more = f", and {count - 3:,} more" if count > 3 else ""
    yield case.finding(
        "warning",
        "looks ahead",
        f"In an otherwise causal mask {count:,} pair{'s look' if count > 1 else ' looks'} ahead: "
        f"{'; '.join(cells)}{more}.",
        "In training these queries see a token that is to be predicted.",
        first(ahead),
        CUT,
    )


def _few_ahead(visible: NDArray[np.bool_]) -> bool:
    """Whether a mask is causal, but for a few pairs."""
    size = len(visible)
    return int(np.triu(visible, 1).sum()) <= FEW * size * (size - 1) / 2


def _of_columns(case: Case) -> Iterator[Finding]:
    """Keys that are hidden from some queries only, where most are hidden from none."""
    visible = case.visible
    if not case.square or np.array_equal(visible, visible.T):
        return
    rows = np.setdiff1d(np.arange(len(visible)), case.empty)
    ordered = _few_ahead(visible)
    allowed = (np.tri(len(visible), dtype=bool) if ordered else np.ones_like(visible))[rows]
    kept = visible[rows]
    if ordered and (kept[:-1] | ~kept[1:] | ~allowed[:-1]).all():
        return  # each key is forgotten after a while, as a window does
    whole = np.asarray((kept | ~allowed).all(0))
    partly = np.flatnonzero(~whole & (kept & allowed).any(0))
    if len(partly) and 2 * int(whole.sum()) >= len(whole) and len(case.facts.blocks) <= 1:
        column = int(partly[0])
        row = int(rows[(allowed[:, column] & ~kept[:, column]).argmax()])
        yield case.finding(
            "note",
            "column partly hidden",
            f"{lines(partly, 'column')} {'are' if len(partly) > 1 else 'is'} hidden from some queries only.",
            "If it is padding, it should be hidden from all queries; if not, this may be meant.",
            (row, column),
        )
