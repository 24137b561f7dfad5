"""What a lesson must be that can be told only with the app at hand: its pages, its names, its answers, its tasks."""

from collections.abc import Collection, Iterator
from difflib import get_close_matches

from tfm_core.checks.exercises import EXERCISES
from tfm_ui.lessons.expressions import written
from tfm_ui.lessons.lesson import NUMBER, Lesson, Step
from tfm_ui.lessons.names import OnScreen, name_of
from tfm_ui.lessons.reader import Fault
from tfm_ui.lessons.shown import LensOf, Shown, shown
from tfm_ui.page.lens import Lens
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import read_link
from tfm_ui.state.model_state import ModelState


def faults(lesson: Lesson, lens_of: LensOf, names: Collection[str]) -> Iterator[Fault]:
    """The faults of a lesson's steps, without running a model.

    Args:
        lesson: the lesson.
        lens_of: the app's lenses.
        names: of all lenses.
    """
    for step in lesson.steps:
        if step.show[0] not in names:
            pages = ", ".join("/" if name == "home" else f"/{name}" for name in names)
            yield Fault(step.lines["show"], f"expected one of the pages {pages}; got /{step.show[0]}")
        else:
            yield from _of_step(shown(step, lens_of))


def _of_step(this: Shown) -> Iterator[Fault]:
    step, lens = this.step, this.lens
    if step.exercise and step.exercise not in EXERCISES:
        like = _like(step.exercise, EXERCISES)
        yield Fault(step.lines["exercise"], f"expected the name of an exercise, got {step.exercise}; {like}")
    yield from _of_link(step, lens)
    known = [*OnScreen(lens, this.model, this.state)]
    for line, names in (
        ("moves", step.moves),
        ("reached", step.reached.names if step.reached else ()),
        ("answer", step.answer.names if step.answer else ()),
        ("measured", step.predict.measured.names if step.predict and step.predict.measured else ()),
    ):
        for name in sorted(names):
            if name not in known:
                yield Fault(
                    step.lines[line], f"expected names of {_page(lens)} in {line}, got {name}; {_like(name, known)}"
                )
    pictures = lens.view_of(this.state).pictures
    for name in step.predict.hides if step.predict else ():
        if name not in pictures:
            yield Fault(
                step.lines["hides"],
                f"expected names of pictures of this page in hides, got {name}; {_like(name, pictures)}",
            )
    if step.question and not this.question:
        questions = ", ".join(question.link for question in lens.questions)
        yield Fault(
            step.lines["answer"], f"expected the name of a question of {_page(lens)} ({questions}), got {step.question}"
        )
    elif this.question and step.predict and step.predict.kind != "text" and not step.predict.measured:
        predict = this.question.predict
        kind = NUMBER if predict and not predict.options else "choice"
        if not predict:
            yield Fault(step.lines["predict"], f"expected measured, as the question {step.question} predicts nothing")
        elif kind != step.predict.kind or (kind != NUMBER and [*predict.options] != [*step.predict.options]):
            options = " | ".join(predict.options) or NUMBER
            yield Fault(step.lines["options"], f"expected the options of {name_of(lens, this.question)}, {options}")


def _of_link(step: Step, lens: Lens) -> Iterator[Fault]:
    known = {*controls_of(ModelState), *(lens.prefix + name for name in controls_of(lens.state))}
    for name in step.query:
        if name not in known:
            yield Fault(step.lines["show"], f"expected parameters of {_page(lens)}, got {name}; {_like(name, known)}")
    model = shown(step, lambda _: lens).model
    corrections = read_link(ModelState, "", step.query)
    corrections += read_link(lens.state, lens.prefix, step.query, lens.limits(model))
    for correction in corrections:
        yield Fault(step.lines["show"], f"expected a link that needs no correction. {correction}")


def run(lesson: Lesson, lens_of: LensOf) -> Iterator[Fault]:
    """The faults that show when each step's page is computed: call it of a lesson without `faults`."""
    for step in lesson.steps:
        yield from run_step(step, lens_of)


def run_step(step: Step, lens_of: LensOf) -> Iterator[Fault]:
    """The faults of a step that show when its page is computed."""
    this = shown(step, lens_of)
    view = this.lens.view_of(this.state)
    if reason := view.why_not_shown(this.model, this.state):
        yield Fault(step.lines["show"], f"expected a page that can be shown: {reason}")
        return
    if not view.shown(this.model, this.state)[0]:
        yield Fault(step.lines["show"], "expected a page with a picture, got none")
    yield from _computed(this)


def _computed(this: Shown) -> Iterator[Fault]:
    step = this.step
    try:
        if step.has_answer and not this.answer(this.model, this.state).strip():
            yield Fault(step.lines["answer"], "expected an answer, got nothing")
        measured = this.measured(this.model, this.state)
    except ValueError as problem:
        yield Fault(step.lines["answer"], str(problem))
        return
    predict = step.predict
    if predict and predict.kind == NUMBER and (isinstance(measured, str) or measured is None):
        yield Fault(step.lines["predict"], f"expected a number that is measured, got {measured}")
    if predict and predict.options and written(measured if measured is not None else "") not in predict.options:
        yield Fault(step.lines["options"], f"expected one of them to be what is measured, {measured}")
    if step.reached:
        try:
            step.reached.value(OnScreen(this.lens, this.model, this.state))
        except ValueError as problem:
            yield Fault(step.lines["reached"], str(problem))
        if this.is_reached(this.model, this.state):
            yield Fault(step.lines["reached"], "expected a task that is not done when the step opens, and it is")


def _page(lens: Lens) -> str:
    return f"the page {lens.title}"


def _like(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, 3, 0.5)
    return f"names like it: {', '.join(close)}" if close else "no name is like it"
