"""Writes a lesson as its file: what `reader.py` reads. A lesson that is collected in the app becomes a file by it."""

from collections.abc import Iterator

from tfm_ui.lessons.expressions import Written
from tfm_ui.lessons.lesson import NUMBER, TEXT, Lesson, Predict, Step
from tfm_ui.page.question_names import name_in_links


def written(lesson: Lesson) -> str:
    """The text of the lesson's file. What reads it gets an equal lesson."""
    about = [
        "---",
        f"title: {lesson.title}",
        f"minutes: {lesson.minutes}",
        f"needs: {lesson.needs or 'nothing'}",
        "objectives:",
        *(f"- {objective}" for objective in lesson.objectives),
        "sources:",
        *(f"- {source.name}: {source.address}" for source in lesson.sources),
        "---",
    ]
    return "\n".join([*about, *(line for step in lesson.steps for line in ["", *_step(step)])]) + "\n"


def address(step: Step) -> str:
    """The page that a step shows, as its file says it: the address from the slash on."""
    lens, query = step.show
    return f"/{'' if lens == 'home' else lens}{'?' if query else ''}{query}"


def _step(step: Step) -> Iterator[str]:
    yield from (f"## {step.heading}", step.words, "", f"show: {address(step)}")
    if step.name != name_in_links(step.heading)[:40].strip("-"):
        yield f"name: {step.name}"
    answer = step.question or (text_of(step.answer) if step.answer else "")
    lines = {
        "moves": ", ".join(sorted(step.moves)),
        **(_predict(step.predict) if step.predict else {}),
        "answer": answer,
        "task": step.task,
        "reached": step.reached.text if step.reached else "",
        "exercise": step.exercise,
        "because": step.because,
        "notes": step.notes,
        "minutes": str(step.minutes or ""),
    }
    yield from (f"{name}: {value}" for name, value in lines.items() if value)


def _predict(predict: Predict) -> dict[str, str]:
    options = {NUMBER: f"number {predict.unit}".strip(), TEXT: TEXT}.get(predict.kind, " | ".join(predict.options))
    return {
        "predict": predict.ask,
        "options": options,
        "measured": predict.measured.text if predict.measured else "",
        "hides": ", ".join(predict.hides),
    }


def text_of(answer: Written) -> str:
    """Words with their expressions in braces, as they stand in a file."""
    return "".join(
        piece if isinstance(piece, str) else f"{{{piece[0].text}{':' if piece[1] else ''}{piece[1]}}}"
        for piece in answer.pieces
    )
