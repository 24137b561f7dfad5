"""`check_causal_mask` and `check_padding_mask`: functions that make masks, in each of the three conventions."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tfm_core.checks.callables import CodeFailed, by_place, check_callable, guarded, parameters, plain
from tfm_core.checks.judging import failed, misshapen
from tfm_core.checks.report import Report
from tfm_core.masks.basic import causal_mask, padding_mask
from tfm_core.study.diagnosis import HIDDEN_BELOW
from tfm_core.study.exercise import PAD_ID
from tfm_core.study.mistakes import MISTAKES

STEP = "mask"
ATTEND, HIDDEN, ADDED = "True = may attend", "True = hidden", "added to the scores"
CAUSAL = ("diagonal hidden", "next token visible", "looks ahead instead of back", "causal mask forgotten")
PADDING = ("padding on the query axis", "first sentence’s padding for all", "padding mask forgotten")
LENGTH, QUERIES = 6, 4
IDS = torch.tensor([[5, 3, 8, 2, 9, 0], [7, 4, 6, 0, 0, 0], [2, 9, 4, 6, 1, 3]])
PADS = ("padid", "pad", "padidx", "padtoken", "padtokenid", "padindex", "paddingidx", "srcpadidx", "padvalue")


@dataclass(frozen=True)
class Read:
    """A mask, read in a convention.

    Attributes:
        visible: boolean, True = may attend.
        convention: how it was read.
    """

    visible: Tensor
    convention: str


def check_causal_mask(f: Any, *, hint: bool = False) -> Report:
    """Check a function that makes causal masks: a query sees itself and what comes before.

    Args:
        f: f(n), or f(query, key), which are aligned at the last one; or f(ids). It returns booleans, 0 and 1, or
            numbers that are added, (n, n), (1, n, n) or (1, 1, n, n).
        hint: whether the report tells the symptom and the cure.

    Raises:
        ValueError: for what cannot be called.

    Examples:
        >>> import torch
        >>> from tfm_core import check_causal_mask
        >>> bool(check_causal_mask(lambda n: torch.ones(n, n).tril().bool()))
        True
        >>> bool(check_causal_mask(lambda n: torch.ones(n, n).tril(-1).bool()))  # no query sees itself
        False
    """
    check = "check_causal_mask"
    check_callable(check, f, "a function f(n) that returns a mask")
    required = [each for each in by_place(parameters(f) or []) if each.default is each.empty]
    sizes = [(LENGTH, LENGTH), (QUERIES, LENGTH)] if len(required) == 2 else [(LENGTH, LENGTH)]
    report = None
    for queries, keys in sizes:
        try:
            made = _tensor(_made_for(f, queries, keys, len(required) == 2))
        except CodeFailed as error:
            return failed(check, hint, STEP, error)
        flat = None if made is None else _without_batch(made, queries, keys)
        if made is None or flat is None:
            return misshapen(check, hint, STEP, (queries, keys), [] if made is None else [tuple(made.shape)])
        names = (*CAUSAL, "causal mask from the wrong corner") if queries < keys else CAUSAL
        wrong = {name: MISTAKES[name].wrong["causal"](queries, keys) for name in names}
        report = _told(check, flat, causal_mask(queries, keys), wrong, hint)
        if not report.ok:
            return report
    assert report is not None
    return report


def _made_for(f: Callable[..., Any], queries: int, keys: int, takes_both: bool) -> Any:
    if takes_both:
        return guarded(f, queries, keys)
    try:
        return guarded(f, keys)
    except CodeFailed as error:
        try:  # some take token ids, for their length
            return guarded(f, torch.arange(1, keys + 1).expand(2, keys))
        except CodeFailed:
            raise error from None


def _tensor(made: Any) -> Tensor | None:
    """The mask as a tensor; None of what is none."""
    if isinstance(made, Tensor):
        return made.detach().cpu()
    try:
        return torch.as_tensor(made)
    except (TypeError, ValueError, RuntimeError):
        return None


def _without_batch(mask: Tensor, queries: int, keys: int) -> Tensor | None:
    """(query, key) of a mask that is the same for each sentence and head; None of another shape."""
    if mask.dim() < 2 or tuple(mask.shape[-2:]) != (queries, keys):
        return None
    flat = mask.reshape(-1, queries, keys)
    return flat[0] if bool((flat == flat[:1]).all()) else None


def _readings(mask: Tensor) -> Iterator[Read]:
    """The mask in each convention in which it can be read, the house's first."""
    values = mask.double()
    if mask.dtype == torch.bool or bool(((values == 0) | (values == 1)).all()):
        yield Read(values != 0, ATTEND)
        yield Read(values == 0, HIDDEN)
    else:
        yield Read(values > HIDDEN_BELOW, ADDED)


def _told(check: str, mask: Tensor, right: Tensor, wrong: dict[str, Tensor], hint: bool) -> Report:
    """The report on a mask: right in a convention, or by the mistake that gives it."""
    readings = list(_readings(mask))
    for read in readings:
        if torch.equal(read.visible, right):
            return Report(True, what=check, notes=(_convention(mask, read), *_numbers(mask)))
    if mask.dtype != torch.bool and (tiny := _tiny(mask)):
        return Report(False, STEP, tiny, math.inf, check, hint=hint)
    names = [name for read in readings for name, its in wrong.items() if torch.equal(read.visible, its)]
    if any(torch.equal(read.visible, ~right) for read in readings):
        names.append("mask inverted")
    differ = int((readings[0].visible != right).sum())
    notes = (f"{differ} of {right.numel()} pairs differ.",) if not names else ()
    name, *others = names or [""]
    return Report(False, STEP, name, 1.0, check, notes, tuple(dict.fromkeys(others)), hint)


def _convention(mask: Tensor, read: Read) -> str:
    if read.convention == ADDED:
        return "Its numbers are added to the scores."
    return f"Its convention: {read.convention if mask.dtype == torch.bool else read.convention.replace('True', '1')}."


def _numbers(mask: Tensor) -> tuple[str, ...]:
    """What is to be said of the numbers 0 and 1."""
    if mask.is_floating_point() and bool(((mask == 0) | (mask == 1)).all()):
        return ("It is made of the floats 0 and 1, which hide nothing where they are added to scores.",)
    return ()


def _tiny(mask: Tensor) -> str:
    """The mistake of an exponent, in numbers that are too small to hide anything."""
    largest = float(mask.double().abs().max())
    if not 0 < largest < 1e-3:
        return ""
    return "−1e-9 for −1e9" if bool((mask < 0).any()) else "1e-9 for −1e9"


def check_padding_mask(f: Any, *, hint: bool = False) -> Report:
    """Check a function that makes masks of padding: as keys, tokens of padding are hidden.

    Args:
        f: f(ids) with padding 0, or f(ids, pad_id), of ids (batch, seq); it returns what broadcasts to (batch, head,
            query, key), or (batch, key) as nn.MultiheadAttention's key_padding_mask.
        hint: whether the report tells the symptom and the cure.

    Raises:
        ValueError: for what cannot be called.

    Examples:
        >>> from tfm_core import check_padding_mask
        >>> bool(check_padding_mask(lambda ids: (ids != 0)[:, None, None, :]))
        True
        >>> check_padding_mask(lambda ids: (ids == 0)[:, None, None, :]).ok
        False
    """
    check = "check_padding_mask"
    check_callable(check, f, "a function f(ids) or f(ids, pad_id) that returns a mask")
    params = by_place(parameters(f) or [])
    takes_pad = len(params) > 1 and (params[1].default is params[1].empty or plain(params[1].name) in PADS)
    report = None
    for pad in (PAD_ID, 11) if takes_pad else (PAD_ID,):
        ids = IDS.masked_fill(IDS == PAD_ID, pad)
        try:
            made = _tensor(guarded(f, ids, pad) if takes_pad else guarded(f, ids))
        except CodeFailed as error:
            return failed(check, hint, STEP, error)
        whole = None if made is None else _whole(made)
        if made is None or whole is None:
            shape = (len(IDS), 1, 1, LENGTH)
            return misshapen(check, hint, STEP, shape, [] if made is None else [tuple(made.shape)])
        report = _told_of_padding(check, made, whole, hint)
        if not report.ok:
            return report
    assert report is not None
    return report


def _whole(mask: Tensor) -> Tensor | None:
    """(batch, 1, query, key) of a mask of padding; None of another shape."""
    if tuple(mask.shape) == (len(IDS), LENGTH):
        mask = mask[:, None, None]
    elif mask.dim() == 3:
        mask = mask[:, None]
    shape = (len(IDS), 1, LENGTH, LENGTH)
    try:
        whole = torch.broadcast_to(mask, shape)
    except RuntimeError:
        return None
    return whole if mask.dim() == 4 else None


def _told_of_padding(check: str, made: Tensor, whole: Tensor, hint: bool) -> Report:
    shape = whole.shape
    right = padding_mask(IDS, PAD_ID).expand(shape)
    causal = right & causal_mask(LENGTH)
    for read in _readings(whole):
        notes = (_convention(whole, read), *_numbers(whole))
        if torch.equal(read.visible, right & right.mT):
            notes = (*notes, "Queries of padding are hidden, too: they have no key at all.")
        elif torch.equal(read.visible, causal):
            notes = (*notes, "It is causal, too.")
        elif not torch.equal(read.visible, right):
            continue
        if read.convention == HIDDEN and made.dim() > 2:
            more = "It would be right where True means “hidden”; a mask of four axes was read as True = may attend."
            return Report(False, STEP, "mask inverted", 1.0, check, (more,), hint=hint)
        return Report(True, what=check, notes=notes)
    wrong = {name: MISTAKES[name].wrong["padding"](IDS, LENGTH).expand(shape) for name in PADDING}
    return _told(check, whole, right, wrong, hint)
