"""Exercises of code: what can be programmed of a transformer, with blanks, a solution, and a check under each.

from tfm_core.checks.exercises import EXERCISES, check_exercise

print(EXERCISES["softmax"].code())  # with blanks
print(check_exercise("softmax", my_softmax))

A notebook that is made of a lesson has them (`tfm_ui/lessons/notebook.py`). To add one, write its solution in one of
these files, mark its blanks, and enter it in the table at the file's foot.
"""

from collections.abc import Mapping
from typing import Any

from tfm_core.checks.exercises.coding import Coding
from tfm_core.checks.exercises.of_attention import OF_ATTENTION
from tfm_core.checks.exercises.of_layers import OF_LAYERS
from tfm_core.checks.exercises.of_masks import OF_MASKS
from tfm_core.checks.exercises.of_models import OF_MODELS
from tfm_core.checks.exercises.of_positions import OF_POSITIONS
from tfm_core.checks.exercises.of_reading import OF_READING
from tfm_core.checks.exercises.of_writing import OF_WRITING
from tfm_core.checks.report import Report

EXERCISES: Mapping[str, Coding] = {
    **OF_ATTENTION,
    **OF_MASKS,
    **OF_POSITIONS,
    **OF_LAYERS,
    **OF_MODELS,
    **OF_WRITING,
    **OF_READING,
}

__all__ = ["EXERCISES", "check_exercise"]


def check_exercise(name: str, f: Any, *, hint: bool = False) -> Report:
    """Check what was written for an exercise.

    Args:
        name: of the exercise, a key of `EXERCISES`.
        f: the function or class.
        hint: whether the report tells the symptom and the cure.

    Raises:
        ValueError: for a name that no exercise has, and for what cannot be called.
    """
    if name not in EXERCISES:
        raise ValueError(f"check_exercise: expected one of {', '.join(EXERCISES)}; got {name!r}")
    return EXERCISES[name].checked(f, hint=hint)
