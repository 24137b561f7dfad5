"""Presets: settings of a page that are worth a look, each with the question that makes it so. Pure.

A preset names what differs from the defaults; everything else goes back to them. Each page has a file of them here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfm_ui.state.fields import State
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True)
class Preset:
    """One of them.

    Attributes:
        name: on its pill, two or three words.
        question: why look at this? To be answered by looking.
        model: field -> value, of the model panel.
        page: field -> value, of the page's own controls.
    """

    name: str
    question: str
    model: Mapping[str, Any] = field(default_factory=dict)
    page: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, model: State, page: State | None = None) -> bool:
        """Whether everything is as this preset says."""
        return model == ModelState(**self.model) and (page is None or page == type(page)(**self.page))


def lit(presets: Sequence[Preset], model: State, page: State | None = None) -> Preset | None:
    """The preset that is on screen, if it is one."""
    return next((preset for preset in presets if preset.holds(model, page)), None)


def neighbour(presets: Sequence[Preset], now: Preset | None, step: int) -> Preset:
    """The preset `step` places on, round and round; from none, the first or the last."""
    at = presets.index(now) + step if now else min(step, 0)
    return presets[(at if now or step < 0 else 0) % len(presets)]
