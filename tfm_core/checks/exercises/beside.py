"""A check of a small function: the same numbers go through it and through code that is right, often torch's own."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from tfm_core.checks.callables import CodeFailed, check_callable, guarded, tensors_in
from tfm_core.checks.drawing import in_one_thread
from tfm_core.checks.judging import failed, near
from tfm_core.checks.report import Report
from tfm_core.study.mistakes import MISTAKES

Function = Callable[..., Any]
Call = Sequence[Any]  # the arguments of a call


@dataclass(frozen=True)
class Slip:
    """A mistake that the catalogue of mistakes does not have, because no layer has this piece.

    Attributes:
        computed: the wrong function.
        about: what it computes, in a sentence.
        cure: what to do instead, in a sentence.
    """

    computed: Function
    about: str
    cure: str


@dataclass(frozen=True, kw_only=True)
class Beside:
    """The check of a function beside the right one.

    Attributes:
        name: of the function, as the report calls it.
        right: the right function.
        calls: the arguments of each call, drawn from a generator.
        mistakes: a mistake of the catalogue, by its name -> what is computed by who makes it.
        slips: other mistakes.
        cures: a mistake of the catalogue, by its name -> its cure in the words of this exercise.
    """

    name: str
    right: Function
    calls: Callable[[torch.Generator], Sequence[Call]]
    mistakes: Mapping[str, Function] = field(default_factory=dict)
    slips: Sequence[Slip] = ()
    cures: Mapping[str, str] = field(default_factory=dict)

    @in_one_thread
    def __call__(self, f: Any, *, hint: bool = False, seed: int = 0) -> Report:
        """Compare a function with the right one, and name the mistake that gives its results.

        Args:
            f: the function.
            hint: whether the report tells the symptom and the cure.
            seed: what the numbers are drawn from.

        Raises:
            ValueError: for what cannot be called.
        """
        check = f"The check of {self.name}"
        check_callable(check, f, f"a function {self.name}(…)")
        calls = self.calls(torch.Generator().manual_seed(seed))
        largest = 0.0
        for call in calls:
            expected = _results(self.right, call)
            try:
                results = _results(f, call)
            except CodeFailed as error:
                return failed(check, hint, self.name, error)
            if (said := _misshapen(expected, results)) is not None:
                return self._explained(check, f, calls, math.nan, hint, (said,))
            difference = max(map(_difference, expected, results), default=0.0)
            if any(_differs(*pair) for pair in zip(expected, results, strict=True)):
                return self._explained(check, f, calls, difference, hint)
            largest = max(largest, difference)
        return Report(True, "", "", largest, check, hint=hint)

    def _explained(
        self,
        check: str,
        f: Function,
        calls: Sequence[Call],
        difference: float,
        hint: bool,
        notes: tuple[str, ...] = (),
    ) -> Report:
        """The report on results that are not right, with the mistake that gives all of them, if one does."""
        name, *equal = [name for name, wrong in self.mistakes.items() if _is_same(wrong, f, calls)] or [""]
        cure = self.cures.get(name, "")
        if not name and (slip := next((slip for slip in self.slips if _is_same(slip.computed, f, calls)), None)):
            notes, cure = (*notes, slip.about), slip.cure
        return Report(False, self.name, name, difference, check, notes, tuple(equal), hint, cure, of_result=not name)


def of_piece(piece: str, adapted: Callable[[Function], Function] = lambda wrong: wrong) -> dict[str, Function]:
    """The mistakes of the catalogue that exchange this piece alone: name -> what is computed.

    Args:
        piece: its name in `tfm_core.study.pieces.RIGHT`.
        adapted: makes of a wrong piece a function with the exercise's arguments.
    """
    wrong = {name: mistake.wrong for name, mistake in MISTAKES.items() if mistake.recognise is None}
    return {name: adapted(pieces[piece]) for name, pieces in wrong.items() if set(pieces) == {piece}}


def _results(f: Function, call: Call) -> list[Tensor]:
    """What a call gives, as tensors: a number is one, too.

    Raises:
        CodeFailed: where it raises an exception.
    """
    given = guarded(f, *(each.clone() if isinstance(each, Tensor) else each for each in call))
    parts = given if isinstance(given, tuple | list) else (given,)
    numbers = [torch.tensor(float(each)) if isinstance(each, int | float) else each for each in parts]
    return tensors_in(numbers)


def _misshapen(expected: Sequence[Tensor], results: Sequence[Tensor]) -> str | None:
    """What is to be said of shapes that are not right; None if they are."""
    shapes, got = ([tuple(each.shape) for each in tensors] for tensors in (expected, results))
    if shapes == got:
        # Numbers in place of a boolean mask are another convention: added to scores, 0 and 1 hide nothing.
        pairs = zip(expected, results, strict=True)
        others = [b.dtype for a, b in pairs if a.dtype == torch.bool and b.dtype != torch.bool]
        return f"Expected True and False, torch.bool; got numbers, {others[0]}." if others else None

    def told(some: Sequence[tuple[int, ...]]) -> str:
        return ", ".join(str(shape) if shape else "a number" for shape in some) or "no tensor"

    return f"Expected a result of shape {told(shapes)}; got {told(got)}."


def _differs(right: Tensor, result: Tensor) -> bool:
    return not torch.allclose(right.double(), result.double(), rtol=0, atol=near(right), equal_nan=True)


def _difference(right: Tensor, result: Tensor) -> float:
    """The largest difference of any number; infinite where NaN or ∞ stands for a number."""
    both, other = right.double(), result.double()
    gap = torch.where((both == other) | (both.isnan() & other.isnan()), 0.0, (both - other).abs())
    return float(gap.nan_to_num(nan=math.inf).max()) if gap.numel() else 0.0


def _is_same(wrong: Function, f: Function, calls: Sequence[Call]) -> bool:
    """Whether a wrong function gives what the code gives, at each call."""
    try:
        pairs = [(_results(wrong, call), _results(f, call)) for call in calls]
    except CodeFailed:
        return False
    return all(
        len(theirs) == len(results)
        and all(a.shape == b.shape and not _differs(a, b) for a, b in zip(theirs, results, strict=True))
        for theirs, results in pairs
    )


def randn(generator: torch.Generator, *shape: int) -> Tensor:
    """Normal numbers of this shape."""
    return torch.randn(shape, generator=generator)
