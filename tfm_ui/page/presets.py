"""Presets: settings of the model and a lens that are worth a look, each with a question. Pure functions.

A preset lists what differs from the defaults; every other control goes back to its default. Each lens has a presets.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfm_ui.state.fields import State
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True)
class Preset:
    """A preset.

    Attributes:
        name: two or three words, for its button.
        question: a question that the reader can answer by looking at the pictures.
        model: field -> value, of the model's state.
        page: field -> value, of the lens's state.
    """

    name: str
    question: str
    model: Mapping[str, Any] = field(default_factory=dict)
    page: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, model: State, page: State | None = None) -> bool:
        """Whether the model's and the lens's state are those of this preset."""
        return model == ModelState(**self.model) and (page is None or page == type(page)(**self.page))


def active(presets: Sequence[Preset], model: State, page: State | None = None) -> Preset | None:
    """The preset whose settings are on screen, if there is one."""
    return next((preset for preset in presets if preset.holds(model, page)), None)


def neighbour(presets: Sequence[Preset], now: Preset | None, step: int) -> Preset:
    """The preset `step` places after the current one, cyclically; without a current one, the first or the last."""
    at = presets.index(now) + step if now else min(step, 0)
    return presets[(at if now or step < 0 else 0) % len(presets)]
