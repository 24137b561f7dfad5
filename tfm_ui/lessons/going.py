"""The way to a step of a lesson: the model and the page's controls become what it shows."""

from dataclasses import asdict

import streamlit as st

from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf, shown
from tfm_ui.page import answer, controls, frame, in_lesson, mine, way


def go(place: Place, lens_of: LensOf) -> None:
    """Open a step: set the model and the page's controls as it shows them, and run its page."""
    this = shown(place.step, lens_of)
    of_model = asdict(this.model)
    of_page = {this.lens.prefix + name: value for name, value in asdict(this.state).items()}
    mine.keep(of_model)
    st.session_state[answer.OPEN] = which(place) if place.step.predict else ""
    if this.lens.name == (frame.asked_lens() or "home"):
        controls.set_parameters(of_model | of_page)
        in_lesson.enter(place.link)
        st.rerun()
    controls.set_parameters(of_model)
    parameters = way.parameters(this.lens, of_page)
    st.switch_page(way.page(this.lens), query_params=parameters | {in_lesson.PARAMETER: place.link})


def which(place: Place) -> str:
    """The step's name among all questions of the app, for the strip of its answer."""
    return f"lesson {place.link}"
