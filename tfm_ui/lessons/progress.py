"""How far a learner is: for each step of each lesson what was predicted, and whether its task is done. Pure functions.

It is kept by the learner's browser alone (assets/lessons/progress.js), which tells each session; the server forgets it
with the session. What a browser tells is a stranger's: `read` takes of it only what can be progress.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tfm_ui.lessons.lesson import Step
from tfm_ui.lessons.reader import MOST_STEPS

MOST_LESSONS, MOST_CHARS = 100, 300
MOST_BYTES = 1_000_000  # of a file
NAME = re.compile(r"[a-z0-9-]{1,64}")

# What is known of a step: "guess" -> what was predicted, None if nothing was; "answered", "reached" -> True.
Done = Mapping[str, Any]
Progress = Mapping[str, Mapping[str, Done]]  # lesson -> step that was seen -> what is known of it


def read(told: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """Progress, of what a browser tells: whatever is none is left out."""
    return {lesson: dict(_steps(steps)) for lesson, steps in _entries(told, MOST_LESSONS)}


def from_file(data: bytes) -> dict[str, dict[str, dict[str, Any]]]:
    """Progress, of a file that was exported.

    Raises:
        ValueError: if nothing in it is progress.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"expected a file of at most {MOST_BYTES:,} bytes, got {len(data):,}")
    try:
        progress = read(json.loads(data))
    except (ValueError, RecursionError) as problem:
        raise ValueError("expected the file that “Export my progress” saves, got no JSON") from problem
    if not progress:
        raise ValueError("expected the file that “Export my progress” saves, got one without any lesson")
    return progress


def _steps(told: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for step, done in _entries(told, MOST_STEPS):
        known: dict[str, Any] = {name: True for name in ("answered", "reached") if _get(done, name) is True}
        if "answered" in known:
            known["guess"] = _guess(_get(done, "guess"))
        yield step, known


def _entries(told: Any, most: int) -> Iterator[tuple[str, Any]]:
    if isinstance(told, Mapping):
        for name, entry in [*told.items()][:most]:
            if isinstance(name, str) and NAME.fullmatch(name):
                yield name, entry


def _get(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, Mapping) else None


def _guess(told: Any) -> float | str | None:
    if isinstance(told, str):
        return told[:MOST_CHARS]
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    return told if is_number and abs(told) < 1e15 and math.isfinite(told) else None


def merged(before: Progress, now: Progress) -> dict[str, dict[str, dict[str, Any]]]:
    """What is known from both; where they say different things of a step, `now` counts."""
    return {
        lesson: {
            step: {**before.get(lesson, {}).get(step, {}), **now.get(lesson, {}).get(step, {})}
            for step in _names_of(before.get(lesson, {}), now.get(lesson, {}))
        }
        for lesson in _names_of(before, now)
    }


def _names_of(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*before, *now]))


def noted(progress: Progress, lesson: str, step: str, **known: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """The progress, and that this step was seen, with what is known of it."""
    return merged(progress, {lesson: {step: known}})


def tick(step: Step, done: Mapping[str, Done]) -> str:
    """The sign of a step that was seen: ✓ if its task is done, too, or if it has none."""
    if step.name not in done:
        return ""
    return "  ✓" if not step.task or done[step.name].get("reached") else "  ○"
