"""Results of others' code beside the right steps, and the mistake of the catalogue that gives them."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.checks.callables import CodeFailed
from tfm_core.checks.report import Report
from tfm_core.study.diagnosis import ASKED, NEAR, aligned, compare, diagnose
from tfm_core.study.exercise import Exercise
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.pieces import Pieces
from tfm_core.study.steps import STEPS, Steps

D_MODEL, HEADS, SEQ, D_FF = 32, 4, 7, 48  # of what is built here: no two axes are alike


@dataclass(frozen=True)
class Trial:
    """A call of the code, beside what is right for it.

    Attributes:
        exercise: whose steps it computes.
        starts: the tensors that it started from.
        results: what it gave, by step.
        notes: what was read into the code for this trial.
    """

    exercise: Exercise
    starts: Mapping[str, Tensor]
    results: Mapping[str, Tensor]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """What came of a trial.

    Attributes:
        trial: which.
        ok: whether all results are right.
        step: the first that differs.
        difference: the largest.
        names: the mistake, or the two, that give the results; empty if none does.
        equal: others that do.
        complete: whether the results have the shapes of right ones.
    """

    trial: Trial
    ok: bool
    step: str = ""
    difference: float = 0.0
    names: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    complete: bool = True

    def report(self, check: str, hint: bool, notes: tuple[str, ...] = ()) -> Report:
        """The judgement as a report."""
        more = (f"A second mistake with it: {self.names[1]}.",) if len(self.names) > 1 else ()
        return Report(
            self.ok,
            self.step,
            self.names[0] if self.names else "",
            self.difference,
            check,
            (*more, *self.trial.notes, *notes),
            self.equal,
            hint,
            of_result=not self.names,
        )


def near(right: Tensor) -> float:
    """How far off float32 code may be."""
    finite = right.double()[right.double().isfinite()]
    return NEAR * max(1.0, float(finite.abs().max()) if finite.numel() else 0.0)


def is_right(trial: Trial, exchanged: Pieces | None = None) -> bool:
    """Whether all results of a trial are right."""
    steps = Steps(trial.exercise, trial.starts)
    with torch.no_grad():
        for step, result in trial.results.items():
            right = steps.value(step, exchanged)
            if not compare(step, right, result.double(), near(right)).ok:
                return False
    return True


def judged(trial: Trial, *, without: Collection[str] = (), pairs: bool = False) -> Judged:
    """Compare a trial's results, and name the mistake that gives them.

    Args:
        trial: what was called, and what came of it.
        without: mistakes that are none here, such as a post-norm layer's norms where both kinds are right.
        pairs: whether two mistakes at once are looked for.
    """
    results = {step: result.detach().cpu() for step, result in trial.results.items()}
    diagnosis = diagnose(trial.exercise, results, starts=trial.starts, pairs=pairs)
    differences = [each.difference for each in diagnosis.compared]
    largest = math.inf if any(map(math.isinf, differences)) else max(differences, default=math.nan)
    if diagnosis.ok:
        return Judged(trial, True, difference=largest)
    explanations = [each for each in diagnosis.explanations if not set(each.names) & set(without)]
    order = list(MISTAKES)
    explanations.sort(key=lambda each: [order.index(name) for name in each.names])
    complete = not any(each.shapes for each in diagnosis.compared)
    if not explanations:
        return Judged(trial, False, diagnosis.step, largest, complete=complete)
    first, *others = explanations
    equal = tuple(dict.fromkeys(" and ".join(each.names) for each in others if each.names != first.names))
    step = first_changed(trial, first.exchanged) or diagnosis.step
    return Judged(trial, False, step, largest, first.names, equal, complete)


def first_changed(trial: Trial, exchanged: Pieces) -> str:
    """The first step that exchanged pieces change, of those that the results depend on; "" if none does."""
    steps = Steps(trial.exercise, trial.starts)
    with torch.no_grad():
        for step in computed(trial, list(trial.results)[-1]):
            try:
                right, wrong = steps.value(step), steps.value(step, exchanged)
            except RuntimeError:
                return step
            if aligned(right, wrong) is None or not compare(step, right, wrong.double(), near(right)).ok:
                return step
    return ""


def computed(trial: Trial, last: str) -> list[str]:
    """The steps up to the last that are computed, in order: not the starts, nor what they are in place of."""
    needed, left = set[str](), [last]
    while left:
        step = left.pop()
        if step in STEPS and step not in needed and step not in trial.starts:
            needed.add(step)
            left += STEPS[step].reads
    return [step for step in ASKED if step in needed]


def best(judgements: list[Judged]) -> Judged:
    """The judgement that says most: right, explained by a single mistake, or at least of the right shape."""
    return min(judgements, key=lambda each: (not each.ok, not each.names, not each.complete, len(each.equal)))


def searched(trials: list[Trial], *, without: Collection[str] = (), most: int = 8) -> Judged:
    """The trial that is right, or that a mistake explains; the first ones are the likeliest.

    Args:
        trials: ways to read the same code.
        without: mistakes that are none here.
        most: trials in which mistakes are looked for.
    """
    for trial in trials:
        if is_right(trial):
            return judged(trial)
    judgements = []
    for trial in trials[:most]:
        judgements.append(judged(trial, without=without))
        if judgements[-1].names:
            break
    chosen = best(judgements)
    if not chosen.names and chosen.complete:
        chosen = judged(chosen.trial, without=without, pairs=True)
    return chosen


def dropped(check: str, hint: bool, step: str, first: Tensor, second: Tensor) -> Report | None:
    """The report on code that gives other numbers each time; None where both calls give the same."""
    if first.shape != second.shape or torch.allclose(first, second, atol=1e-6, equal_nan=True):
        return None
    difference = float((first - second).abs().max())
    notes = ("Two calls with the same numbers differ from each other.",)
    return Report(False, step, "dropout active", difference, check, notes=notes, hint=hint)


def failed(check: str, hint: bool, step: str, error: Exception | str) -> Report:
    """The report on code that raised an exception."""
    notes = (error.where,) if isinstance(error, CodeFailed) and error.where else ()
    return Report(False, step, "", math.nan, check, notes, error=str(error), hint=hint)


def misshapen(check: str, hint: bool, step: str, expected: tuple[int, ...], shapes: list[tuple[int, ...]]) -> Report:
    """The report on code that gives no tensor of the right shape."""
    got = ", ".join(str(shape) for shape in shapes) or "no tensor"
    notes = (f"Expected an output of shape {expected}; got {got}.",)
    return Report(False, step, "", math.nan, check, notes=notes, hint=hint, of_result=True)


Check = Callable[..., Report]
