"""The code and the answer of a lesson's steps, for its notebook, computed from each step's page."""

import ast
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from tfm_core.language.lab_bert import NAME as LAB_BERT
from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lessons.expressions import written
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.shown import LensOf, Shown, shown
from tfm_ui.live.next_recipe import next_code
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.samples import read_text

# A sample text, as a recipe reads it from the app's files, which an installed library has not.
SAMPLE = re.compile(r"""Path\('assets/texts/(\w+)\.txt'\)\.read_text\(encoding="utf-8"\)\.rstrip\("\\n"\)""")
MANY = 10_000  # a number from which on it is written without decimals
LINE = 100  # characters of a text in a line of code
MEASURES = re.compile(r"\b(profile|compare)\(|\bin grid\(")
TRAINS = re.compile(r"\bin (train|finetune)\(")
LAB_GPT = re.compile(r"\b(lab_prompt|lab_tokenizer)\b|['\"]lab-bert['\"]")
SECONDS = 0.5  # that are left at least for a step that is begun
FILES = "It needs files or weights that do not come with the library."
LATE = "Not computed: the server had no time left for it. The app shows it."

Turn = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True, kw_only=True)
class StepCode:
    """What a notebook has of a step, beside its words.

    Attributes:
        code: of the step's picture; "" if there is none.
        why_not_run: why the code stands there as text and does not run, in a sentence; "" if it runs.
        model: the offered model of others that the code needs, by its name in `OFFERED`; "" if it needs none.
        needs_lab_gpt: whether it reads text as Lab GPT does.
        same_as: the heading of the step before that has the same code; "" if none has.
        answer: the computed answer; "" if there is none.
        missing: why the answer is not there, in a sentence; "" if it is.
        measured: what the prediction is compared with, with its unit; "" if there is nothing to compare it with.
    """

    code: str = ""
    why_not_run: str = ""
    model: str = ""
    needs_lab_gpt: bool = False
    same_as: str = ""
    answer: str = ""
    missing: str = ""
    measured: str = ""


def codes_of(
    lesson: Lesson,
    lens_of: LensOf,
    *,
    turn: Turn = nullcontext,
    seconds: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
) -> Sequence[StepCode]:
    """What a notebook has of each step.

    Args:
        lesson: the lesson.
        lens_of: the app's lenses.
        turn: what each step is computed in.
        seconds: how long all of it may take: what comes later is left out, with a sentence.
        clock: in seconds.
    """
    codes: list[StepCode] = []
    headings: dict[str, str] = {}
    end = clock() + seconds
    for step in lesson.steps:
        if clock() > end - SECONDS:
            codes.append(StepCode(missing=LATE))
            continue
        with turn():
            code = code_of(step, lens_of)
        if code.code and code.code in headings:
            code = replace(code, same_as=headings[code.code])
        headings.setdefault(code.code, step.heading)
        codes.append(code)
    return codes


def code_of(step: Step, lens_of: LensOf) -> StepCode:
    """What a notebook has of a step."""
    this = shown(step, lens_of)
    view = this.lens.view_of(this.state)
    if reason := view.why_not_shown(this.model, this.state):
        return StepCode(missing=f"Not computed here: {reason.rstrip('.')}.")
    panels = panels_in(this.lens.blocks(this.model, this.state))
    recipe = next((with_texts(recipe.strip()) for panel in panels if (recipe := panel.in_notebook()).strip()), "")
    if _asks_what_is_next(step) and "probabilities" not in recipe and this.model.gives_logits:
        recipe = "\n\n".join(filter(None, [recipe, "# What the model says next", with_texts(next_code(this.model))]))
    answer, missing, measured = "", "", ""
    try:
        answer = this.answer(this.model, this.state)
        measured = _measured(this)
    except ValueError as problem:
        missing = f"Not computed: {problem}"
    return StepCode(
        code=recipe,
        why_not_run=_why_not_run(this, recipe),
        model=this.model.weights if this.model.weights in OFFERED and this.model.weights in recipe else "",
        needs_lab_gpt=bool(LAB_GPT.search(recipe)),
        answer=answer,
        missing=missing,
        measured=measured,
    )


def _asks_what_is_next(step: Step) -> bool:
    """Whether the prediction is compared with the probability of the next token, whatever the picture shows."""
    return bool(step.predict and step.predict.measured and "next_probability" in step.predict.measured.names)


def _measured(this: Shown) -> str:
    """What a prediction is compared with, as a learner would write it; "" if it is with nothing."""
    predict, measured = this.step.predict, this.measured(this.model, this.state)
    if predict is None or measured is None:
        return ""
    if isinstance(measured, str) or predict.options:
        return written(measured)
    unit = f" {predict.unit}" if predict.unit[:1].isalpha() else predict.unit
    return f"{measured:{',.0f' if abs(measured) >= MANY else ',.4g'}}{unit}".replace("-", "−")


def _why_not_run(this: Shown, recipe: str) -> str:
    model = this.model
    if TRAINS.search(recipe):
        return "It trains for a while."
    if MEASURES.search(recipe):
        return "It trains or measures for minutes."
    comes_along = model.is_random or model.is_lab_gpt or model.weights == LAB_BERT or model.weights in OFFERED
    is_shipped = model.trained and "," not in model.weights  # a run as the tasks' cards have it
    return "" if comes_along or is_shipped or not recipe else FILES


def with_texts(recipe: str) -> str:
    """A recipe with the sample texts that it reads from files written into it."""
    names = dict.fromkeys(SAMPLE.findall(recipe))
    if not names:
        return recipe
    texts = [f"{name} = (\n{_in_lines(read_text(f'@{name}'))}\n)" for name in names]
    code = SAMPLE.sub(r"\1", recipe)
    if "Path" not in code.replace("from pathlib import Path\n", ""):
        code = code.replace("from pathlib import Path\n", "")
    return "\n".join([*texts, "", code])


def _in_lines(text: str) -> str:
    return "\n".join(f"    {text[at : at + LINE]!r}" for at in range(0, len(text), LINE))


def ends_in_its_result(code: str) -> str:
    """Code whose last line shows what it has computed last, as a notebook does with an expression."""
    last = ast.parse(code).body[-1]
    names = [target.id for target in getattr(last, "targets", ()) if isinstance(target, ast.Name)]
    return f"{code}\n{names[-1]}" if names else code
