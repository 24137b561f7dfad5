"""Where each kind of attention is in a recording of the model, and which texts it reads. Pure functions."""

from typing import Protocol

from tfm_core import Tokens

# Whether the model is an encoder-decoder -> kind of attention -> its sites in a recording.
PLACES = {
    False: {"self": "layers.{layer}.self_attention.{what}"},
    True: {
        "encoder": "encoder.layers.{layer}.self_attention.{what}",
        "decoder": "decoder.layers.{layer}.self_attention.{what}",
        "cross": "decoder.layers.{layer}.cross_attention.{what}",
    },
}


class Stacks(Protocol):
    """What the model's state tells of its stacks."""

    @property
    def is_encoder_decoder(self) -> bool:
        """Whether there are two, an encoder and a decoder."""
        ...

    @property
    def source_tokens(self) -> Tokens:
        """What the only one reads, or the encoder."""
        ...

    @property
    def target_tokens(self) -> Tokens:
        """What the decoder of an encoder-decoder reads."""
        ...


def kind_of(state: Stacks, kind: str) -> str:
    """The kind of attention, as a key of `Pass.attention`: in a single stack it is always "self"."""
    return kind if state.is_encoder_decoder else "self"


def place(state: Stacks, kind: str) -> str:
    """The sites of one kind of attention in a recording, with `{layer}` and `{what}` as placeholders."""
    return PLACES[state.is_encoder_decoder][kind]


def texts_of(kind: str) -> tuple[str, str]:
    """The texts, "source" or "target", of the queries and of the keys in this kind of attention."""
    return "target" if kind in ("decoder", "cross") else "source", "target" if kind == "decoder" else "source"


def tokens_of(state: Stacks, kind: str) -> tuple[Tokens, Tokens]:
    """The tokens of the queries and of the keys in this kind of attention, as the model reads them."""
    queries, keys = (state.target_tokens if text == "target" else state.source_tokens for text in texts_of(kind))
    return queries, keys
