"""The question that a speaker asks the hall in a step: what is typed becomes a prediction and an answer."""

from tfm_ui.lessons import expressions
from tfm_ui.lessons.expressions import Written
from tfm_ui.lessons.lesson import NUMBER, TEXT, Predict, Step
from tfm_ui.lessons.reader import QUESTION
from tfm_ui.lessons.writer import text_of

CHOICE = "choice"


def options_of(step: Step) -> str:
    """What the hall chooses from, as it is typed; "" if it answers in words, or is asked nothing."""
    predict = step.predict
    if predict is None or predict.kind == TEXT:
        return ""
    return f"{NUMBER} {predict.unit}".strip() if predict.kind == NUMBER else " | ".join(predict.options)


def right_of(step: Step) -> str:
    """What the prediction is compared with, as it is typed: a choice without its quotes."""
    measured = step.predict.measured.text if step.predict and step.predict.measured else ""
    return measured.removeprefix('"').removesuffix('"') if step.predict and step.predict.kind == CHOICE else measured


def answer_of(step: Step) -> str:
    """The answer in words, as it is typed."""
    return text_of(step.answer) if step.answer else ""


def read(ask: str, options: str, right: str, answer: str) -> tuple[Predict | None, Written | None]:
    """A prediction and its answer; nothing where nothing is asked.

    Args:
        ask: the question.
        options: what the hall chooses from, with | between; "number" and a unit; "" if it answers in words.
        right: the right one of these, or the right number; "" of words.
        answer: the answer in words.

    Raises:
        ValueError: if one of them is missing, or cannot be read.
    """
    ask, options, right, answer = (" ".join(text.split()) for text in (ask, options, right, answer))
    if answer and QUESTION.fullmatch(answer):  # a single word would be taken for the name of a question
        answer += "."
    written = expressions.read_written(answer) if answer else None
    if not ask:
        return None, written
    if not answer:
        raise ValueError("expected an answer to the question, got none")
    first, _, unit = options.partition(" ")
    if not options:
        return Predict(ask=ask, kind=TEXT), written
    if not right:
        raise ValueError("expected the right one of the answers, got nothing")
    if first == NUMBER and "|" not in options:
        return Predict(ask=ask, kind=NUMBER, unit=unit, measured=expressions.read(right)), written
    choices = tuple(choice.strip() for choice in options.split("|"))
    if right not in choices and not expressions.read(right).names:
        raise ValueError(f"expected the right one of {', '.join(choices)}; got {right}")
    measured = expressions.read(f'"{right}"' if right in choices else right)
    return Predict(ask=ask, kind=CHOICE, options=choices, measured=measured), written
