"""Reads a lesson from its file, and says of each fault where it is, what was expected, and what stands there.

The format is our own and small, as docs/lessons.md says it: in YAML, which it resembles, `no` is a truth value and a
colon within a question is an error, and who writes lessons should not have to know that.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

from tfm_ui.lessons import expressions
from tfm_ui.lessons.lesson import NUMBER, TEXT, Lesson, Predict, Source, Step
from tfm_ui.page.question_names import name_in_links

Read = TypeVar("Read")

MOST_BYTES = 100_000  # of a lesson's file
MOST_STEPS, MOST_HEADING, MOST_TITLE, MOST_MINUTES, MOST_OBJECTIVES, MOST_SOURCES = 40, 40, 60, 240, 8, 20
MOST_WORDS = {
    **{"words": 60, "answer": 60, "task": 25, "predict": 25, "because": 25, "notes": 200},
    **{"objectives": 25, "sources": 25, "needs": 25},
}
MOST_SIGNS = 8  # on average per word: 60 words have to fit into the row
MOST_OPTIONS, MOST_OPTION = 6, 40

OF_LESSON = ("title", "minutes", "needs", "objectives", "sources")
LISTS = ("objectives", "sources")
OF_STEP = (
    *("show", "name", "moves", "predict", "options", "measured", "hides", "answer", "task", "reached"),
    *("exercise", "because", "notes", "minutes"),
)
LINE = re.compile(r"([a-z]+):(?:\s+(.*))?")
NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
QUESTION = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PAGE = re.compile(r"/([a-z]*)(?:\?(.*))?")
SOURCE = re.compile(r"(.+): (https://[^\s<>\"]+)")
TAG = re.compile(r"<[/!a-zA-Z]")
ADDRESS = re.compile(r"(https?:|www\.)", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class Fault:
    """A fault of a lesson: the line on which it is, and what was expected and got."""

    line: int
    text: str

    def named(self, file: str) -> str:
        """The fault as compilers write it: the file, the line, the fault."""
        return f"{file}:{self.line}: {self.text}"


class FaultyLesson(ValueError):
    """A lesson has faults.

    Attributes:
        faults: all of them, by line.
    """

    def __init__(self, faults: Sequence[Fault], file: str = "lesson") -> None:
        self.faults = sorted(set(faults))
        super().__init__("\n".join(fault.named(file) for fault in self.faults))


@dataclass
class _Lines:
    """The named lines of a lesson or a step, and the faults that reading them brings."""

    faults: list[Fault]
    at: int  # the line on which the part begins
    values: dict[str, tuple[int, str]] = field(default_factory=dict)

    def fault(self, line: int, text: str) -> None:
        """Note a fault."""
        self.faults.append(Fault(line, text))

    def enter(self, line: int, text: str, known: Sequence[str]) -> str:
        """Enter a named line; returns its name, or "" if it is none that is known."""
        match = LINE.fullmatch(text)
        if not match or match.group(1) not in known:
            self.fault(line, f"expected one of {', '.join(known)}, then a colon and a space; got {_short(text)}")
            return ""
        name, value = match.group(1), (match.group(2) or "").strip()
        if name in self.values:
            self.fault(line, f"expected {name} once, got it again; it stands on line {self.values[name][0]}, too")
        self.values[name] = line, value
        return name

    def line(self, name: str) -> int:
        """The line on which a value stands; the part's first, if it is missing."""
        return self.values.get(name, (self.at, ""))[0]

    def text(self, name: str, *, needed: str = "") -> str:
        """A value as plain text; `needed` says what is expected where it is missing."""
        line, value = self.values.get(name, (self.at, ""))
        if not value and needed:
            self.fault(line, f"expected {needed}; got nothing")
        return self.plain(line, name, value)

    def plain(self, line: int, name: str, value: str) -> str:
        """A text that must have no HTML, no address, and not too many words."""
        if TAG.search(value):
            self.fault(line, f"expected text alone in {name}, got what looks like HTML: {_short(value)}")
        if name != "sources" and ADDRESS.search(value):
            self.fault(line, f"expected addresses among the sources alone, got one in {name}: {_short(value)}")
        if (most := MOST_WORDS.get(name)) and (words := len(value.split())) > most:
            self.fault(line, f"expected at most {most} words in {name}, got {words}")
        elif most and len(value) > most * MOST_SIGNS:
            self.fault(line, f"expected at most {most * MOST_SIGNS} characters in {name}, got {len(value):,}")
        return value

    def minutes(self, value: str) -> int:
        """A whole number of minutes; 0 if there is none, or a faulty one."""
        if value and not (value.isascii() and value.isdigit() and len(value) < 5 and 1 <= int(value) <= MOST_MINUTES):
            whole = f"a whole number of minutes from 1 to {MOST_MINUTES}"
            self.fault(self.line("minutes"), f"expected {whole}, got {_short(value)}")
            return 0
        return int(value or 0)

    def read(self, name: str, value: str, reads: Callable[[str], Read]) -> Read | None:
        """A value as a function reads it; its ValueError is a fault."""
        try:
            return reads(value) if value else None
        except ValueError as problem:
            self.fault(self.line(name), f"{name}: {problem}")
            return None


def read(text: str, file: str = "lesson") -> Lesson:
    """Read a lesson.

    Args:
        text: what stands in its file.
        file: the file's name, for what is said of its faults.

    Raises:
        FaultyLesson: with all faults.
    """
    if len(text.encode()) > MOST_BYTES:
        raise FaultyLesson([Fault(1, f"expected at most {MOST_BYTES:,} bytes, got {len(text.encode()):,}")], file)
    lines = [*enumerate(text.removeprefix("\ufeff").splitlines(), 1)]
    faults: list[Fault] = []
    marks = [number for number, line in lines if line.strip() == "---"]
    if not lines or lines[0][1].strip() != "---" or len(marks) < 2:
        first = lines[0][1] if lines else ""
        raise FaultyLesson(
            [Fault(1, f"expected the lesson's title and more between two lines ---, got {_short(first)}")], file
        )
    about = _about(lines[1 : marks[1] - 1], faults)
    steps = [_step(part, faults) for part in _parts(lines[marks[1] :], faults)]
    if not 1 <= len(steps) <= MOST_STEPS:
        faults.append(Fault(marks[1], f"expected one to {MOST_STEPS} steps, each begun with ##; got {len(steps)}"))
    names = [step.name for step in steps]
    faults += [
        Fault(step.lines["heading"], f"expected a name that no other step has, got {step.name} again: give it a `name`")
        for at, step in enumerate(steps)
        if step.name in names[:at]
    ]
    if faults:
        raise FaultyLesson(faults, file)
    return Lesson(**about, steps=tuple(steps))


Numbered = tuple[int, str]


def _about(lines: Sequence[Numbered], faults: list[Fault]) -> dict[str, Any]:
    """What a lesson says of itself."""
    part, below = _Lines(faults, 1), {name: list[Numbered]() for name in LISTS}
    now = ""
    for number, line in lines:
        if line.startswith("- ") and now in LISTS:
            below[now].append((number, line[2:].strip()))
        elif line.strip():
            now = part.enter(number, line.strip(), OF_LESSON)
    for name in LISTS:
        if beside := part.values.get(name, (0, ""))[1]:
            part.fault(part.line(name), f"expected {name} on lines of their own, each after “- ”; got {_short(beside)}")
    title, minutes = part.text("title", needed="a title"), part.text("minutes", needed="how many minutes it takes")
    if len(title) > MOST_TITLE:
        part.fault(part.line("title"), f"expected a title of at most {MOST_TITLE} characters, got {len(title)}")
    needs = part.text("needs", needed="what a learner has to know before, or “nothing”")
    objectives = [part.plain(number, "objectives", text) for number, text in below["objectives"]]
    if not 1 <= len(objectives) <= MOST_OBJECTIVES:
        part.fault(part.line("objectives"), f"expected one to {MOST_OBJECTIVES} objectives, got {len(objectives)}")
    if len(below["sources"]) > MOST_SOURCES:
        part.fault(part.line("sources"), f"expected at most {MOST_SOURCES} sources, got {len(below['sources'])}")
    return {
        "title": title,
        "minutes": part.minutes(minutes) or 1,
        "needs": "" if needs == "nothing" else needs,
        "objectives": tuple(objectives),
        "sources": tuple(_sources(below["sources"], part)),
    }


def _sources(lines: Sequence[Numbered], part: _Lines) -> Iterator[Source]:
    for number, text in lines:
        part.plain(number, "sources", text)
        if match := SOURCE.fullmatch(text):
            yield Source(*match.groups())
        else:
            part.fault(
                number, f"expected a name, a colon, and an address that begins with https://; got {_short(text)}"
            )


def _parts(lines: Sequence[Numbered], faults: list[Fault]) -> Iterator[Sequence[Numbered]]:
    """The lines of each step, from its heading on."""
    heads = [at for at, (_, line) in enumerate(lines) if line.startswith("#")]
    for number, line in lines[: heads[0] if heads else None]:
        if line.strip():
            faults.append(Fault(number, f"expected a step, which begins with ## and its heading; got {_short(line)}"))
    for at, end in pairwise([*heads, len(lines)]):
        yield lines[at:end]


def _step(lines: Sequence[Numbered], faults: list[Fault]) -> Step:
    (first, head), *rest = lines
    part, words = _Lines(faults, first), list[Numbered]()
    for number, line in rest:
        match = LINE.fullmatch(line.strip())
        if part.values or (match and match.group(1) in OF_STEP):
            if line.strip():
                part.enter(number, line.strip(), OF_STEP)
        elif line.strip():
            words.append((number, line.strip()))
    heading = head.removeprefix("##").strip()
    if not head.startswith("## ") or not heading:
        part.fault(first, f"expected ## , and a heading; got {_short(head)}")
    if len(heading) > MOST_HEADING:
        part.fault(first, f"expected a heading of at most {MOST_HEADING} characters, got {len(heading)}")
    part.plain(first, "heading", heading)
    name = part.text("name") or name_in_links(heading)[:40].strip("-")
    if not NAME.fullmatch(name):
        wanted = "a name of small letters, digits and hyphens that begins with a letter"
        part.fault(part.line("name"), f"expected {wanted}, got {_short(name or heading)}: give the step a `name`")
    at_words = words[0][0] if words else first
    said = part.plain(at_words, "words", " ".join(text for _, text in words))
    if not said:
        part.fault(first, "expected words between the heading and the step's first line, got none")
    answer = part.text("answer")
    is_name = bool(QUESTION.fullmatch(answer))
    task, reached = part.text("task"), part.read("reached", part.text("reached"), expressions.read)
    for this, other in (("task", "reached"), ("reached", "task"), ("predict", "answer"), ("predict", "options")):
        if this in part.values and other not in part.values:
            part.fault(part.line(this), f"expected {other} beside {this}, got none")
    for this in ("options", "measured", "hides"):
        if this in part.values and "predict" not in part.values:
            part.fault(part.line(this), f"expected predict beside {this}, got none")
    return Step(
        heading=heading,
        name=name,
        words=said,
        show=_page(part),
        moves=frozenset(_names(part, "moves")),
        predict=_predict(part, is_name=is_name),
        question=answer if is_name else "",
        answer=None if is_name else part.read("answer", answer, expressions.read_written),
        task=task,
        reached=reached,
        exercise=_exercise(part),
        because=part.text("because"),
        notes=part.text("notes"),
        minutes=part.minutes(part.text("minutes")),
        lines={"heading": first, "words": at_words, **{key: line for key, (line, _) in part.values.items()}},
    )


def _exercise(part: _Lines) -> str:
    name = part.text("exercise")
    if name and not NAME.fullmatch(name):
        part.fault(part.line("exercise"), f"expected the name of an exercise, got {_short(name)}")
    return name


def _names(part: _Lines, line: str) -> list[str]:
    return [name for each in part.text(line).split(",") if (name := each.strip())]


def _page(part: _Lines) -> tuple[str, str]:
    line, address = part.values.get("show", (part.at, ""))
    if match := PAGE.fullmatch(address):
        return match.group(1) or "home", match.group(2) or ""
    part.fault(line, f"expected show: and a page of the app, such as /heads?num_heads=8; got {_short(address)}")
    return "home", ""


def _predict(part: _Lines, *, is_name: bool) -> Predict | None:
    ask, options = part.text("predict"), part.text("options")
    measured, hides = part.read("measured", part.text("measured"), expressions.read), tuple(_names(part, "hides"))
    if not ask or not options:
        return None
    kind, _, unit = options.partition(" ")
    if options == TEXT:
        if "measured" in part.values:
            part.fault(part.line("measured"), "expected nothing to compare free words with, got measured")
        return Predict(ask=ask, kind=TEXT, hides=hides)
    if "measured" not in part.values and not is_name:
        part.fault(part.line("predict"), "expected measured, or the name of a question in answer; got neither")
    if kind == NUMBER and "|" not in unit:
        if len(unit) > MOST_OPTION:
            part.fault(part.line("options"), f"expected a short unit, got {_short(unit)}")
        return Predict(ask=ask, kind=NUMBER, unit=unit, measured=measured, hides=hides)
    choices = tuple(choice.strip() for choice in options.split("|"))
    if not 2 <= len({*choices} - {""}) == len(choices) <= MOST_OPTIONS or max(map(len, choices)) > MOST_OPTION:
        part.fault(
            part.line("options"),
            f"expected number, text, or two to {MOST_OPTIONS} different answers of at most {MOST_OPTION} characters "
            f"with | between them; got {_short(options)}",
        )
    return Predict(ask=ask, kind="choice", options=choices, measured=measured, hides=hides)


def _short(text: str) -> str:
    """What stands in a file, for a sentence."""
    plain = "".join(sign if sign.isprintable() else "·" for sign in text)
    return f"“{plain if len(plain) <= 60 else plain[:59] + '…'}”" if plain else "nothing"
