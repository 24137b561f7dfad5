"""Questions: settings of the model and a lens that are worth a look, each with a question and its answer. Pure.

A question lists what differs from the defaults; every other control goes back to its default. Each lens has a
questions.py. The answer is computed from what is on screen, so it stays true when the reader has moved a control.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tfm_ui.page.question_names import END, name_in_links
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

S = TypeVar("S", bound=LensState)


class Computed(Mapping[str, Any]):
    """Settings of which some are computed when they are first needed: which head does what, for example.

    Args:
        values: field -> value, or a function of nothing that computes it, quickly or from the cache.
    """

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        """The value, computed if need be."""
        value = self._values[name]
        return value() if callable(value) else value

    def __iter__(self) -> Iterator[str]:
        """The names of the fields."""
        return iter(self._values)

    def __len__(self) -> int:
        """How many fields there are."""
        return len(self._values)


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What the reader can predict before the answer is shown.

    Attributes:
        ask: the prediction's label, such as "How many pairs leak?".
        measured: what the prediction is compared with, computed from the data on screen: a number, or one of `options`.
        options: what the reader chooses from; if there are none, the reader types a number.
        unit: what follows the number, such as "%".
        hides: what gives it away until the reader has predicted: the keys of panels, a "*" at the end for any ending;
            of a panel whose picture does not, its key and ".words", for its sentence, its laws and how it is read;
            keys of cards, which begin with "card_"; "notes" for all plain notes.
        in_words: whether the reader answers in free words, which are compared with nothing.
    """

    ask: str
    measured: Callable[[ModelState, Any], float | str]
    options: Sequence[str] = ()
    unit: str = ""
    hides: Collection[str] = ()
    in_words: bool = False


def _anyhow(model: ModelState, state: Any) -> bool:
    return True


MODEL = frozenset(controls_of(ModelState))  # all fields of the model


@dataclass(frozen=True)
class Question:
    """A question.

    What its text says is true as long as the fields that it sets, and those that are `given`, have the values of its
    set-up; of those that it sets, the reader may change what `moves`.

    Attributes:
        name: two or three words, for the list of questions.
        ask: something to try, and a question that the picture answers, in at most `MOST_CHARS` characters.
        answer: the answer, in sentences computed from the data on screen: a pure function of the link. It must hold of
            any model, not only of the question's own settings.
        predict: what the reader can predict first.
        model: field -> value, of the model's state.
        controls: field -> value, of the lens's state.
        moves: names of fields that it sets and that its text leaves to the reader.
        given: names of fields that it leaves at their defaults and that its text speaks of. A name that the lens and
            the model have is the lens's.
        only: what else must be so for the text to be true.
        link: its name in links. It is made from the first title, and is given where the title has been changed since.
        because: why it is asked after the question before it in its lens, as the end of a sentence, with the full stop:
            "Next: {name}, because {because}". It is read below the answer of the question before, whatever model is on
            screen, so it speaks of what this question adds and of no measured number. None of the first of a lens.
    """

    name: str
    ask: str
    answer: Callable[[ModelState, Any], str]
    predict: Prediction | None = None
    model: Mapping[str, Any] = field(default_factory=dict)
    controls: Mapping[str, Any] = field(default_factory=dict)
    moves: Collection[str] = ()
    given: Collection[str] = ()
    only: Callable[[ModelState, Any], bool] = _anyhow
    link: str = ""
    because: str = ""

    def __post_init__(self) -> None:
        if not self.link:
            object.__setattr__(self, "link", name_in_links(self.name))

    @property
    def speaks_of(self) -> set[str]:
        """The names of the fields whose values its text takes for granted; the view is another matter."""
        return {*self.model, *self.controls, *self.given} - {*self.moves, "view"}

    def is_true(self, model: ModelState, state: LensState) -> bool:
        """Whether what its text says is true of this model and these controls.

        Of attention weights out of a file nothing is true that is said of a model's fields, as there is no model.
        """
        if model.array and not MODEL.isdisjoint(self.speaks_of - controls_of(type(state)).keys()):
            return False
        of_lens, of_model = controls_of(type(state)), controls_of(ModelState)
        for name in self.speaks_of:
            of, set_up, fields = (state, self.controls, of_lens) if name in of_lens else (model, self.model, of_model)
            if getattr(of, name) != (set_up[name] if name in set_up else fields[name][1]):
                return False
        return self.only(model, state)

    def holds(self, model: ModelState, state: LensState) -> bool:
        """Whether the model's and the lens's state are those of this question."""
        kept = {name: getattr(state, name) for name in state.NOT_SET_UP}
        return model == ModelState(**self.model) and state == type(state)(**{**self.controls, **kept})

    def is_about(self, state: LensState) -> bool:
        """Whether its set-up shows what is on screen: the same view, and in it the same picture."""
        fields = controls_of(type(state))
        places = [name for name in state.PLACES if name in fields]
        return all(self.controls.get(name, fields[name][1]) == getattr(state, name) for name in places)

    def view(self, state: type[LensState]) -> str:
        """The name of the view that the question is about; "" in a lens with a single view."""
        return str(self.controls.get("view", getattr(state, "view", "")))


MOST_CHARS = 150  # two lines beside the question's number in a window 1024 px wide
MOST_CHARS_OF_WHY = 90  # of `Question.because`: with a name before it two lines in such a window


def asked(questions: Sequence[Question], state: LensState, model: ModelState | None = None) -> Question:
    """The question that is on screen: the one that the link names, or else one about what is visible (`first_of`)."""
    view = getattr(state, "view", "")
    of_view = [question for question in questions if question.view(type(state)) == view]
    by_name = named(questions, state.question)
    if by_name and (by_name in of_view or not of_view):
        return by_name
    about_this = [question for question in of_view if question.is_about(state)]
    return first_of(about_this or of_view or questions, model, state)


def named(questions: Sequence[Question], name: str) -> Question | None:
    """The question that a link calls by this name, after the last one that one; None if there is none."""
    if name == END:
        return questions[-1]
    return next((question for question in questions if question.link == name), None)


def is_at_end(questions: Sequence[Question], state: LensState, now: Question) -> bool:
    """Whether the reader has gone on from the last question, which is the one on screen."""
    return state.question == END and now is questions[-1]


def first_of(questions: Sequence[Question], model: ModelState | None, state: LensState | None = None) -> Question:
    """The first question whose text is true of this model and this page, and that is asked of such weights.

    If there is none, it is the first that is asked of such weights; if that is missing too, the first of all. Weights
    are random, pretrained, or trained on a task, whichever.
    """
    if not model:
        return questions[0]
    fitting = [question for question in questions if _kind(ModelState(**question.model)) == _kind(model)]
    true = (question for question in fitting if state and question.is_true(model, state))
    return next(true, next(iter(fitting), questions[0]))


def _kind(model: ModelState) -> tuple[bool, bool, bool]:
    return model.is_random, model.pretrained is not None, model.array is not None


def neighbour(questions: Sequence[Question], now: Question, step: int) -> Question | None:
    """The question `step` places after the present one; None before the first and after the last."""
    at = questions.index(now) + step
    return questions[at] if 0 <= at < len(questions) else None
