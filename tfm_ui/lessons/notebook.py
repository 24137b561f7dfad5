"""A lesson as a notebook: its words, the code of each step, and exercises with blanks and a check under each.

Solutions are folded by <details> in a Markdown cell, which JupyterLab, VS Code and Colab all show closed and open by a
click. A folded code cell has a name of its own in each of them (jupyter.source_hidden, cellView), which the others do
not know.
"""

import re
from collections.abc import Iterator, Sequence
from textwrap import indent
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tfm_core.checks.exercises import EXERCISES
from tfm_core.checks.exercises.coding import Coding
from tfm_core.pretrained.offered import OFFERED
from tfm_core.version import __version__
from tfm_ui.lessons.lesson import NUMBER, Lesson, Step
from tfm_ui.lessons.step_code import StepCode, ends_in_its_result
from tfm_ui.lessons.writer import address as page_of

SIGNS = re.compile(r"[\\`*_\[\]$~|]")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
BEGINS = re.compile(r"^(\s*\d*)(#|[+=-]|[.)](?=\s|$))")  # what would make a heading or a list of a line
FENCE = "````"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(
    lesson: Lesson,
    codes: Sequence[StepCode],
    exercises: Sequence[str],
    *,
    solutions: bool,
    address: str,
) -> NotebookNode:
    """The notebook of a lesson, without outputs.

    Args:
        lesson: the lesson.
        codes: of each step.
        exercises: the name of the exercise of each step; "" where there is none.
        solutions: whether the blanks are filled in.
        address: of the app, such as http://localhost:8501, to which each step links.
    """
    cells = [*_beginning(lesson, codes, exercises, solutions=solutions)]
    for step, code, exercise in zip(lesson.steps, codes, exercises, strict=True):
        cells += _step(step, code, address.rstrip("/"))
        if exercise:
            cells += _exercise(exercise, EXERCISES[exercise], step.name, solutions=solutions)
        cells += _answer(step, code)
    cells += _sources(lesson)
    made = new_notebook(cells=cells, metadata=METADATA)
    nbformat.validate(made)
    return made


def plain(text: str) -> str:
    """Markdown that shows a text literally: no formatting, no formula, no HTML."""
    escaped = SIGNS.sub(r"\\\g<0>", text)
    for sign, entity in ENTITIES.items():
        escaped = escaped.replace(sign, entity)
    return BEGINS.sub(r"\1\\\2", escaped)


def _words(name: str, *paragraphs: str) -> NotebookNode:
    return new_markdown_cell("\n\n".join(filter(None, paragraphs)), id=name)


def _code(name: str, source: str) -> NotebookNode:
    return new_code_cell(source, id=name)


def _beginning(
    lesson: Lesson, codes: Sequence[StepCode], exercises: Sequence[str], *, solutions: bool
) -> Iterator[NotebookNode]:
    count = sum(map(bool, exercises))
    blanks = sum(len(EXERCISES[name].blanks) for name in exercises if name)
    told = f"It has {count} exercise{'s' * (count != 1)} of code with {blanks} blank{'s' * (blanks != 1)}. "
    told += (
        "All of them are filled in here, so it runs from top to bottom."
        if solutions
        else "Each has a check below it, and its solution folded below that. Run all cells, and it stops at the first "
        "exercise that is not done."
    )
    yield _words(
        "title",
        f"# {plain(lesson.title)}",
        f"{lesson.minutes} minutes in the app, more with the exercises. You need: {plain(lesson.needs or 'nothing')}.",
        "Afterwards you can",
        "\n".join(f"- {plain(objective)}" for objective in lesson.objectives),
        told if count else "",
    )
    yield _words("install", *_install(codes))
    yield _code("setup", _setup(codes))


def _extras(codes: Sequence[StepCode]) -> str:
    models = [code.model for code in codes if code.model]
    return "[pretrained]" if models else "[lab-gpt]" if any(code.needs_lab_gpt for code in codes) else ""


def _install(codes: Sequence[StepCode]) -> Iterator[str]:
    extras = _extras(codes)
    yield (
        f"**Install.** This notebook needs Python 3.11 or newer and one library, attention-lab {__version__} or newer: "
        f'`pip install ".{extras}"` in a checkout of Attention Lab, or its wheel, '
        f'`pip install "attention_lab-{__version__}-py3-none-any.whl{extras}"`. In Colab, upload the wheel first and '
        "write `%pip` in place of `pip`."
    )
    models = dict.fromkeys(code.model for code in codes if code.model)
    if models:
        names = " and ".join(OFFERED[name].called for name in models)
        are = "was" if len(models) == 1 else "were"
        yield (
            f"Some steps look into {names}, which {are} trained by others: `python -m tfm_core.pretrained` fetches "
            "what the library offers, 176 MB. Without it, these steps say so, and all others run."
        )


def _setup(codes: Sequence[StepCode]) -> str:
    needed = ["tfm_core", *(["tokenizers"] if _extras(codes) else [])]
    return "\n".join(
        [
            "from importlib.util import find_spec",
            "",
            f"missing = [name for name in {needed!r} if find_spec(name) is None]".replace("'", '"'),
            'assert not missing, f"expected an installed attention-lab, as the cell above says; missing: {missing}"',
            "",
            "from tfm_core.version import __version__",
            "",
            'print(f"attention-lab {__version__}")',
        ]
    )


def _step(step: Step, code: StepCode, address: str) -> Iterator[NotebookNode]:
    link = quote(f"{address}{page_of(step)}", safe="/:?&=+%,;@!~*'._-")
    task = f"**Task in the app.** {plain(step.task)}" if step.task else ""
    yield _words(
        f"{step.name}-step",
        f"## {plain(step.heading)}",
        plain(step.words),
        f"[Open this step in the app]({link})",
        task,
    )
    if step.predict:
        yield _words(f"{step.name}-predict", f"**Predict.** {plain(step.predict.ask)}", _options(step))
        yield _words(f"{step.name}-yours", "*Your prediction:*")
    if code.same_as:
        again = plain(code.same_as)
        yield _words(f"{step.name}-code", f"The code of this picture is that of “{again}” above.")
    elif code.code and code.why_not_run:
        begin = f"{code.why_not_run} So this code is text; to run it, copy it into a cell."
        yield _words(f"{step.name}-code", begin, f"{FENCE}python\n{code.code}\n{FENCE}")
    elif code.code:
        yield _code(f"{step.name}-code", _runs(code))


def _runs(code: StepCode) -> str:
    source = ends_in_its_result(code.code)
    if not code.model:
        return source
    model = OFFERED[code.model]
    last = source.splitlines()[-1]
    shows = last.isidentifier() and source != code.code
    inside = code.code if shows else source
    return "\n".join(
        [
            "from tfm_core.pretrained.offered import OFFERED",
            "",
            f'if OFFERED["{model.name}"].is_there:',
            indent(inside, "    "),
            *([f"    display({last})"] if shows else []),
            "else:",
            f'    print("{model.called} is not there: python -m tfm_core.pretrained fetches it.")',
        ]
    )


def _options(step: Step) -> str:
    predict = step.predict
    if not predict or predict.kind not in ("choice", NUMBER):
        return ""
    if predict.kind == NUMBER:
        return f"A number, in {plain(predict.unit)}." if predict.unit else "A number."
    return "One of: " + ", ".join(plain(option) for option in predict.options) + "."


def _exercise(name: str, coding: Coding, step: str, *, solutions: bool) -> Iterator[NotebookNode]:
    begin = "" if solutions else " Fill in each `...`: the comment beside it says what is to stand there."
    yield _words(f"{step}-exercise", f"### Exercise: {plain(coding.title)}", f"{plain(coding.task)}{begin}")
    yield _code(f"{step}-blanks", coding.filled if solutions else coding.code())
    yield _code(f"{step}-check", _check(name, coding))
    if not solutions:
        yield _words(f"{step}-solution", _folded("The solution", f"{FENCE}python\n{coding.filled}\n{FENCE}"))


def _check(name: str, coding: Coding) -> str:
    begin = "from tfm_core.checks.exercises import check_exercise"
    call = f'check_exercise("{name}", {coding.called})'
    told = "report = {}  # with hint=True it tells a cure, too\nprint(report)\nassert report, report.in_short"
    return f"{begin}\n\n{told.format(call)}"


def _answer(step: Step, code: StepCode) -> Iterator[NotebookNode]:
    if code.missing and step.has_answer:
        yield _words(f"{step.name}-answer", plain(code.missing))
    elif code.answer:
        yield _words(f"{step.name}-answer", _folded("The answer", plain(code.answer)))


def _folded(summary: str, text: str) -> str:
    """A text that opens by a click. Markdown inside needs the empty lines."""
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _sources(lesson: Lesson) -> Iterator[NotebookNode]:
    addresses = [quote(source.address, safe=":/?&=+%,;@!~*.#_-") for source in lesson.sources]
    listed = [f"- {plain(each.name)}: <{address}>" for each, address in zip(lesson.sources, addresses, strict=True)]
    if listed:
        yield _words("sources", "## Sources", "\n".join(listed))
