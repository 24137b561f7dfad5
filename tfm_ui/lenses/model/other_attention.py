"""What is said of a view: where trained weights run otherwise than they were trained, and while models take seconds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tfm_ui.lenses.model.machine import config_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.state.model_state import ModelState

Sentence = Callable[[ModelState, ModelLensState], str]


def other_attention(model: ModelState, state: ModelLensState) -> str:
    """A sentence that trained weights were never trained with the lens's attention; "" if they were."""
    return never_trained(model, [config_of(model, state)])


def never_trained_with(field: str, values: Sequence[Any] | Callable[[ModelState], Sequence[Any]]) -> Sentence:
    """What names those values of a field of the configuration with which trained weights were never trained."""

    def sentence(model: ModelState, state: ModelLensState) -> str:
        each: list[dict[str, Any]] = [{field: value} for value in (values(model) if callable(values) else values)]
        return never_trained(model, [replace(config_of(model, state), **change) for change in each])

    return sentence


def while_heavy(text: str) -> Sentence:
    """What is said while models run that take seconds; "" of others."""
    return lambda model, state: text if model.is_heavy else ""
