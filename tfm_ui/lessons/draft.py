"""A lecture that is being put together: a lesson whose steps are added, moved, changed and taken out. Pure functions.

Whatever these functions return can be written as a lesson's file and is read again as it is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.reader import MOST_MINUTES, MOST_STEPS, FaultyLesson, read
from tfm_ui.lessons.writer import written

MINUTES = 4  # for a step that says nothing of its own
EMPTY = Lesson(
    title="My lecture", minutes=1, needs="", objectives=("answer the questions of this lecture",), sources=(), steps=()
)


def added(draft: Lesson, *steps: Step) -> Lesson:
    """The lecture with more steps at its end, each under a name that no other has.

    Raises:
        ValueError: if a lesson cannot have so many steps.
    """
    if len(draft.steps) + len(steps) > MOST_STEPS:
        raise ValueError(f"expected at most {MOST_STEPS} steps in a lecture, got {len(draft.steps) + len(steps)}")
    for step in steps:
        draft = _with(draft, [*draft.steps, replace(step, name=_free(step.name, [each.name for each in draft.steps]))])
    return draft


def moved(draft: Lesson, at: int, to: int) -> Lesson:
    """The lecture with a step at another place; places count from 0, and end at the last one."""
    steps = [*draft.steps]
    steps.insert(max(0, to), steps.pop(at))
    return _with(draft, steps)


def without(draft: Lesson, at: int) -> Lesson:
    """The lecture without a step."""
    return _with(draft, [*draft.steps[:at], *draft.steps[at + 1 :]])


def changed(draft: Lesson, at: int, **fields: Any) -> Lesson:
    """The lecture with a step changed.

    Args:
        draft: the lecture.
        at: the place of the step, from 0.
        fields: new values of the step's fields. In texts, any white space becomes a single space.

    Raises:
        ValueError: if a lesson cannot have such a step; the message says why.
    """
    step = replace(draft.steps[at], **{name: _plain(value) for name, value in fields.items()})
    return _checked(_with(draft, [*draft.steps[:at], step, *draft.steps[at + 1 :]]))


def described(draft: Lesson, **fields: Any) -> Lesson:
    """The lecture with another title, other objectives, sources, or needs.

    Raises:
        ValueError: as of `changed`.
    """
    return _checked(replace(draft, **{name: _plain(value) for name, value in fields.items()}))


def _with(draft: Lesson, steps: Sequence[Step]) -> Lesson:
    minutes = sum(step.minutes or MINUTES for step in steps)
    return replace(draft, steps=tuple(steps), minutes=min(max(1, minutes), MOST_MINUTES))


def _checked(draft: Lesson) -> Lesson:
    """The lecture, if its file can be read again.

    Raises:
        ValueError: otherwise.
    """
    whole = draft if draft.steps else replace(draft, steps=_SOME.steps)
    try:
        again = read(written(whole))
    except FaultyLesson as faulty:
        raise ValueError("; ".join(dict.fromkeys(fault.text for fault in faulty.faults))) from faulty
    if again != whole:
        raise ValueError("expected words that do not begin like a line of a lesson’s file, such as “show: ”")
    return draft


def _plain(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def _free(name: str, taken: Sequence[str]) -> str:
    """The name, or with a number at its end the first that is free."""
    numbered = (f"{name[:37].rstrip('-')}-{number}" for number in range(2, MOST_STEPS + 2))
    return next(free for free in (name, *numbered) if free not in taken)


_SOME = read("---\ntitle: A\nminutes: 1\nneeds: nothing\nobjectives:\n- a\nsources:\n---\n## A\nA.\n\nshow: /\n")
