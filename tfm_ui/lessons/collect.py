"""Steps of a lecture that are made of what is on screen: of a question, or of a page with settings of one's own."""

from dataclasses import replace

from tfm_ui.lessons.lesson import NUMBER, TEXT, Predict, Step
from tfm_ui.lessons.reader import MOST_HEADING
from tfm_ui.page.lens import Lens
from tfm_ui.page.preview import title
from tfm_ui.page.question_names import name_in_links
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import cuts, share_link
from tfm_ui.state.model_state import ModelState

AS_SET_UP = "This page is shown with the settings that were chosen for it."


def of_question(
    lens: Lens, question: Question, model: ModelState | None = None, state: LensState | None = None
) -> Step:
    """The step that asks a question of a lens: its page, its words, its prediction and its answer.

    Args:
        lens: the lens.
        question: the question.
        model: as the page is to have it; as the question sets it up, if it is not given.
        state: the lens's controls, likewise.
    """
    model, state = model or ModelState(**question.model), state or lens.state(**question.controls)
    of_lens = controls_of(lens.state)
    return Step(
        heading=_heading(question.name),
        name=_name(question.link),
        words=question.ask,
        show=(lens.name, _query(lens, model, state)),
        moves=frozenset(lens.prefix + name if name in of_lens else name for name in question.moves),
        predict=_predict(question.predict) if question.predict else None,
        question=question.link,
    )


def of_page(lens: Lens, model: ModelState, state: LensState) -> Step:
    """The step that shows a page as it is now; who gives the lecture writes the words."""
    panels = panels_in(lens.blocks(model, state))
    heading = _heading(panels[0].title if panels else title(lens, state).partition(" · ")[0])
    return Step(
        heading=heading,
        name=_name(name_in_links(heading)),
        words=AS_SET_UP,
        show=(lens.name, _query(lens, model, state)),
    )


def is_cut(lens: Lens, model: ModelState, state: LensState) -> bool:
    """Whether a text on this page is too long for a step, which then shows its beginning."""
    return bool(cuts("", (model, ""), (_without_question(state), lens.prefix)))


def _query(lens: Lens, model: ModelState, state: LensState) -> str:
    """The query that brings both states back. In a lecture its own row stands in the place of the question's."""
    return share_link("", (model, ""), (_without_question(state), lens.prefix)).removeprefix("?")


def _without_question(state: LensState) -> LensState:
    return replace(state, question="")


def _predict(prediction: Prediction) -> Predict:
    kind = TEXT if prediction.in_words else "choice" if prediction.options else NUMBER
    return Predict(ask=prediction.ask, kind=kind, options=tuple(prediction.options), unit=prediction.unit.strip())


def _heading(name: str) -> str:
    return name if len(name) <= MOST_HEADING else f"{name[: MOST_HEADING - 1]}…"


def _name(link: str) -> str:
    """A name of a step: it begins with a letter."""
    return link[:40].strip("-") if link[:1].isalpha() else f"page-{link}"[:40].strip("-")
