"""What a lens's controls hold: a frozen dataclass with a `control(...)` per field."""

from dataclasses import dataclass

from tfm_ui.state.fields import Limits
from tfm_ui.state.model_state import ModelState


@dataclass(frozen=True, kw_only=True)
class LensState:
    """Derive a lens's state from it, or use it for a lens without controls. Its fields are the lens's link."""

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Field name -> attributes of its control that are narrower with this model, such as {"high": 4}."""
        return {}

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """The fields that mean nothing for this model: their controls are not drawn."""
        return set()
