"""The controls of the Model lens: which view, which attention the model has here, and what each view adds."""

from dataclasses import dataclass

from tfm_core import ATTENTION
from tfm_ui.state.fields import Choice, Limits, Whole, control
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

PREFIX = "model_"
VIEWS = ("diagram", "block", "feed_forward", "depth", "distance", "efficient", "output")


@dataclass(frozen=True, kw_only=True)
class ModelLensState(LensState):
    """One for all views: the layer, the token and the attention stay what they were when the view changes."""

    view: str = control(Choice("View", VIEWS, "buttons"), default="diagram", held=True)

    # shared by several views
    attention: str = control(
        Choice("Attention", tuple(ATTENTION), help="What the self-attention of the model is, in this lens."),
        default="full",
    )
    stack: str = control(Choice("Stack", ("encoder", "decoder"), "buttons"), default="encoder")
    layer: int = control(Whole("Layer", 1, 8, box=True), default=1)
    token: int = control(Whole("Token", 1, 1024, box=True, help="Its place in the text, from 1."), default=2)

    # diagram

    # block

    # feed_forward

    # depth

    # distance

    # efficient

    # output

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """Layers and tokens of this model."""
        return {"layer": {"high": model.num_layers}, "token": {"high": model.length}}

    @staticmethod
    def without_meaning(model: ModelState) -> set[str]:
        """`stack`, if the model is a single stack."""
        return set() if model.is_encoder_decoder else {"stack"}
