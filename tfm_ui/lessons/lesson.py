"""A lesson as data. `reader.py` reads one from its file; docs/lessons.md says what stands in such a file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import parse_qs

from tfm_ui.lessons.expressions import Expression, Written

NUMBER, TEXT = "number", "text"  # what stands in `options` where a learner types instead of choosing


@dataclass(frozen=True)
class Source:
    """A source of a lesson: its name, and its address, which begins with https://."""

    name: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Predict:
    """What a learner predicts before the answer of a step is shown.

    Attributes:
        ask: the question.
        options: what is chosen from; nothing where the learner types.
        kind: "choice", NUMBER or TEXT.
        unit: of a number, such as "%".
        measured: what it is compared with; None for free words, and where the answer's question measures it.
        hides: names of panels whose pictures would give it away.
    """

    ask: str
    kind: str
    options: Sequence[str] = ()
    unit: str = ""
    measured: Expression | None = None
    hides: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a lesson.

    Attributes:
        heading: its heading.
        name: its name in links.
        words: what it says.
        show: the page that it shows: the name of a lens ("home" for the first page), and the query of its link.
        moves: names of controls that its words leave to the learner.
        predict: what the learner predicts, if anything.
        question: the name of the question of this page whose answer is the step's; "" if there is none.
        answer: the answer in words with expressions; None if there is none, or if it is a question's.
        task: what is to be reached; "" if nothing is.
        reached: the condition under which it is.
        exercise: the name of what a learner programs here, in a notebook; "" if nothing.
        because: why it comes after the step before, as the end of a sentence; "" if that is not told.
        notes: what the speaker says to it; learners do not see it.
        minutes: how long the speaker takes for it; 0 if that is not told.
        lines: the name of each of its lines, and "words" -> the number of that line in the file.
    """

    heading: str
    name: str
    words: str
    show: tuple[str, str]
    moves: frozenset[str] = frozenset()
    predict: Predict | None = None
    question: str = ""
    answer: Written | None = None
    task: str = ""
    reached: Expression | None = None
    exercise: str = ""
    because: str = ""
    notes: str = ""
    minutes: int = 0
    lines: dict[str, int] = field(default_factory=dict, compare=False)

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The parameters of the page that it shows."""
        return parse_qs(self.show[1], keep_blank_values=True)

    @property
    def has_answer(self) -> bool:
        """Whether there is something to show on request."""
        return bool(self.question or self.answer)


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson.

    Attributes:
        title: its title.
        minutes: how long it takes.
        needs: what a learner has to know before; "" if nothing.
        objectives: what a learner can do afterwards.
        sources: what it rests on.
        steps: its steps, at least one.
    """

    title: str
    minutes: int
    needs: str
    objectives: Sequence[str]
    sources: Sequence[Source]
    steps: Sequence[Step]

    def step(self, name: str) -> int | None:
        """The place of the step with this name; None if there is none."""
        return next((at for at, step in enumerate(self.steps) if step.name == name), None)
