"""The notebook of a lesson as a file: for the command, and for a button of the app."""

from importlib import import_module

from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.notebook_kinds import Kind
from tfm_ui.lessons.programming import exercises_of
from tfm_ui.lessons.shown import LensOf
from tfm_ui.lessons.step_code import Turn, codes_of
from tfm_ui.visitors.turn import turn_to_compute

LOCAL = "http://localhost:8501"
SECONDS = 20.0  # that the steps of a lesson may take for a visitor: those that come later are left out, and say so


def notebook_bytes(
    lesson: Lesson,
    lens_of: LensOf,
    *,
    kind: Kind,
    address: str = LOCAL,
    turn: Turn = turn_to_compute,
    seconds: float = SECONDS,
) -> bytes:
    """The file, in UTF-8.

    Args:
        lesson: the lesson.
        lens_of: the app's lenses.
        kind: what it has of solutions and answers.
        address: of the app.
        turn: what each step is computed in.
        seconds: how long all steps may take.

    Raises:
        Busy: if too many computations wait.
        VisitorGone: if the answer is no longer wanted.
    """
    # nbformat is imported when the first notebook is wanted: with all that it needs, that takes a second.
    notebooks, nbformat = import_module("tfm_ui.lessons.notebook"), import_module("nbformat")
    codes = codes_of(lesson, lens_of, turn=turn, seconds=seconds)
    exercises = exercises_of(lesson, lens_of)
    made = notebooks.notebook(lesson, codes, exercises, kind=kind, address=address)
    text: str = nbformat.writes(made)
    return f"{text}\n".encode()
