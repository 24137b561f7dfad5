"""Exercises and results to take along."""

import re
from collections.abc import Mapping

from torch import Tensor

from tfm_core.study.exercise import Exercise, given
from tfm_core.study.steps import STEPS
from tfm_ui.live.tensors.step import Named, Step, held

NOTE = "Results are taken as they are; the checks of attention_lab tell how each comes about."


def of_exercise(exercise: Exercise, results: Mapping[str, Mapping[str, Tensor]]) -> Step:
    """An exercise, and results of its steps.

    Args:
        exercise: what is given.
        results: what results are called, such as "right" -> step -> its result.
    """
    tensors = [_held(name, [f"axis {at}" for at in range(x.dim())], x, "given") for name, x in given(exercise).items()]
    tensors += [
        _held(f"{step}_{called}", STEPS[step].axes, result, f"{step}, {called}")
        for called, of_steps in results.items()
        for step, result in of_steps.items()
    ]
    return Step(str(exercise), tensors, note=NOTE)


def _held(name: str, axes: "list[str] | tuple[str, ...]", tensor: Tensor, about: str) -> Named:
    fitting = axes if len(axes) == tensor.dim() else [f"axis {at}" for at in range(tensor.dim())]
    return held(re.sub(r"\W+", "_", name), fitting, tensor.detach(), about)
