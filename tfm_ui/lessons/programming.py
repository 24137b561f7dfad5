"""What is programmed in the steps of a lesson: exercises of code, each once."""

from collections.abc import Sequence

from tfm_core.checks.exercises import EXERCISES
from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.shown import LensOf, shown


def exercises_of(lesson: Lesson, lens_of: LensOf) -> Sequence[str]:
    """The name of the exercise of each step; "" where there is none.

    Where no step names one, as in a lesson that was collected in the app, each has that of its view.
    """
    named = [step.exercise for step in lesson.steps]
    if not any(named):
        pages = [shown(step, lens_of) for step in lesson.steps]
        named = [this.lens.view_of(this.state).exercise for this in pages]
    return [name if name in EXERCISES and name not in named[:at] else "" for at, name in enumerate(named)]
