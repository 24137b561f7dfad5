"""Where each kind of attention is in a recording of the model."""

from tfm_ui.state.model_state import ModelState

# Whether the model is an encoder-decoder -> kind of attention -> its sites in a recording.
PLACES = {
    False: {"self": "layers.{layer}.self_attention.{what}"},
    True: {
        "encoder": "encoder.layers.{layer}.self_attention.{what}",
        "decoder": "decoder.layers.{layer}.self_attention.{what}",
        "cross": "decoder.layers.{layer}.cross_attention.{what}",
    },
}


def kind_of(state: ModelState, kind: str) -> str:
    """The kind of attention, as a key of `Pass.attention`: in a single stack it is always "self"."""
    return kind if state.is_encoder_decoder else "self"


def place(state: ModelState, kind: str) -> str:
    """The sites of one kind of attention in a recording, with `{layer}` and `{what}` as placeholders."""
    return PLACES[state.is_encoder_decoder][kind]
