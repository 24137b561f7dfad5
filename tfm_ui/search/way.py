"""The way to what was chosen in the search: the page opens without a reload, and the reader's model stays.

Only a question and a step bring a model, as they do everywhere; what is the reader's own is kept then.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from tfm_ui.page import controls, frame, in_lesson, question_row, questions, way
from tfm_ui.page.lens import Lens
from tfm_ui.search.index import PAGES, QUESTION, SETTING, STEP, VIEW
from tfm_ui.search.places import places
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState

AFTER = "after"  # a parameter of the page of the lessons alone
OpenStep = Callable[[str], None]  # opens a step of a lesson by its link


def go(kind: str, name: str, lenses: Sequence[Lens], open_step: OpenStep) -> None:
    """Open it: this ends the run of the page, unless it is on screen already. Call it when the model has been drawn.

    Args:
        kind: of the entry in the index.
        name: of the entry.
        lenses: all lenses.
        open_step: opens a step of a lesson.

    Raises:
        ValueError: if there is no such view, question or setting.
    """
    if kind == STEP:
        return open_step(name)
    if kind == SETTING:
        return _setting(name, lenses)
    if kind == VIEW and name in PAGES:
        pages = {frame.LEARN: frame.learn_page, frame.LECTURE: frame.lecture_page, frame.ROOM: frame.room_page}
        page = pages[name]()
        st.switch_page(page, query_params=controls.open_with())
    of_lens, _, of_entry = name.partition(".")
    lens = _lens(of_lens, lenses)
    if kind == QUESTION:
        return _question(lens, of_entry)
    if kind == VIEW and of_entry in lens.views:
        return _view(lens, of_entry)
    raise ValueError(f"expected an entry of the index that leads somewhere, got {kind} {name[:80]}")


def _lens(name: str, lenses: Sequence[Lens]) -> Lens:
    lens = next((each for each in lenses if each.name == name), None)
    if lens is None:
        raise ValueError(f"expected the name of a lens, got {name[:80]!r}")
    return lens


def _is_here(lens: Lens) -> bool:
    return lens.name == (frame.asked_lens() or "home")


def _question(lens: Lens, link: str) -> None:
    """Ask a question as its set-up does; a lesson that is open is left, as its row would hide the question."""
    question = next((each for each in lens.questions if each.link == link), None)
    if question is None:
        raise ValueError(f"expected a question of {lens.title}, got {link[:80]!r}")
    in_lesson.leave()
    of_page = question_row.set_up_of(lens, question)
    if _is_here(lens):
        question_row.set_up(lens, question)
        st.rerun()
    controls.set_parameters(question_row.model_to_bring(question))
    _switch(lens, of_page)


def _view(lens: Lens, view: str) -> None:
    """Open a view as its tab does; on another page what its controls held there last comes back."""
    if not _is_here(lens):
        _switch(lens, _at(lens, view))
    elif len(lens.views) > 1:
        controls.set_parameters(_first_look(lens, view) | _at(lens, view))
        st.rerun()


def _first_look(lens: Lens, view: str) -> dict[str, Any]:
    """What the first question of another view needs, if the reader has moved nothing since the question on screen."""
    model = frame.model()
    state = controls.current(lens.state, lens.prefix, lens.limits(model))
    of_view = [question for question in lens.questions if question.view(lens.state) == view]
    is_moved = not questions.asked(lens.questions, state, model).holds(model, state)
    if is_moved or not of_view or getattr(state, "view", "") == view or lens.view_of(state).within == view:
        return {}
    first = questions.first_of(of_view, model)
    return question_row.model_to_bring(first) | question_row.set_up_of(lens, first)


def _setting(parameter: str, lenses: Sequence[Lens]) -> None:
    """Open the first view that has the control, with what the control needs to be there; nothing else changes."""
    place = places().get(parameter)
    if place is None:
        raise ValueError(f"expected a parameter that has a control, got {parameter[:80]!r}")
    of_model = _read(ModelState, "", place.needs)
    if of_model:
        of_model |= {} if frame.model().is_random else {"weights": controls_of(ModelState)["weights"][1]}
    if not place.views:  # of the model: its control stands beside every page
        if of_model:
            controls.set_parameters(of_model)
            st.rerun()
        return
    lens = next(each for each in lenses if parameter.startswith(each.prefix))
    of_page = _at(lens, _nearest(lens, place.views)) | _read(lens.state, lens.prefix, place.needs)
    if _is_here(lens):
        controls.set_parameters(of_model | of_page)
        st.rerun()
    if of_model:
        controls.set_parameters(of_model)
    _switch(lens, of_page)


def _nearest(lens: Lens, views: Sequence[str]) -> str:
    """The view on screen, if it is one of these, else the first of them."""
    if _is_here(lens):
        now = getattr(controls.current(lens.state, lens.prefix), "view", "")
        if now in views:
            return now
    return views[0]


def _at(lens: Lens, view: str) -> dict[str, Any]:
    """The parameters that open a view, with no question of another one; none of a lens with a single view."""
    return {f"{lens.prefix}view": view, f"{lens.prefix}question": ""} if len(lens.views) > 1 else {}


def _read(state: type[Any], prefix: str, needs: Mapping[str, str]) -> dict[str, Any]:
    """Those of these parameters that belong to a state, as its values."""
    fields = {prefix + name: control for name, control in controls_of(state).items()}
    return {name: fields[name][0].read(value, fields[name][1])[0] for name, value in needs.items() if name in fields}


def _switch(lens: Lens, of_page: Mapping[str, Any]) -> None:
    parameters = way.parameters(lens, of_page)
    parameters.pop(AFTER, None)
    st.switch_page(way.page(lens), query_params=parameters)
