"""A lesson as a page to print: questions with lines to write on, their answers, or what the speaker says. Pure.

HTML made for print, in pieces: what comes before the steps, a block for each step, what comes after them. A server
sends a piece as soon as it is there; the command `sheet` puts them into one file.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal
from urllib.parse import quote

import segno

from tfm_core.version import __version__
from tfm_ui.folders import ASSETS
from tfm_ui.lessons.expressions import written
from tfm_ui.lessons.lesson import NUMBER, Lesson, Predict, Step
from tfm_ui.lessons.reached_words import in_words
from tfm_ui.lessons.shown import Shown
from tfm_ui.page import header
from tfm_ui.page.paper_pictures import SMALL, WIDE, is_hidden
from tfm_ui.page.preview import APP, title
from tfm_ui.pictures.canvas import version
from tfm_ui.text import formats

Kind = Literal["questions", "answers", "speaker"]
Paper = Literal["a4", "letter"]
KINDS: dict[str, str] = {"questions": "Questions", "answers": "Answers", "speaker": "Speaker’s script"}
PAPERS: dict[str, tuple[str, str]] = {"a4": ("A4", "20mm"), "letter": ("letter", "22.9mm")}  # size, margin at the sides
LINES_OF_NUMBER, LINES_OF_CHOICE, LINES_OF_WORDS, LINES_OF_NOTES = 1, 2, 4, 3
LEAST_CODE, LEAST_MODULE, QUIET = 24.0, 0.5, 4  # mm: a QR code, and one of its squares; squares around it
ASKED = {"one decimal": ",.1f", "two decimals": ",.2f", "three decimals": ",.3f"}  # words of a question -> the format
MOST_OF_A_TEXT = 90  # characters of the text that a model reads
FOOT = "font: 8.5pt system-ui, sans-serif; color: #333333;"  # of each page, where browsers print one
STYLE = ASSETS / "lessons" / "sheet.css"


def link(name: str, kind: Kind = "questions", paper: Paper = "a4", *, prints: bool = False) -> str:
    """The address of a sheet, below the app's.

    Args:
        name: of the lesson.
        kind: which sheet.
        paper: its size.
        prints: whether the browser's dialog for printing opens as soon as all pictures are there.
    """
    return f"sheets/{quote(name)}.html?kind={kind}&paper={paper}{'#print' if prints else ''}"


@dataclass(frozen=True)
class Answered:
    """The answer of a step, as computed of what it sets up.

    Attributes:
        text: its sentences; "" if the step has no answer.
        measured: what a prediction is compared with, as it is written; "" if it is compared with nothing.
        problem: why it could not be computed; "" if it could.
    """

    text: str = ""
    measured: str = ""
    problem: str = ""


def answered(this: Shown) -> Answered:
    """The answer of a step, computed now."""
    if not this.step.has_answer:
        return Answered()
    try:
        text, measured = this.answer(this.model, this.state), this.measured(this.model, this.state)
    except ValueError as problem:
        return Answered(problem=f"This could not be computed: {problem}.")
    return Answered(text, "" if measured is None else _measured(measured, this.step.predict))


def _measured(value: float | str, predict: Predict | None) -> str:
    if not predict or predict.options or isinstance(value, str):
        return written(value)
    unit = f" {predict.unit}" if predict.unit[:1].isalpha() else predict.unit
    asked = next((form for words, form in ASKED.items() if words in predict.ask.lower()), "")
    form = asked or (",.0f" if abs(value) >= 10_000 else ",.4g")
    return f"{value:{form}}{unit}".replace("-", "−")


def hidden(this: Shown) -> Sequence[str]:
    """Keys of the panels whose pictures would give the step's prediction away."""
    of_step = this.step.predict.hides if this.step.predict else ()
    of_question = this.question.predict.hides if this.question and this.question.predict else ()
    return [key for key in dict.fromkeys([*of_step, *of_question]) if "." not in key]


@dataclass(frozen=True)
class Sheet:
    """A sheet of a lesson.

    Attributes:
        name: of the lesson; "" if no server keeps it.
        lesson: the lesson.
        kind: which sheet.
        paper: its size.
        address: of the app, without a slash at its end; "" if it is not known.
        picture: a step, the kind of its picture, the panels that are left out -> the address of its image.
        scripts: whether the page has buttons, which a server's has and a file has not.
    """

    name: str
    lesson: Lesson
    kind: str
    paper: str
    address: str
    picture: Callable[[Shown, str, Sequence[str]], str] = field(repr=False)
    scripts: bool = True

    @property
    def computes(self) -> bool:
        """Whether it has answers."""
        return self.kind != "questions"

    def begin(self) -> str:
        """What comes before the steps."""
        lesson = self.lesson
        size, side = PAPERS[self.paper]
        heading = f"{lesson.title} · {KINDS[self.kind]}"
        foot = _css_text(f"{APP} {__version__}{f' · {_short(self.address)}' if self.address else ''}")
        page = (
            f"@page {{ size: {size}; margin: 13mm {side} 15mm; @bottom-left {{ content: {foot}; {FOOT} }}"
            f" @bottom-right {{ content: counter(page) ' / ' counter(pages); {FOOT} }} }}"
        )
        facts = [f"{lesson.minutes} minutes", formats.plural(len(lesson.steps), "step")]
        facts += [f"needs {lesson.needs}"] if lesson.needs else []
        objectives = "".join(f"<li>{escape(each)}</li>" for each in lesson.objectives)
        who = '<p class="who"><span>Name</span><i></i><span>Date</span><i class="short"></i></p>'
        scripts = (
            f'<script type="module" src="../assets/{version()}/lessons/sheet.js"></script>' if self.scripts else ""
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
            f"<title>{escape(heading)}</title>"
            f"<style>{page}\n{STYLE.read_text(encoding='utf-8')}</style>{scripts}</head>"
            f'<body class="{self.kind} {self.paper}">{self._bar()}<header>'
            f'<p class="kind">{KINDS[self.kind]}</p><h1>{escape(lesson.title)}</h1>'
            f'<p class="facts">{escape(" · ".join(facts))}</p>'
            f"{who if self.kind == 'questions' else ''}"
            f'<div class="objectives"><p>Afterwards you can</p><ul>{objectives}</ul></div></header>\n'
        )

    def block(self, this: Shown, at: int, answer: Answered) -> str:
        """The block of a step.

        Args:
            this: the step.
            at: its place, from 0.
            answer: its answer; of a sheet of questions, none.
        """
        step = this.step
        stop = "" if step.heading.endswith(("?", "!", ".")) else "."
        clock = self._clock(at) if self.kind == "speaker" else ""
        words = f'<h2><span class="number">{at + 1}</span>{escape(step.heading)}{stop}{clock}</h2>'
        words += f'<p class="words">{escape(step.words)}</p>'
        asked = "".join(_asked(step, answer if self.computes else None))
        if self.kind == "questions":
            asked = f'<div class="asked">{asked}{_lines(step)}{self._link(this)}</div>'
            body = f'{self._picture(this, WIDE)}<div class="below">{asked}{self._code(this)}</div>'
            return f'<section class="step">{words}{body}</section>\n'
        notes = f'<p class="notes"><b>Say:</b> {escape(step.notes)}</p>' if step.notes else ""
        told = f"{asked}{_done(this)}{_answer(answer)}"
        told = f'<div class="asked">{told}{self._code(this)}{self._link(this)}</div>'
        body = f'<div class="beside"><div>{self._picture(this, SMALL)}</div>{told}'
        return f'<section class="step">{words}{body}</div>{notes if self.kind == "speaker" else ""}</section>\n'

    def refused(self, at: int, why: str) -> str:
        """What stands in the place of a step that cannot be shown."""
        heading = escape(self.lesson.steps[at].heading)
        return (
            f'<section class="step"><h2><span class="number">{at + 1}</span>{heading}</h2>'
            f'<p class="problem">{escape(why)}</p></section>\n'
        )

    def end(self) -> str:
        """What comes after the steps."""
        items = "".join(
            f"<li>{escape(source.name)}: <span>{escape(source.address)}</span></li>" for source in self.lesson.sources
        )
        sources = f'<footer class="sources"><h2>Sources</h2><ul>{items}</ul></footer>' if items else ""
        return f"{sources}</body></html>\n"

    def _bar(self) -> str:
        """The buttons above the page, which are not printed."""
        if not self.scripts:
            return ""
        others = "".join(_tab(name, self.kind == kind, kind, self.paper) for kind, name in KINDS.items())
        papers = "".join(
            _tab({"a4": "A4", "letter": "US letter"}[paper], self.paper == paper, self.kind, paper) for paper in PAPERS
        )
        return (
            f'<nav class="bar"><span class="tabs">{others}</span><span class="tabs">{papers}</span>'
            '<button id="print">Print</button><button id="save">Save as one file</button>'
            '<span id="state" role="status"></span></nav>'
        )

    def _clock(self, at: int) -> str:
        """The minutes of the step, from when to when if each step before it tells how long it takes."""
        steps = self.lesson.steps[: at + 1]
        if not steps[-1].minutes:
            return ""
        begin = sum(step.minutes for step in steps[:-1])
        is_known = all(step.minutes for step in steps)
        span = f"{_time(begin)}–{_time(begin + steps[-1].minutes)} · " if is_known else ""
        return f'<span class="clock">{span}{steps[-1].minutes} min</span>'

    def _picture(self, this: Shown, kind: str) -> str:
        without = hidden(this) if self.kind == "questions" else []
        view = this.lens.view_of(this.state)
        called = title(this.lens, this.state)
        image = f'<img class="picture" src="{escape(self.picture(this, kind, without))}" alt="{escape(called)}">'
        if without and all(is_hidden(name, without) for name in view.pictures):
            said = "The picture would give the answer away: it is on the sheet of answers."
            image = f'<p class="hidden">{said}</p>'
        facts = [called]
        if view.uses_model:
            facts.append(header.label(this.model, this.lens.beside))
            if not view.may_read_another and not this.model.array:
                text = " ".join(this.model.read_text.split())
                facts.append(f"“{text if len(text) <= MOST_OF_A_TEXT else text[: MOST_OF_A_TEXT - 1] + '…'}”")
        return f"<figure>{image}<figcaption>{escape(' · '.join(facts))}</figcaption></figure>"

    def _code(self, this: Shown) -> str:
        """The QR code of the step's link; none without an address, and none for a speaker, who has the page open."""
        if not self.address or self.kind == "speaker":
            return ""
        return f'<div class="code">{qr_code(self.address_of(this))}</div>'

    def _link(self, this: Shown) -> str:
        """The step's link, as short as it can be typed."""
        return f'<p class="to">{_breakable(_short(self.address_of(this)))}</p>' if self.address else ""

    def address_of(self, this: Shown) -> str:
        """The address of a step in the app: in its lesson, if a server keeps that, else of its page."""
        if self.name:
            return f"{self.address}/learn?lesson={quote(f'{self.name}.{this.step.name}')}"
        page = "" if this.lens.name == "home" else this.lens.name
        return f"{self.address}/{page}?{this.step.show[1]}"


def qr_code(to: str) -> str:
    """The QR code of an address as an SVG, large enough that a phone reads each of its squares from paper."""
    code = segno.make_qr(to, error="M", boost_error=False)
    squares = code.symbol_size(border=QUIET)[0]
    side = max(LEAST_CODE, math.ceil(squares * LEAST_MODULE))
    path = code.svg_inline(border=QUIET, dark="#000", light="#fff", omitsize=True)
    return f'<span class="qr" style="width: {side:g}mm">{path}</span>'


def _asked(step: Step, answer: Answered | None) -> list[str]:
    """What is asked, with boxes to tick; beside the answer, the right one is ticked."""
    parts = []
    predict = step.predict
    if predict:
        parts.append(f'<p class="question"><b>Predict:</b> {escape(predict.ask)}</p>')
        options = [(option, bool(answer and _is_same(option, answer.measured))) for option in predict.options]
        if options:
            items = (
                f'<li class="{"right" if right else ""}">{"☒" if right else "☐"} {escape(option)}</li>'
                for option, right in options
            )
            parts.append(f'<ul class="options">{"".join(items)}</ul>')
        elif answer and answer.measured:
            parts.append(f'<p class="measured">It is <b>{escape(answer.measured)}</b>.</p>')
    if step.task:
        parts.append(f'<p class="question"><b>☐ Task:</b> {escape(step.task)}</p>')
    return parts


def _is_same(option: str, measured: str) -> bool:
    try:
        return option == measured or math.isclose(float(option.replace(",", "")), float(measured.replace(",", "")))
    except ValueError:
        return False


def _answer(answer: Answered) -> str:
    if answer.problem:
        return f'<p class="problem">{escape(answer.problem)}</p>'
    return f'<p class="answer"><b>Answer:</b> {escape(answer.text)}</p>' if answer.text else ""


def _done(this: Shown) -> str:
    """When a task is done, if that can be said in words: the sheet of answers has no page to try it on."""
    when = in_words(this.step.reached, this.lens) if this.step.reached else ""
    return f'<p class="measured">Done when: {escape(when)}.</p>' if when else ""


def lines_of(step: Step) -> int:
    """How many lines there are to write on: one for a number, a few for words, and for what a task has shown."""
    predict = step.predict
    asked = 0
    if predict:
        asked = LINES_OF_CHOICE if predict.options else LINES_OF_NUMBER if predict.kind == NUMBER else LINES_OF_WORDS
    return asked + (LINES_OF_CHOICE if step.task else 0) or LINES_OF_NOTES


def _lines(step: Step) -> str:
    number, lines = "", lines_of(step)
    if step.predict and step.predict.kind == NUMBER:
        number, lines = f'<i class="value">{escape(step.predict.unit)}</i>', lines - 1
    return f'<div class="lines">{number}{"<i></i>" * lines}</div>'


def _tab(name: str, is_here: bool, kind: str, paper: str) -> str:
    here = ' aria-current="page"' if is_here else ""
    return f'<a href="?kind={kind}&amp;paper={paper}"{here}>{escape(name)}</a>'


def _time(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02d}"


def _short(address: str) -> str:
    """An address without what a browser adds by itself."""
    return address.removeprefix("https://").removeprefix("http://")


def _breakable(address: str) -> str:
    """An address as HTML that may be broken before its parts."""
    safe = escape(address)
    for sign in ("/", "?", "=", "&amp;", "."):
        safe = safe.replace(sign, f"<wbr>{sign}")
    return safe


def _css_text(text: str) -> str:
    """A text as a string of CSS, in which nothing ends it or the style."""
    return '"' + "".join(sign if sign.isalnum() or sign in " ·.:/-_" else f"\\{ord(sign):x} " for sign in text) + '"'
