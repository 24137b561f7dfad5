"""What results about a course share: the course and the header of their scripts; and the buttons of a replay."""

from abc import ABC
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tfm_core import Course
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.courses import Settings
from tfm_ui.live.script import config_of
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState

# What replay.js works on.
REPLAY = """
  <div class="scrub">
    <button type="button" class="back" aria-label="Step back">◀</button>
    <button type="button" class="play" aria-label="Play">▶</button>
    <button type="button" class="on" aria-label="Step on">▶|</button>
    <input type="range" min="1" step="1" aria-label="Step">
    <output></output>%s
  </div>"""


@dataclass(frozen=True)
class OfCourse(Result, ABC):
    """A result about what is written after the sidebar's text.

    Attributes:
        model: the sidebar's model, whose text is the prompt.
        settings: how the text is written.
    """

    model: ModelState
    settings: Settings

    @cached_property
    def course(self) -> Course:
        """The text, step by step."""
        return courses.course_of(self.model, self.settings)

    def arguments(self) -> dict[str, Any]:
        """The header of a script that writes the text."""
        return {
            "config": config_of(self.model),
            "prompt": list(courses.prompt_of(self.model)),
            "sampling": self.settings.sampling,
            "steps": self.settings.steps,
            "forced": dict(self.settings.forced),
            "context": self.model.most_tokens,
            "when_full": self.settings.full,
        }
