"""What a task fixes and the check of other people's code leaves open: a convention, a shape, where norms stand.

The checks of `tfm_core.checks` are for code that somebody wrote for another purpose: a layer may have its norms before
or after, a mask may be of numbers. An exercise says which it wants, so what passes is compared with its solution, too.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn

from tfm_core.checks.callables import CodeFailed, guarded
from tfm_core.checks.drawing import draw_into, in_one_thread
from tfm_core.checks.exercises.beside import Beside, Call
from tfm_core.checks.judging import failed
from tfm_core.checks.report import Report


@dataclass(frozen=True, kw_only=True)
class Fixed:
    """What a task fixes.

    Attributes:
        asks: what it asks for, in a sentence, told to who does something else.
        calls: the arguments of each call, drawn from a generator.
        sizes: what the constructor takes, where a class is programmed.
    """

    asks: str
    calls: Callable[[torch.Generator], Sequence[Call]]
    sizes: Mapping[str, Any] = field(default_factory=dict)

    @in_one_thread
    def check(self, report: Report, solution: Callable[..., Any], f: Any, *, hint: bool = False) -> Report:
        """The report on code that passed the other check: as it was, or why it is not what the task asks for.

        Args:
            report: of the other check, which is right.
            solution: the exercise's.
            f: what a learner has written.
            hint: whether the report tells the cure.
        """
        if not isinstance(solution, type):
            return self._beside(report, solution, f, hint)
        if not isinstance(f, type):
            return report  # a module that is made already: which sizes it has is not known
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            right: nn.Module = solution(**self.sizes).eval()
            draw_into(right, torch.Generator().manual_seed(0))
            try:
                theirs: nn.Module = guarded(f, **self.sizes)
                guarded(theirs.load_state_dict, right.state_dict())
            except CodeFailed as error:
                refused = failed(report.what, hint, "construction", error)
                return replace(refused, notes=(*refused.notes, self.asks))
            return self._beside(report, right, theirs.eval(), hint)

    def _beside(self, report: Report, right: Callable[..., Any], f: Callable[..., Any], hint: bool) -> Report:
        with torch.no_grad():
            strict = Beside(name="result", right=right, calls=self.calls)(lambda *call: f(*call), hint=hint)
        if strict.ok:
            return replace(report, largest_difference=max(report.largest_difference, strict.largest_difference))
        notes = (*strict.notes, self.asks)
        gap = strict.largest_difference if strict.notes == () else math.nan
        return replace(strict, what=report.what, notes=notes, largest_difference=gap)
