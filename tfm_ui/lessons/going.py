"""The way to a step of a lesson: the model and the page's controls become what it shows.

An act of the learner may end a run at any time, and a busy server may end it, too. The browser has then not heard what
that run has set, and sends with the act what its controls held before. So what the learner wants is noted until a run
has shown it and has come to its end: `wish` notes it, `go` sets it up, and `is_granted` tells whether it has arrived.
"""

from dataclasses import asdict, dataclass, replace

import streamlit as st

from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf, shown
from tfm_ui.page import answer, controls, frame, in_lesson, mine, way

WISH = "_lesson_wish"  # key of the session state: what the learner wants
OUT, ON = "", ">"  # no step: out of the lesson, and on to what comes after its last step
MOST = 8  # times that a step is set up, if other acts come in between: on a busy server several may wait


@dataclass(frozen=True)
class Wish:
    """Where the learner wants to go.

    Attributes:
        link: of a step, OUT or ON.
        times: how often it was set up.
        shown: how many runs had come to their end when one began to show it; None if none has.
    """

    link: str
    times: int = 0
    shown: int | None = None


def wish(link: str) -> None:
    """Note where the learner wants to go: the link of a step, OUT or ON."""
    st.session_state[WISH] = Wish(link)


def wished() -> str | None:
    """Where the learner wants to go and may not have arrived; None if nowhere."""
    noted: Wish | None = st.session_state.get(WISH)
    return noted.link if noted else None


def is_granted(place: Place, *, is_here: bool, is_same_page: bool) -> bool:
    """Whether this run is to show what it finds: the step that the learner wants, or whatever is there after it.

    Args:
        place: the step of this page's link.
        is_here: whether what it sets up is on screen.
        is_same_page: whether this is its page.
    """
    noted: Wish = st.session_state[WISH]
    is_left = noted.shown is not None and (controls.times_drawn() > noted.shown or not is_same_page)
    if is_left or noted.times >= MOST:
        end()
        return True
    if noted.times and noted.link == place.link and is_here:
        st.session_state[WISH] = replace(noted, shown=controls.times_drawn())
        return True
    return False


def end() -> None:
    """Forget the wish."""
    st.session_state.pop(WISH, None)


def go(place: Place, lens_of: LensOf) -> None:
    """Open a step: set the model and the page's controls as it shows them, and run its page."""
    this = shown(place.step, lens_of)
    of_model = this.model.chosen()
    of_page = {this.lens.prefix + name: value for name, value in asdict(this.state).items()}
    before: Wish | None = st.session_state.get(WISH)
    st.session_state[WISH] = Wish(place.link, before.times + 1 if before and before.link == place.link else 1)
    mine.keep(of_model)
    st.session_state[answer.OPEN] = which(place) if place.step.predict else ""
    if this.lens.name == (frame.asked_lens() or "home"):
        controls.set_parameters(of_model | of_page)
        in_lesson.enter(place.link)
        st.rerun()
    controls.set_parameters(of_model)
    parameters = way.parameters(this.lens, of_page)
    parameters.pop(AFTER, None)  # the page of the lessons has said so
    st.switch_page(way.page(this.lens), query_params=parameters | {in_lesson.PARAMETER: place.link})


AFTER = "after"  # the parameter of the page of the lessons that names the lesson which has just ended


def which(place: Place) -> str:
    """The step's name among all questions of the app, for the strip of its answer."""
    return f"lesson {place.link}"
