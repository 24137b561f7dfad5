"""A lesson as a notebook: its words, the code of each step, and exercises with blanks and a check under each.

Solutions are folded by <details> in a Markdown cell, which JupyterLab, VS Code and Colab all show closed and open by a
click. A folded code cell has a name of its own in each of them (jupyter.source_hidden, cellView), which the others do
not know.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from ipaddress import ip_address
from textwrap import indent
from urllib.parse import quote, urlsplit

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tfm_core.checks.exercises import EXERCISES
from tfm_core.checks.exercises.coding import Coding
from tfm_core.pretrained.offered import OFFERED
from tfm_core.version import __version__
from tfm_ui.lessons.lesson import NUMBER, Lesson, Step
from tfm_ui.lessons.notebook_kinds import Kind
from tfm_ui.lessons.step_code import StepCode, ends_in_its_result
from tfm_ui.lessons.writer import address as page_of

SIGNS = re.compile(r"[\\`*_\[\]$~|]")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
BEGINS = re.compile(r"^(\s*\d*)(#|[+=-]|[.)](?=\s|$))")  # what would make a heading or a list of a line
FENCE = "````"
SAFE = "/:?&=+%,;@!~*'._-"
LOCAL = "http://localhost:8501"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(
    lesson: Lesson,
    codes: Sequence[StepCode],
    exercises: Sequence[str],
    *,
    kind: Kind,
    address: str,
) -> NotebookNode:
    """The notebook of a lesson, without outputs.

    Args:
        lesson: the lesson.
        codes: of each step.
        exercises: the name of the exercise of each step; "" where there is none.
        kind: "students" has blanks, and neither solutions nor answers; "study" has blanks, and both, folded; in
            "solutions" everything is filled in.
        address: of the app, such as https://lab.example.org, to which each step links. One that only this computer
            knows is of no use elsewhere: then the notebook says how to start the app, and has the paths of pages.
    """
    cells = [*_beginning(lesson, codes, exercises, kind), *_app(address)]
    for step, code, exercise in zip(lesson.steps, codes, exercises, strict=True):
        cells += _step(step, code, kind, address.rstrip("/"))
        if exercise:
            cells += _exercise(exercise, EXERCISES[exercise], step.name, kind)
        if kind != "students":
            cells += _answer(step, code, kind)
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
    lesson: Lesson, codes: Sequence[StepCode], exercises: Sequence[str], kind: Kind
) -> Iterator[NotebookNode]:
    count = sum(map(bool, exercises))
    blanks = sum(len(EXERCISES[name].blanks) for name in exercises if name)
    told = f"It has {count} exercise{'s' * (count != 1)} of code with {blanks} blank{'s' * (blanks != 1)}. "
    told += TOLD[kind]
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


TOLD: dict[Kind, str] = {
    "students": "Each has a check below it. Run all cells, and it stops at the first exercise that is not done.",
    "study": "Each has a check below it, and its solution folded below that. Run all cells, and it stops at the first "
    "exercise that is not done.",
    "solutions": "All of them are filled in here, so it runs from top to bottom.",
}


def _app(address: str) -> Iterator[NotebookNode]:
    if is_local(address):
        yield _words(
            "app",
            f"**The app.** Each step names its page in the app as a path, such as `/attention`. Start the app by "
            f"`python3 run.py` in a checkout of Attention Lab, or by `attention-lab` where the library is installed "
            f'with its app, `pip install ".[app]"`. It says at which address it runs, such as {LOCAL}; open the path '
            "there: the address, and the path right after it.",
        )


def is_local(address: str) -> bool:
    """Whether an address leads to the computer itself, on which another one has nothing."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return host in ("", "localhost") or host.endswith(".localhost")


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


def _step(step: Step, code: StepCode, kind: Kind, address: str) -> Iterator[NotebookNode]:
    path = quote(page_of(step), safe=SAFE)
    link = f"[Open this step in the app]({quote(address, safe=SAFE)}{path})"
    task = f"**Task in the app.** {plain(step.task)}" if step.task else ""
    yield _words(
        f"{step.name}-step",
        f"## {plain(step.heading)}",
        plain(step.words),
        f"In the app: `{path}`" if is_local(address) else link,
        task,
    )
    if step.predict:
        yield _words(f"{step.name}-predict", f"**Predict.** {plain(step.predict.ask)}", _options(step))
        if kind != "solutions":
            yield _words(f"{step.name}-yours", "*Your prediction:*")
        elif code.measured:
            yield _words(f"{step.name}-yours", f"It is **{plain(code.measured)}**.")
    if code.same_as:
        again = plain(code.same_as)
        yield _words(f"{step.name}-code", f"This step’s code is the same as that of “{again}” above.")
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
    last = ast.parse(source).body[-1]
    shown = ast.unparse(last.value) if isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call) else ""
    inside = "\n".join(source.splitlines()[: last.lineno - 1]) if shown else source
    return "\n".join(
        [
            "from tfm_core.pretrained.offered import OFFERED",
            "",
            f'if OFFERED["{model.name}"].is_there:',
            indent(inside, "    "),
            *([f"    display({shown})"] if shown else []),
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


def _exercise(name: str, coding: Coding, step: str, kind: Kind) -> Iterator[NotebookNode]:
    begin = "" if kind == "solutions" else " Fill in each `...`: the comment beside it says what is to stand there."
    yield _words(f"{step}-exercise", f"### Exercise: {plain(coding.title)}", f"{plain(coding.task)}{begin}")
    yield _code(f"{step}-blanks", coding.filled if kind == "solutions" else coding.code())
    yield _code(f"{step}-check", _check(name, coding))
    if kind == "study":
        yield _words(f"{step}-solution", _folded("The solution", f"{FENCE}python\n{coding.filled}\n{FENCE}"))


def _check(name: str, coding: Coding) -> str:
    begin = "from tfm_core.checks.exercises import check_exercise"
    call = f'check_exercise("{name}", {coding.called})'
    told = "report = {}  # with hint=True it tells a cure, too\nprint(report)\nassert report, report.in_short"
    return f"{begin}\n\n{told.format(call)}"


def _answer(step: Step, code: StepCode, kind: Kind) -> Iterator[NotebookNode]:
    if code.missing and step.has_answer:
        yield _words(f"{step.name}-answer", plain(code.missing))
    elif code.answer and kind == "study":
        yield _words(f"{step.name}-answer", _folded("The answer", plain(code.answer)))
    elif code.answer:
        yield _words(f"{step.name}-answer", f"**The answer.** {plain(code.answer)}")


def _folded(summary: str, text: str) -> str:
    """A text that opens by a click. Markdown inside needs the empty lines."""
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _sources(lesson: Lesson) -> Iterator[NotebookNode]:
    addresses = [quote(source.address, safe=":/?&=+%,;@!~*.#_-") for source in lesson.sources]
    listed = [f"- {plain(each.name)}: <{address}>" for each, address in zip(lesson.sources, addresses, strict=True)]
    if listed:
        yield _words("sources", "## Sources", "\n".join(listed))
