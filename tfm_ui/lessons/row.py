"""The row of a lesson's step, in the place of the row of questions: its number, what it says, the way on, its answer.

The learner may touch everything. What a step says stays; where something else is on screen than the step has set up,
the row says so, and one press goes back. Its height is the same for all steps, so that no picture moves.
"""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from tfm_ui.lessons import adding, going, kept, lecture, shelf, speaker, talk
from tfm_ui.lessons.expressions import written
from tfm_ui.lessons.going import which
from tfm_ui.lessons.lesson import TEXT, Lesson
from tfm_ui.lessons.progress import tick
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import LensOf, Shown, shown
from tfm_ui.page import answer, frame, in_lesson, notices, present, question_row
from tfm_ui.page.answer import Next, Strip
from tfm_ui.page.lens import Lens
from tfm_ui.page.present import TAKEN
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.store import StoreAway
from tfm_ui.text.glossary import explained

# What a step hides until the learner has predicted, where no question says what gives its answer away: the sentences of
# all panels. Their pictures stay: from them one predicts.
SENTENCES = ("*.words",)
BRIEF = 50  # words of a step, its heading and its task together

Draw = Callable[[Lens, ModelState, LensState, str], None]
# Is told the strip of what is asked, if something is, and the link of a step whose task is done; "" of none.
Hear = Callable[[Strip | None, str], None]


def here(lens_of: LensOf, hear: Hear = lambda strip, done: None) -> Draw:
    """What draws the row of this page: of the lesson's step that its link names, or of the lens's questions.

    Args:
        lens_of: the app's lenses.
        hear: is told what is on screen, for the room that this page may be in.
    """
    if not (asked := in_lesson.asked()):
        going.end()
        return partial(_draw_question, hear)
    try:
        return partial(_draw, shelf.place(asked), lens_of, hear)
    except (LookupError, StoreAway) as problem:
        notices.notify(f"The link asked for lesson = {asked[:80]}: {problem}.")
        going.end()
        in_lesson.leave()
        return partial(_draw_question, hear)


def _draw_question(hear: Hear, lens: Lens, model: ModelState, state: LensState, unanswerable: str) -> None:
    hear(question_row.draw(lens, model, state, unanswerable, adding.question), "")
    lecture.exchange()


def _draw(
    place: Place, lens_of: LensOf, hear: Hear, lens: Lens, model: ModelState, state: LensState, unanswerable: str
) -> None:
    this = shown(place.step, lens_of)
    is_here = this.is_on_screen(lens, model, state)
    is_same_page = this.lens is lens
    wished = going.wished()
    if wished is not None and not going.is_granted(place, is_here=is_here, is_same_page=is_same_page):
        _go_on(place, wished, lens_of)
    is_reached = is_same_page and not unanswerable and this.is_reached(model, state)
    _note(place, is_reached=is_reached)
    talk.note(place)
    strip = None
    if place.step.has_answer:
        question, following = _question(this), _following(place)
        strip = Strip(which(place), question, model, state, is_asked=True, follows=False, following=following)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="lesson"):
        with st.container(width="content", key="lesson_ways"):
            with st.container(horizontal=True, gap=None, wrap=False, width="content", key="which_question"):
                before = place.other(max(place.at - 1, 0)).link
                _step("Step before", "left", before, "_previous_question", disabled=place.at == 0)
                _list(place)
                follows = going.ON if place.is_last else place.other(place.at + 1).link
                _step("Next step", "right", follows, "_next_question")
            with st.container(horizontal=True, gap=None, wrap=False, width="content", key="answering"):
                if strip:
                    strip.button(disabled=not is_same_page or bool(unanswerable), calls=is_reached)
                _back(place, is_here=is_here, calls=not is_reached)
                if present.presenting():
                    speaker.button()
                else:
                    adding.step(place.step)
                _leave()
        st.html(said(place, lens, _why_not(this, lens, is_here=is_here)))
    if strip and is_same_page:
        strip.draw(unanswerable)
    hear(strip if is_same_page and not unanswerable else None, place.link if is_reached and place.step.task else "")
    kept.exchange()
    lecture.exchange()


def _go_on(place: Place, wished: str, lens_of: LensOf) -> None:
    if wished == going.OUT:
        in_lesson.leave()
        going.end()
        st.rerun()
    if wished != going.ON:
        going.go(shelf.place(wished), lens_of)
    st.switch_page(frame.learn_page(), query_params={going.AFTER: place.name})


def _following(place: Place) -> Next | None:
    """What comes after the answer: the next step, and why; after the last step nothing."""
    if place.is_last:
        return None
    after = place.other(place.at + 1)
    return Next(after.step.heading, after.step.because, go=partial(going.wish, after.link))


def _leave() -> None:
    st.button(
        "Leave the lesson",
        icon=":material/close:",
        on_click=going.wish,
        args=(going.OUT,),
        type="tertiary",
        key="_leave",
    )


def _step(label: str, side: str, to: str, key: str, *, disabled: bool = False) -> None:
    icon = f":material/chevron_{side}:"
    st.button(label, icon=icon, on_click=going.wish, args=(to,), type="tertiary", disabled=disabled, key=key)


def _list(place: Place) -> None:
    steps, done = place.lesson.steps, kept.now().get(place.name, {})

    def named(at: int) -> str:
        return f"{at + 1}  {steps[at].heading}{tick(steps[at], done)}"

    st.menu_button(
        f"{place.at + 1} of {len(steps)}",
        range(len(steps)),
        format_func=named,
        on_click=lambda: going.wish(place.other(st.session_state["_steps_of_lesson"]).link),
        type="tertiary",
        key="_steps_of_lesson",
    )


def said(place: Place, lens: Lens, why_not: str) -> str:
    """What the step says, as HTML; its task, and whether that is done; where the page shows something else, that."""
    step = place.step
    # What the keys know while presenting, as in the row of questions.
    at = f'data-lens="{lens.name}" data-number="1" data-taken="{st.session_state.get(TAKEN, 0)}"'
    at += f' data-brief="{str(is_brief(place.lesson)).lower()}"'
    note = f'<small class="elsewhere">{escape(why_not)}</small>' if why_not else ""
    stop = "" if step.heading.endswith(("?", "!", ".")) else "."
    task = ""
    if step.task:
        is_done = bool(kept.now().get(place.name, {}).get(step.name, {}).get("reached"))
        sign, word = ("☑", "Done") if is_done else ("☐", "Task")
        task = f'<p class="task" data-done="{str(is_done).lower()}">{sign} <b>{word}:</b> {explained(step.task)}</p>'
    words = f"<p><b>{escape(step.heading)}{stop}</b> {explained(step.words)} {note}</p>"
    return f'<div class="ask step" {at}>{words}{task}</div>'


def is_brief(lesson: Lesson) -> bool:
    """Whether no step has more words than a hall reads: its row is then lower while presenting, its picture higher."""
    return all(sum(len(text.split()) for text in (s.heading, s.words, s.task)) <= BRIEF for s in lesson.steps)


def _why_not(this: Shown, lens: Lens, *, is_here: bool) -> str:
    if is_here:
        return ""
    return "Changed since." if this.lens is lens else f"This step is in {this.lens.title}."


def _back(place: Place, *, is_here: bool, calls: bool) -> None:
    st.button(
        "As set up" if is_here else "Back",
        icon=":material/check:" if is_here else ":material/undo:",
        disabled=is_here,
        help=None if is_here else "Show what the step has set up.",
        on_click=going.wish,
        args=(place.link,),
        type="tertiary" if is_here else "primary" if calls else "secondary",
        key="_set_up",
    )


def _question(this: Shown) -> Question:
    """The step as a question, for the strip of its answer."""
    step, predict = this.step, None
    if step.predict:
        hides = this.question.predict.hides if this.question and this.question.predict else SENTENCES
        predict = Prediction(
            ask=step.predict.ask,
            measured=lambda model, state: _measured(this),  # of the step as set up: a task may have changed it since
            options=step.predict.options,
            unit=_unit(step.predict.unit),
            hides=(*hides, *step.predict.hides),
            in_words=step.predict.kind == TEXT,
        )
    return Question(step.heading, step.words, partial(_answer, this), predict, link=step.name)


def _unit(unit: str) -> str:
    """What follows a number at once: "%", but " tokens"."""
    return f" {unit}" if unit[:1].isalpha() else unit


def _answer(this: Shown, model: ModelState, state: LensState) -> str:
    try:
        return this.answer(model, state)
    except ValueError as problem:
        return f"This cannot be computed of what is on screen: {problem}."


def _measured(this: Shown) -> float | str:
    try:
        measured = this.measured(this.model, this.state)
    except ValueError:
        return "nothing that can be measured"
    is_choice = this.step.predict is not None and bool(this.step.predict.options)
    if measured is None:
        return ""
    return written(measured) if is_choice else measured


def _note(place: Place, *, is_reached: bool) -> None:
    """Note that the step was seen, what was predicted, whether its task is done; bring back an earlier prediction."""
    name, done = which(place), kept.now().get(place.name, {}).get(place.step.name, {})
    if done.get("answered") and not answer.is_over(name):
        answer.remember(name, done.get("guess"))
    known: dict[str, object] = {}
    if answer.is_over(name):
        known = {"answered": True, "guess": answer.guess_of(name)}
    if is_reached:
        known["reached"] = True
    kept.note(place.name, place.step.name, **known)
