"""A picture as data: how it is drawn, what computes it, and what that takes."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.state.arrays import WEIGHTS_ALONE
from tfm_ui.state.model_state import ModelState

Needs = Callable[[ModelState, Any], int]  # of the two states: bytes


@dataclass(frozen=True)
class Picture:
    """A picture of a lens.

    Attributes:
        canvas: how it is drawn.
        content: computes what is drawn, from the model's state and the lens's state.
        uses_model: whether it needs the sidebar's model, and so a text.
        shows_jobs: whether it shows jobs that are under way, such as a training: while there are any, the server's
            process computes it, which alone knows of them. Worker processes (tfm_ui/server/pool.py) compute all
            else.
        needs: the bytes that computing it takes at most, in addition to what the process has: the model, its pass and
            all else, by closed form from the sizes in both states. Quick, and known before anything is computed. What
            needs more than the quick lane has room for waits for the slow one; what needs more than a picture may take
            is refused. tests/hosted/test_peaks.py compares it with what is measured.
        ignores: fields of the model's state on which the picture does not depend, though it uses the model: when one of
            them is moved, it is not asked for again. None that decides whether the model can be run.
        works_on_weights_alone: whether it can be drawn of attention weights out of a file, where there is no model.
    """

    canvas: Canvas
    content: Callable[[ModelState, Any], Content]
    uses_model: bool = field(default=True, kw_only=True)
    shows_jobs: bool = field(default=False, kw_only=True)
    needs: Needs = field(kw_only=True)
    ignores: frozenset[str] = field(default=frozenset(), kw_only=True)
    works_on_weights_alone: bool = field(default=False, kw_only=True)

    def why_not_drawn(self, model: ModelState) -> str:
        """Why this cannot be drawn of a file of attention weights, in a sentence; "" if it can, or of any model."""
        return WEIGHTS_ALONE if model.array and self.uses_model and not self.works_on_weights_alone else ""

    @property
    def ignored(self) -> frozenset[str]:
        """The fields of the model's state on which the picture does not depend: all, if it does not use the model."""
        return self.ignores if self.uses_model else frozenset(every.name for every in fields(ModelState))
