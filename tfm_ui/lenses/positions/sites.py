"""Where a recording has what the views of the model look at: the stack that reads the text."""

from tfm_ui.live import passes
from tfm_ui.state.model_state import ModelState


def site_of(model: ModelState, layer: int, what: str) -> str:
    """Where a recording has `what` of the self-attention that the views look at; layer from 0."""
    return passes.place(model, "encoder" if model.is_encoder_decoder else "self").format(layer=layer, what=what)


def end_of(model: ModelState) -> str:
    """The site behind the last layer of the stack that reads the text."""
    start = "encoder." if model.is_encoder_decoder else ""
    last = f"layers.{model.num_layers - 1}.feed_forward.residual_after"
    return start + ("final_norm" if model.norm == "pre" else last)
