"""Follows the room: the model, the page and its controls become what the owner's link says.

The browser asks for the pictures of that link at once (assets/classroom/follow.js); the page comes after, at rest.
"""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import parse_qs

import streamlit as st

from tfm_ui.classroom.room import MOST_QUERY
from tfm_ui.classroom.session import BAR
from tfm_ui.page import controls, frame, in_lesson, way
from tfm_ui.page.lens import Lens
from tfm_ui.state.links import state_of
from tfm_ui.state.model_state import ModelState

WISH = "_room_wish"  # key of the session state: where the room is, until this page is there
HOME = "home"
OF_TAB = ("code", "after", in_lesson.PARAMETER)  # parameters that a page of its own has, or that the room says

LensOf = Callable[[str], Lens]


@dataclass(frozen=True)
class Place:
    """Where the owner is: the name of a page, and the parameters of its link."""

    page: str
    query: dict[str, list[str]]

    @property
    def step(self) -> str:
        """The link of the lesson's step; "" if none is open."""
        return self.query.get(in_lesson.PARAMETER, [""])[-1]


def told() -> None:
    """Note where the room is, as the browser tells. To be called in a callback."""
    wish = getattr(st.session_state.get(BAR), "follow", None)
    if not isinstance(wish, dict):
        return
    page, query, number = wish.get("page"), wish.get("query"), wish.get("number")
    if not isinstance(page, str) or not isinstance(query, str) or len(query) > MOST_QUERY:
        return
    if isinstance(number, int) and 0 < number < 1e12:
        st.session_state[controls.HEARD] = max(number, controls.heard())
    st.session_state[WISH] = Place(page, parse_qs(query, keep_blank_values=True))


def here(page: str, lens_of: LensOf, names: Collection[str]) -> None:
    """Set what the room shows on this page, if it is there: before the page is drawn, so that it runs once."""
    wish: Place | None = st.session_state.get(WISH)
    if wish is None or wish.page != page or page not in names or "" not in st.session_state.get(controls.KNOWN, {}):
        return
    of_model, of_page = _values(wish, lens_of(page))
    controls.set_parameters(of_model | of_page)
    _stay_in_step(wish)
    st.session_state.pop(WISH)  # only now: another act may end the run at any of these


def elsewhere(lens_of: LensOf, names: Collection[str]) -> None:
    """Go to the page where the room is: this ends the run, unless it is this one. Call it when the model is drawn."""
    wish: Place | None = st.session_state.get(WISH)
    if wish is None:
        return
    in_step = {in_lesson.PARAMETER: wish.step} if wish.step else {}
    if wish.page == frame.LEARN:
        beside = _beside()
        st.session_state.pop(WISH)
        st.switch_page(frame.learn_page(), query_params=beside | in_step)
    if wish.page not in names:  # of another version of the app
        st.session_state.pop(WISH)
        return
    lens = lens_of(wish.page)
    of_model, of_page = _values(wish, lens)
    controls.set_parameters(of_model)
    parameters = {name: value for name, value in way.parameters(lens, of_page).items() if name not in OF_TAB}
    _stay_in_step(wish)
    st.session_state.pop(WISH)
    st.switch_page(way.page(lens), query_params=parameters | in_step)


def _values(place: Place, lens: Lens) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameter -> value, of the model and of the page; what no control can have is the nearest that one can."""
    model = state_of(ModelState, "", place.query)
    state = state_of(lens.state, lens.prefix, place.query, lens.limits(model))
    return model.chosen(), {lens.prefix + name: value for name, value in asdict(state).items()}


def _stay_in_step(place: Place) -> None:
    """Open the step of a lesson that the room is in, or leave the one that this page was in."""
    if place.step != in_lesson.asked():
        if place.step:
            in_lesson.enter(place.step)
        else:
            in_lesson.leave()


def _beside() -> dict[str, str]:
    """The parameters of this page that are no control's."""
    return {name: value for name, value in controls.open_with().items() if name not in OF_TAB}
