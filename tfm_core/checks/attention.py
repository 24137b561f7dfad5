"""`check_attention`: a function of queries, keys and values, beside equation 1 of Vaswani et al. 2017."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core.checks.callables import (
    CodeFailed,
    NoPlaceForMask,
    built,
    called,
    check_callable,
    parameters,
    signature,
    tensors_in,
)
from tfm_core.checks.drawing import drawn_parameters, in_one_thread
from tfm_core.checks.judging import HEADS, SEQ, Judged, Trial, dropped, failed, is_right, misshapen, searched
from tfm_core.checks.report import Report
from tfm_core.study.exercise import BATCH, Exercise, given
from tfm_core.study.steps import Steps

CHECK = "check_attention"
HEAD_DIM = 6
OUTPUT = "head outputs"
Start = Mapping[str, Tensor]


@in_one_thread
def check_attention(f: Any, *, hint: bool = False, seed: int = 0) -> Report:
    """Check softmax(q · k / √d_k) · v, without and with a mask.

    Args:
        f: f(q, k, v) and f(q, k, v, mask), a function, a module or its class. It is called with tensors (batch, head,
            seq, d_k), or (batch, seq, d_k) if it takes no others, and returns the outputs, or outputs and weights in
            either order. The mask is boolean or 0 and 1, True = may attend, (batch, 1, query, key).
        hint: whether the report tells the symptom and the cure.
        seed: what the numbers are drawn from.

    Raises:
        ValueError: for what cannot be called.

    Examples:
        >>> from tfm_core import check_attention
        >>> def my_attention(q, k, v, mask=None):
        ...     scores = q @ k.mT  # not divided by sqrt(d_k)
        ...     if mask is not None:
        ...         scores = scores.masked_fill(~mask.bool(), float("-inf"))
        ...     return scores.softmax(-1) @ v
        >>> report = check_attention(my_attention)
        >>> report.step, report.mistake
        ('scores', 'no scale')
    """
    check_callable(CHECK, f, "a function f(q, k, v, mask)")
    try:
        code = _code(f)
    except CodeFailed as error:
        return failed(CHECK, hint, "construction", error)
    with drawn_parameters(code if isinstance(code, nn.Module) else nn.Module(), seed):
        torch.manual_seed(seed)
        reports = []
        for heads in (HEADS, 1):
            report = _checked(code, heads, hint, seed)
            if report.ok or report.mistake:
                return report
            reports.append(report)
    # Code for three axes alone fails with four, or finds other axes there: what is explained is told.
    return min(reports, key=lambda each: (bool(each.error), not each.mistake, math.isnan(each.largest_difference)))


def _code(f: Any) -> Callable[..., Any]:
    """The function or the module itself; of a class an instance."""
    if isinstance(f, type):
        sizes = {"d_model": HEADS * HEAD_DIM, "d_k": HEAD_DIM, "temperature": HEAD_DIM**0.5, "dropout": 0.5}
        sizes |= {"num_heads": HEADS, "context": SEQ, "bias": True}
        return built(CHECK, f, sizes if parameters(f) else {})
    code: Callable[..., Any] = f
    return code


def _checked(code: Callable[..., Any], heads: int, hint: bool, seed: int) -> Report:
    generator = torch.Generator().manual_seed(seed)
    names = ("query", "key", "value")
    four = {name: torch.randn(BATCH, heads, SEQ, HEAD_DIM, generator=generator) for name in names}
    handed = four if heads > 1 else {name: tensor[:, 0] for name, tensor in four.items()}
    starts = {name: tensor.transpose(1, 2).flatten(2) for name, tensor in four.items()}
    expected = tuple(handed["value"].shape)

    def exercise(mask: str) -> Exercise:
        width = heads * HEAD_DIM
        return Exercise(d_model=width, num_heads=heads, seq=SEQ, mask=mask, seed=seed)

    try:
        tensors = tensors_in(called(code, handed, {}))
        again = tensors_in(called(code, handed, {}))
    except CodeFailed as error:
        return failed(CHECK, hint, OUTPUT, error)
    results = results_of(tensors, expected, (BATCH, heads, SEQ, SEQ), OUTPUT)
    if not results:
        return misshapen(CHECK, hint, OUTPUT, expected, [tuple(each.shape) for each in tensors])
    plain = Trial(exercise("none"), starts, results)
    if not is_right(plain):
        report = dropped(CHECK, hint, "weights", tensors[0], again[0])
        return report if report is not None else searched(read(plain)).report(CHECK, hint)
    judgement = searched(read(plain))
    masked = _masked(code, handed, starts, exercise, expected)
    if isinstance(masked, (str, CodeFailed)):
        return failed(CHECK, hint, "masked scores", masked)
    if masked is None:
        return judgement.report(CHECK, hint, ("No mask is taken.",))
    worse = masked if not masked.ok or masked.difference > judgement.difference else judgement
    return worse.report(CHECK, hint, about_mask(masked, lambda mask: _right_for(code, handed, masked, mask)))


def read(trial: Trial) -> list[Trial]:
    """The trial with its weights, and without: what stands beside an output may be something else."""
    without = {name: result for name, result in trial.results.items() if name != "weights"}
    return [trial, Trial(trial.exercise, trial.starts, without, trial.notes)] if "weights" in trial.results else [trial]


def results_of(
    tensors: list[Tensor], expected: tuple[int, ...], pairs: tuple[int, ...], step: str
) -> dict[str, Tensor]:
    """The output by its shape, and the weights, where they are returned for each head; nothing if no shape fits.

    Args:
        tensors: what the code gave.
        expected: the shape of an output.
        pairs: (batch, head, query, key).
        step: the output's name.
    """
    output = next((each for each in tensors if tuple(each.shape) == expected), None)
    if output is None:
        output = next((each for each in tensors if each.squeeze().shape == torch.Size(expected)), None)
    if output is None:
        return {}
    batch, heads, *rest = pairs
    shapes = [pairs, (batch * heads, *rest), (batch, *rest)][: 3 if heads == 1 else 2]
    weights = next((each for each in tensors if each is not output and tuple(each.shape) in shapes), None)
    results = {} if weights is None else {"weights": weights.reshape(pairs).float()}
    return {**results, step: output.float().reshape(expected)}


def _ways(ids: Tensor, heads: int) -> list[tuple[str, Tensor]]:
    """The masks that code may take: (what is hidden, the mask), the likeliest first."""
    full, causal = mask_of("causal and padding", ids), mask_of("causal", ids)[0, 0]
    shaped = [("causal and padding", full), ("causal and padding", full[:, 0]), ("causal", causal)]
    if heads == 1:
        shaped = [shaped[1], shaped[0], shaped[2]]
    typed = [(what, mask.to(dtype)) for dtype in (torch.bool, torch.float, torch.long) for what, mask in shaped]
    return typed


def mask_of(what: str, ids: Tensor) -> Tensor:
    """(batch, 1, query, key), True = may attend."""
    steps = Steps(Exercise(d_model=2, num_heads=1, seq=ids.shape[-1], mask=what), {"ids": ids})
    mask: Tensor = steps.value("mask")
    return mask


def _masked(
    code: Callable[..., Any],
    handed: Start,
    starts: Start,
    exercise: Callable[[str], Exercise],
    expected: tuple[int, ...],
) -> Judged | CodeFailed | None:
    """The best judgement over the kinds of masks; None where the code takes none."""
    ids = given(exercise("causal and padding"))["ids"]
    heads = exercise("none").num_heads
    takes = signature(code)
    name = next(iter(takes.masks), "")
    trials, error = [], None
    ways = _ways(ids, heads)
    if takes.takes_lengths:
        ways = [("padding", (ids != 0).sum(-1))]
    for what, mask in ways:
        try:
            tensors = tensors_in(called(code, handed, {name: mask}))
        except NoPlaceForMask:
            return None
        except CodeFailed as raised:
            error = error or raised
            continue
        results = results_of(tensors, expected, (len(ids), heads, SEQ, SEQ), OUTPUT)
        if results:
            trials.append(Trial(exercise(what), {**starts, "ids": ids}, results))
            if is_right(trials[-1]):
                break
    if not trials:
        return error or CodeFailed("RuntimeError: no output of the right shape where there is a mask")
    return searched([each for trial in trials for each in read(trial)], most=6)


def _right_for(code: Callable[..., Any], handed: Start, judgement: Judged, kind: str) -> bool:
    """Whether the code is right for another convention: "hidden" or "additive"."""
    trial = judgement.trial
    mask = mask_of(trial.exercise.mask, trial.starts["ids"])
    other = ~mask if kind == "hidden" else torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    if handed["value"].dim() == 3:
        other = other[:, 0]
    if trial.exercise.mask == "causal":
        other = other.reshape(-1, *other.shape[-2:])[0]
    try:
        tensors = tensors_in(called(code, handed, {next(iter(signature(code).masks), ""): other}))
    except (CodeFailed, NoPlaceForMask):
        return False
    pairs = (BATCH, trial.exercise.num_heads, SEQ, SEQ)
    results = results_of(tensors, tuple(handed["value"].shape), pairs, OUTPUT)
    return bool(results) and is_right(Trial(trial.exercise, trial.starts, results))


def about_mask(judgement: Judged, right_for: Callable[[str], bool]) -> tuple[str, ...]:
    """What is to be said where another convention of masks would make the code right."""
    names = {*judgement.names, *judgement.equal}
    if "mask inverted" in names and right_for("hidden"):
        return (
            "It would be right for masks in which True means “hidden”, as nn.MultiheadAttention takes them; handed "
            "over was True = may attend.",
        )
    if "mask added as 0 and 1" in names and right_for("additive"):
        return (
            "It would be right for a mask that is added, with 0 and −∞; handed over was a boolean mask, True = may "
            "attend.",
        )
    return ()
