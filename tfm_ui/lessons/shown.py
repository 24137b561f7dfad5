"""What a step shows: its lens, and the states of the model and of the page, as its link says."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from tfm_ui.lessons.lesson import Step
from tfm_ui.lessons.names import OnScreen, controls_among
from tfm_ui.page.lens import Lens
from tfm_ui.page.questions import Question
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.links import state_of
from tfm_ui.state.model_state import ModelState

LensOf = Callable[[str], Lens]  # the lens with a name; a ValueError or an ImportError if there is none


@dataclass(frozen=True)
class Shown:
    """A step with the lens that it shows.

    Attributes:
        step: the step.
        lens: the lens of its page.
    """

    step: Step
    lens: Lens

    @cached_property
    def model(self) -> ModelState:
        """The model, as the step sets it up."""
        return state_of(ModelState, "", self.step.query)

    @cached_property
    def state(self) -> LensState:
        """The page's controls, as the step sets them up."""
        return state_of(self.lens.state, self.lens.prefix, self.step.query, self.lens.limits(self.model))

    @property
    def question(self) -> Question | None:
        """The question of the page whose answer is the step's; None if there is none."""
        return next((each for each in self.lens.questions if each.link == self.step.question), None)

    @cached_property
    def left_to_learner(self) -> frozenset[str]:
        """The controls that a learner may move while what the step says stays true, as links name them."""
        reached = self.step.reached.names if self.step.reached else frozenset()
        return controls_among(self.lens, self.step.moves | reached)

    def is_on_screen(self, lens: Lens, model: ModelState, state: LensState) -> bool:
        """Whether this is what the step has set up, but for what it leaves to the learner."""
        if lens is not self.lens:
            return False
        of_model = {name: getattr(self.model, name) for name in self.left_to_learner & controls_of(ModelState).keys()}
        prefix = self.lens.prefix
        left = {name.removeprefix(prefix) for name in self.left_to_learner if name.startswith(prefix)}
        of_page = {name: getattr(self.state, name) for name in left | state.NOT_SET_UP}
        return replace(model, **of_model) == self.model and replace(state, **of_page) == self.state

    def answer(self, model: ModelState, state: LensState) -> str:
        """The answer, computed from what is on screen.

        Raises:
            ValueError: if it cannot be computed of this.
        """
        if self.question:
            return self.question.answer(model, state)
        return self.step.answer.text(OnScreen(self.lens, model, state)) if self.step.answer else ""

    def measured(self, model: ModelState, state: LensState) -> float | str | None:
        """What the learner's prediction is compared with; None if it is with nothing.

        Raises:
            ValueError: if it cannot be computed of this.
        """
        predict = self.step.predict
        if predict and predict.measured:
            return predict.measured.value(OnScreen(self.lens, model, state))
        question = self.question
        if predict and predict.kind != "text" and question and question.predict:
            return question.predict.measured(model, state)
        return None

    def is_reached(self, model: ModelState, state: LensState) -> bool:
        """Whether the step's task is done on this screen."""
        reached = self.step.reached
        return bool(reached and reached.holds(OnScreen(self.lens, model, state)))


def shown(step: Step, lens_of: LensOf) -> Shown:
    """A step with its lens.

    Raises:
        ValueError: if there is no such lens.
    """
    try:
        return Shown(step, lens_of(step.show[0]))
    except ImportError as problem:
        raise ValueError(f"expected a page of the app, got /{step.show[0]}") from problem
