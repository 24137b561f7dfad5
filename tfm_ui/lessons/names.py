"""The names in expressions of lessons: the controls, what is measured of the model, and what each page measures."""

from collections.abc import Callable, Iterator, Mapping
from inspect import getdoc
from typing import Any

from tfm_ui.lessons.expressions import Value
from tfm_ui.live import passes
from tfm_ui.live.known_words import known_texts
from tfm_ui.page.lens import Lens
from tfm_ui.page.questions import Question
from tfm_ui.state.arrays import WEIGHTS_ALONE
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import pieces_of_ids


def parameters(model: ModelState) -> int:
    """How many parameters the model has."""
    return passes.parameters(model.config)


def tokens(model: ModelState) -> int:
    """How many tokens the model reads of the text."""
    return model.length


def d_k(model: ModelState) -> int:
    """The width of one head: d_model / num_heads."""
    return model.d_model // model.num_heads


def hidden(model: ModelState) -> int:
    """The hidden units of a feed-forward network, d_ff, also where it follows from d_model."""
    return model.hidden


def vocabulary(model: ModelState) -> int:
    """How many tokens the model's vocabulary has."""
    return model.config.vocab_size


def next_probability(model: ModelState) -> float:
    """The probability of the likeliest next token, from 0 to 1; 0 of a model without logits."""
    return float(passes.run(model).next_token.max()) if model.gives_logits else 0.0


def next_token(model: ModelState) -> str:
    """The likeliest next token, as it stands in a text, with its space; "" where it stands for no known word."""
    if not model.gives_logits:
        return ""
    best = int(passes.run(model).next_token.argmax())
    return next(iter(pieces_of_ids(known_texts(model)).get(best, ())), "")


OF_MODEL: Mapping[str, Callable[[ModelState], Value]] = {
    measure.__name__: measure for measure in (parameters, tokens, d_k, hidden, vocabulary, next_probability, next_token)
}


class OnScreen(Mapping[str, Any]):
    """The values of all names on a page, each computed when it is asked for.

    Args:
        lens: whose page it is.
        model: the model on screen.
        state: the lens's controls.
    """

    def __init__(self, lens: Lens, model: ModelState, state: LensState) -> None:
        self._lens, self._model, self._state = lens, model, state

    def __getitem__(self, name: str) -> Value:
        """The value.

        Raises:
            KeyError: for a name that means nothing here.
            ValueError: if it cannot be computed now.
        """
        if reason := self._lens.view_of(self._state).why_not_shown(self._model, self._state):
            raise ValueError(reason)
        value: Value = _of(self._lens)[name](self._model, self._state)
        return value

    def __iter__(self) -> Iterator[str]:
        """All names."""
        return iter(_of(self._lens))

    def __len__(self) -> int:
        """How many names there are."""
        return len(_of(self._lens))


Measure = Callable[[ModelState, Any], Any]


def _of(lens: Lens) -> dict[str, Measure]:
    controls = {name: _control(name) for name in controls_of(ModelState)}
    of_page = {lens.prefix + name: _control_of_page(name) for name in controls_of(lens.state)}
    of_model = {name: _of_model(measure) for name, measure in OF_MODEL.items()}
    of_lens = {lens.prefix + name: measure for name, measure in lens.measures.items()}
    predicted = {name_of(lens, question): question.predict.measured for question in lens.questions if question.predict}
    return {**controls, **of_page, **of_model, **predicted, **of_lens}


def _control(name: str) -> Measure:
    return lambda model, state: getattr(model, name)


def _control_of_page(name: str) -> Measure:
    return lambda model, state: getattr(state, name)


def _of_model(measure: Callable[[ModelState], Value]) -> Measure:
    def of_model(model: ModelState, state: Any) -> Value:
        if model.array:
            raise ValueError(WEIGHTS_ALONE)
        return measure(model)

    return of_model


def name_of(lens: Lens, question: Question) -> str:
    """What expressions call what a question asks to predict."""
    return f"{lens.prefix}{question.link.replace('-', '_')}"


def controls_among(lens: Lens, names: frozenset[str]) -> frozenset[str]:
    """Those of the names that are controls of this page or of the model."""
    return names & {*controls_of(ModelState), *(lens.prefix + name for name in controls_of(lens.state))}


def about(lens: Lens) -> Iterator[tuple[str, str]]:
    """Each name on this page that is no control, with what it is."""
    for name, of_model in OF_MODEL.items():
        yield name, getdoc(of_model) or ""
    for name, measure in lens.measures.items():
        yield lens.prefix + name, getdoc(measure) or ""
    for question in lens.questions:
        if question.predict:
            yield name_of(lens, question), f"{question.predict.ask} (the question {question.link})"
