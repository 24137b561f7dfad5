"""The row of the question: its number, the question, the way to its set-up, and the answer on request.

A question is only asked where its text is true of what is on screen; elsewhere the row offers to set it up. After the
last one it says what comes next, and why. It has the same height whatever it says, so that the picture below it stays
where it is.
"""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from tfm_ui.page import controls, frame, mine, present
from tfm_ui.page.answer import Next, Strip
from tfm_ui.page.lens import LeadsOn, Lens
from tfm_ui.page.present import TAKEN
from tfm_ui.page.question_names import END
from tfm_ui.page.questions import Question, asked, first_of, is_at_end, named, neighbour
from tfm_ui.state.fields import State
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import as_text
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary import explained

OPENED = "_opened"  # key of the session state: the names of the lenses that a link has opened


def draw(
    lens: Lens,
    model: ModelState,
    state: LensState,
    unanswerable: str = "",
    also: Callable[[Lens, Question], None] = lambda lens, question: None,
) -> Strip | None:
    """Draw the row; return the strip of the question's answer, if it may be asked.

    It is drawn in the lens's fragment, as it says whether a control has left the question's set-up.

    Args:
        lens: whose questions these are.
        model: the model, for the answer.
        state: the lens's controls.
        unanswerable: why nothing can be measured now, which then stands in the place of the answer.
        also: draws what else can be done with the question, at the end of the row.
    """
    these = lens.questions
    now = asked(these, state, model)
    ended = is_at_end(these, state, now)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="question"):
        with st.container(horizontal=True, gap=None, wrap=False, width="content", key="which_question"):
            if ended:
                _step("Question before", -1, lambda: controls.change(lens.prefix, question=now.link))
            else:
                before = neighbour(these, now, -1)
                _step("Question before", -1, partial(ask, lens, before) if before else None)
            _list(lens, now)
            after = neighbour(these, now, 1)
            on = partial(ask, lens, after) if after else lambda: controls.change(lens.prefix, question=END)
            _step("Next question", 1, None if ended else on)
        # Where keys walk on from, and the last of their steps that led here.
        taken = st.session_state.get(TAKEN, 0)
        at = f'data-lens="{lens.name}" data-number="{these.index(now) + 1 + ended}" data-taken="{taken}"'
        if ended:
            _end(lens, at)
            return None
        # A file of weights has no model, so that a view which shows nothing of it can ask nothing, either.
        is_true = now.is_true(model, state) and not (model.array and unanswerable)
        text = explained(now.ask) if is_true else f"<b>{escape(now.name)}</b> asks about other settings than these."
        st.html(f'<p class="ask" {at}>{text}</p>')
        with st.container(horizontal=True, gap="small", wrap=False, width="content", key="answering"):
            _back_to_mine(mine.given_way(model))
            _set_up(lens, now, is_true, now.holds(model, state))
            is_asked = state.question == now.link
            which, following = f"{lens.name} {now.link}", _following(lens, now)
            strip = Strip(which, now, model, state, is_asked=is_asked, following=following)
            strip.button(disabled=not is_true)
            also(lens, now)
    if is_true:
        strip.draw(unanswerable)
    return strip if is_true and not unanswerable else None


def _end(lens: Lens, at: str) -> None:
    """What stands in the row after the last question; the link keeps the model."""
    following = lens.leads_on
    said = following.after(lens.title) if following else f"That was the last question of {lens.title}."
    st.html(f'<p class="ask" {at}>{escape(said)}</p>')
    if following:
        with st.container(horizontal=True, width="content", key="answering"):
            st.page_link(_page_of(following), label=f"{following.title} →", query_params=_kept())


def _page_of(following: LeadsOn) -> st.Page:
    return frame.learn_page() if following.name == frame.LEARN else frame.page_of(following.name)


def _kept() -> dict[str, str] | None:
    """What a link to another page keeps of this one: whether it is presented."""
    return {present.PARAMETER: "true"} if present.presenting() else None


def _following(lens: Lens, now: Question) -> Next | None:
    """What is said to come next below the answer of a question: the question after it, or what the lens leads on to."""
    if after := neighbour(lens.questions, now, 1):
        is_elsewhere = after.view(lens.state) != now.view(lens.state)
        name = _with_view(lens, after) if is_elsewhere else after.name
        return Next(name, after.because, go=partial(ask, lens, after))
    if on := lens.leads_on:
        return Next(on.title, on.why, page=_page_of(on), query=_kept())
    return None


def _set_up(lens: Lens, now: Question, is_true: bool, holds: bool) -> None:
    about = "Set the model and the controls as the question takes them for granted."
    st.button(
        "As set up" if holds else "Set up" if is_true else "Set up this question",
        icon=":material/check:" if holds else ":material/tune:",
        disabled=holds,
        help=None if holds else about,
        on_click=partial(ask, lens, now),
        type="tertiary" if is_true else "primary",
        key="_set_up",
    )


def _back_to_mine(gave_way: str) -> None:
    """The way back to what of the reader's has given way to the question's; nothing where nothing has."""
    if gave_way:
        st.button(
            "Back to mine" if " and " in gave_way else f"Back to my {gave_way}",
            icon=":material/undo:",
            help=f"The question has brought its own {gave_way}. Yours is kept: this brings it back.",
            on_click=mine.come_back,
            type="tertiary",
            key="_mine",
        )


def ask(lens: Lens, question: Question) -> None:
    """Set the model and the lens's controls as the question wants them. Only to be called in a callback."""
    set_up(lens, question)
    st.rerun()  # the whole page: the row stands in a fragment


def set_up(lens: Lens, question: Question) -> None:
    """Set the model and the lens's controls as the question wants them, from the next run on."""
    controls.set_parameters(model_to_bring(question) | set_up_of(lens, question))


def open_view(lens: Lens, model: ModelState, state: LensState, view: str) -> None:
    """Show another view. Only to be called in a callback.

    As long as the reader has moved nothing since the question on screen was asked, the view is opened with what its
    first question needs; otherwise the reader's controls stay.
    """
    first = first_of([question for question in lens.questions if question.view(lens.state) == view], model)
    if lens.view_of(state).within == view:  # from a block back to the machine: nothing but the view changes
        controls.change(lens.prefix, view=view)
    elif asked(lens.questions, state, model).holds(model, state):
        controls.set_parameters(model_to_bring(first) | set_up_of(lens, first) | {f"{lens.prefix}question": ""})
        st.rerun()  # the whole page, as `ask` does
    else:
        controls.change(lens.prefix, view=view, question="")


def follow_link(lens: Lens, model: ModelState) -> None:
    """Show what the question is about that a link names, if the link itself does not say what is shown.

    The view is made good on every run: Back may bring an address that was never corrected, as the run that found it bad
    had been ended. Whatever else it is only of the link that opened the lens: the reader may have changed it since.
    """
    name = controls.current(lens.state, lens.prefix, lens.limits(model)).question
    opened: set[str] = st.session_state.setdefault(OPENED, set())
    places = lens.state.PLACES[: 1 if lens.name in opened else None]
    opened.add(lens.name)
    at_first = controls.defaults(lens.state, lens.prefix)
    page = of_name.controls if (of_name := named(lens.questions, name)) else {}
    asked_for = {lens.prefix + place: page[place] for place in places if place in page}
    shown = {
        at: as_text(value) for at, value in asked_for.items() if at not in st.query_params and value != at_first.get(at)
    }
    if shown:
        st.query_params.update(shown)
        st.rerun()  # as for a corrected link: only now Streamlit takes the values of controls


def model_to_bring(question: Question) -> dict[str, object]:
    """Parameter -> value, for all controls of the model; what is the reader's own is kept. Only for a callback."""
    bringing = _defaults(ModelState, "", question.model)
    mine.keep(bringing)
    return bringing


def set_up_of(lens: Lens, question: Question) -> dict[str, object]:
    """Parameter -> value, for all controls of the lens; the model's are not among them."""
    page = {**question.controls, "question": question.link}
    return _defaults(lens.state, lens.prefix, page)


def _defaults(state: type[State], prefix: str, differing: object) -> dict[str, object]:
    assert isinstance(differing, dict)
    return controls.defaults(state, prefix) | {prefix + name: value for name, value in differing.items()}


def _step(label: str, step: int, leads: Callable[[], None] | None) -> None:
    st.button(
        label,
        icon=f":material/chevron_{'left' if step < 0 else 'right'}:",
        on_click=leads,
        disabled=leads is None,
        type="tertiary",
        key="_previous_question" if step < 0 else "_next_question",
    )


def _with_view(lens: Lens, question: Question, gap: str = " ") -> str:
    """The name of a question, and in brackets the title of its view, where the lens has several."""
    views = {name: view.title for name, view in lens.views.items()}
    view = views.get(question.view(lens.state), "")
    return question.name + (f"{gap}({view})" if len(views) > 1 and view not in ("", question.name) else "")


def _list(lens: Lens, now: Question) -> None:
    these = lens.questions

    def named(number: int) -> str:
        return f"{number}  {_with_view(lens, these[number - 1], gap='  ')}"

    st.menu_button(
        f"{these.index(now) + 1} of {len(these)}",
        range(1, len(these) + 1),
        format_func=named,
        on_click=lambda: ask(lens, these[st.session_state["_questions"] - 1]),
        type="tertiary",
        key="_questions",
    )
