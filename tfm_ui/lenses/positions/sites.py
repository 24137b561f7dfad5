"""Where schemes enter a model, and where a recording has what the stack that reads the text does."""

from tfm_core import POSITIONAL
from tfm_ui.live import places
from tfm_ui.state.model_state import ModelState

ENTERS = {  # place -> where that is, in words
    "encode": "before the first layer, where it is added to the embeddings",
    "rotate": "inside each self-attention, where it turns queries and keys",
    "bias_at": "inside each self-attention, where it is added to the scores",
}


def enters(name: str) -> str:
    """Where a scheme enters a model, in words."""
    return " and ".join(ENTERS[place] for place in POSITIONAL[name].enters()) or "nowhere"


def site_of(model: ModelState, layer: int, what: str) -> str:
    """Where a recording has `what` of the self-attention that the views look at; layer from 0."""
    return places.place(model, "encoder" if model.is_encoder_decoder else "self").format(layer=layer, what=what)


def end_of(model: ModelState) -> str:
    """The site after the last layer of the stack that reads the text."""
    start = "encoder." if model.is_encoder_decoder else ""
    last = f"layers.{model.num_layers - 1}.feed_forward.residual_after"
    return start + ("final_norm" if model.norm == "pre" else last)
