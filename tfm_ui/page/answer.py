"""The strip below the question: the reader's prediction, then the answer. It covers no picture.

Where a question that is asked by its name has a prediction, what would give it away is veiled until the reader has
answered, or has asked for the answer without a guess. A question that is on screen only because it is the first of its
view asks for no prediction: nobody has asked it yet. Below the answer stands what comes next, and why.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from html import escape
from typing import Literal, NamedTuple

import streamlit as st

from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary import explained

# Keys of the session state: the question whose strip is open; the questions whose prediction is over -> the guess.
OPEN, SEEN = "_answer_open", "_predicted"
ANEW = (
    "_asks_anew"  # key of the session state: the room that this page leads, in which all questions are new; "" of none
)
MOST_WORDS = 300  # characters of a prediction in free words
CARD = "card_"  # what the keys of cards begin with, which are no panels
VEIL = "Hidden until the answer is shown. Predict first."


class Next(NamedTuple):
    """What comes after an answer: "Next: {name}, because {because}". It needs `go` or `page`.

    Attributes:
        name: what the button or the link is called.
        because: why it comes next, as the end of that sentence, with the full stop; "" if that is not said.
        go: the callback of the button that leads there.
        page: the page to which a link leads instead.
        query: the parameters of that link.
    """

    name: str
    because: str = ""
    go: Callable[[], None] | None = None
    page: st.Page | None = None
    query: Mapping[str, str] | None = None


class Strip:
    """The strip of one question.

    Args:
        which: the name of the question among all of the app.
        question: the question on screen.
        model: the model, for the answer.
        state: the lens's controls.
        is_asked: whether it is asked by its name: only then a prediction is waited for.
        follows: whether the browser renews its answer between two runs of the page.
        following: what comes after the answer, which is said below it; None if nothing is said.
    """

    def __init__(
        self,
        which: str,
        question: Question,
        model: ModelState,
        state: LensState,
        *,
        is_asked: bool,
        follows: bool = True,
        following: Next | None = None,
    ) -> None:
        self.which, self.question = which, question
        self._follows, self._following = follows, following
        self._model, self._state = model, state
        self._waits_for = question.predict if is_asked and which not in _seen() else None

    @property
    def is_open(self) -> bool:
        """Whether the reader has opened it."""
        return bool(st.session_state.get(OPEN) == self.which)

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for the reader's prediction."""
        return self._waits_for is not None

    def said(self) -> str:
        """The answer, computed from what is on screen."""
        return self.question.answer(self._model, self._state)

    def measured(self) -> float | str:
        """What a prediction is compared with, computed from what is on screen; "" if that is nothing."""
        predict = self.question.predict
        return "" if predict is None or predict.in_words else predict.measured(self._model, self._state)

    def button(self, *, disabled: bool, calls: bool = False) -> None:
        """Draw the button that opens and closes it.

        Args:
            disabled: whether it cannot be pressed.
            calls: whether the reader has done what the answer speaks of, so that it is what comes next.
        """
        label = "Hide" if self.is_open else "Predict" if self._waits_for else "Answer"
        kind: Literal["primary", "secondary"] = "primary" if calls and not self.is_open else "secondary"
        st.button(label, icon=":material/lightbulb:", on_click=self._turn, disabled=disabled, type=kind, key="_answer")

    def draw(self, unanswerable: str = "") -> None:
        """Draw it, if it is open, and the veil, if a prediction is waited for.

        Args:
            unanswerable: why nothing can be measured now, which then stands in the place of the answer.
        """
        if self._waits_for and not unanswerable:
            # Not of a style alone: such an element would stay when it is no longer drawn.
            style = f"<style>{''.join(_veil(self._waits_for, self.which))}</style>"
            st.html(f'<div class="veil" data-which="{escape(self.which)}">{style}</div>')
        if self.is_open:
            with st.container(key="answer"):
                if unanswerable:
                    st.html(f'<p class="said">{escape(unanswerable)}</p>')
                elif self._waits_for:
                    self._predict(self._waits_for)
                else:
                    self._answer()

    def _turn(self) -> None:
        st.session_state[OPEN] = "" if self.is_open else self.which

    def _see(self) -> None:
        st.session_state[_key()] = {**_seen(), self.which: st.session_state.get(self._guess)}

    @property
    def _guess(self) -> str:
        """The key of the control that takes the reader's guess."""
        return f"_prediction_{self.which}"

    def _predict(self, prediction: Prediction) -> None:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="predicting"):
            if prediction.options:
                st.pills(prediction.ask, prediction.options, key=self._guess)
            elif prediction.in_words:
                st.text_input(prediction.ask, key=self._guess, max_chars=MOST_WORDS, on_change=self._see)
            else:
                st.number_input(
                    prediction.ask,
                    value=None,
                    format="%g",
                    key=self._guess,
                    on_change=self._see,  # the key Enter, which ends the entry, answers
                    placeholder=f"your guess{', in ' + prediction.unit.strip() if prediction.unit else ''}",
                    width=220 if self._follows else 480,  # of a lesson it may be a long question
                )
            st.button("Show the answer", on_click=self._see, type="primary", key="_show_answer")

    def _answer(self) -> None:
        prediction = self.question.predict
        if prediction and self.which in _seen():
            guess = _seen()[self.which]
            nothing = "" if asks_anew() else "Nothing was predicted."  # the room has predicted
            said = nothing if guess in (None, "") else f"You predicted {_said(guess, prediction)}."
            if not prediction.in_words:
                measured = _said(prediction.measured(self._model, self._state), prediction)
                here = f" {'Here' if self._follows else 'As set up,'} it is <b>{escape(measured)}</b>."
            else:
                said, here = said if guess in (None, "") else f"You wrote: {guess}", ""
            if said or here:
                st.html(f'<p class="measured">{escape(said)}{here}</p>')
        answer = explained(self.said())
        place = ' data-words="answer"' if self._follows else ""
        st.html(f'<p class="said"{place}>{answer}</p>')
        if self._following:
            _say_next(self._following)


def _say_next(following: Next) -> None:
    """A line of text in which the name leads there."""
    with st.container(key="what_next"):
        st.html("<p>Next: </p>")
        if following.page:
            st.page_link(following.page, label=following.name, query_params=following.query)
        else:
            st.button(following.name, on_click=following.go, type="tertiary", key="_ask_next")
        st.html(f"<p>{escape(_why(following))}</p>")


def _why(following: Next) -> str:
    """What goes on after the name, which may end with a sign of its own: "Who can reverse?"."""
    has_sign = following.name.endswith(("?", "!", "."))
    if not following.because:
        return "" if has_sign else "."
    return f"{' Because' if has_sign else ', because'} {following.because}"


def ask_anew(room: str, over: Collection[str] = ()) -> None:
    """Ask everything anew, as nobody in this room has been asked yet; "" in no room: then go on as before it.

    Args:
        room: the code of the room.
        over: the names of questions whose answers it was shown.
    """
    st.session_state[ANEW] = room
    if over:
        st.session_state[_key()] = dict.fromkeys(over) | dict(_seen())


def asks_anew() -> str:
    """The room in which everything is asked anew; "" of none."""
    room: str = st.session_state.get(ANEW, "")
    return room


def _key() -> str:
    """The key of the session state under which questions are kept whose prediction is over."""
    return f"{SEEN}{asks_anew()}"


def _seen() -> Mapping[str, float | str | None]:
    guesses: Mapping[str, float | str | None] = st.session_state.get(_key(), {})
    return guesses


def guess_of(which: str) -> float | str | None:
    """What was predicted of a question; None if nothing was, or not yet."""
    return _seen().get(which)


def is_over(which: str) -> bool:
    """Whether the prediction of a question is over: somebody has predicted, or has asked for the answer."""
    return which in _seen()


def remember(which: str, guess: float | str | None) -> None:
    """Note what was predicted of a question at an earlier visit; a room is asked all the same."""
    if not asks_anew():
        st.session_state[_key()] = {**_seen(), which: guess}


def _said(value: float | str | None, prediction: Prediction) -> str:
    if isinstance(value, str) or value is None:
        return value or ""
    return f"{value:{',.0f' if abs(value) >= 10_000 else ',.4g'}}{prediction.unit}".replace("-", "−")


def _veil(prediction: Prediction, which: str) -> Iterator[str]:
    """Rules of style that hide what gives a prediction away, and say so in its place; also from who listens.

    They end once the answer of this question was shown in the room that the tab follows: assets/classroom says whose.
    """
    hidden = f':root:not([data-shown~="{which.replace(" ", "+")}"])'
    yield f"{hidden} .st-key-unseen_words {{ visibility: hidden; }}"
    for name in prediction.hides:
        panel, _, part = name.partition(".")
        if name == "notes":
            yield f"{hidden} .note {{ visibility: hidden; }}"
            continue
        key, top = (f"words_{panel}", "0") if part == "words" else (f"panel_{panel}", "3.5rem")
        if panel.startswith(CARD):
            key = panel
        place = f"{hidden} " + (f"[class*=st-key-{key[:-1]}]" if key.endswith("*") else f".st-key-{key}")
        if part == "words":
            yield f"{place} > * {{ visibility: hidden; }}"
        else:
            yield f"{place} > :not(:first-child) {{ visibility: hidden; }}"  # its heading stays
        yield f"{place} {{ position: relative; }}"
        yield f"{place}::after {{ content: '{VEIL}'; position: absolute; inset: {top} auto auto 1rem; opacity: .8; }}"
