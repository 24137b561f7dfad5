"""Questions of the Training lens by their names, and what they say."""

from typing import Any

from tfm_ui.lenses.training import LENS
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
QUESTIONS = {question.name: question for question in LENS.questions}


def state_of(name: str, **other: Any) -> TrainingState:
    """What a question sets, and other fields."""
    return TrainingState(**{**QUESTIONS[name].controls, **other})


def answer(name: str, model: ModelState = MODEL, **other: Any) -> str:
    """What a question answers to its own settings, and others."""
    return QUESTIONS[name].answer(model, state_of(name, **other))


def measured(name: str, **other: Any) -> float | str:
    """What a prediction is compared with."""
    predict = QUESTIONS[name].predict
    assert predict
    return predict.measured(MODEL, state_of(name, **other))
