"""The steps of the model that a link describes, for all lenses."""

import torch

from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.inside import Inside, of_stream
from tfm_ui.live.tensors.attention import of_attention, of_heads
from tfm_ui.live.tensors.step import Step
from tfm_ui.state.model_state import ModelState

CALLED = {
    "self": "self-attention",
    "encoder": "the encoder’s self-attention",
    "decoder": "the decoder’s self-attention",
    "cross": "cross-attention",
}


@cached()
def inside(model: ModelState, kind: str, layer: int) -> Inside:
    """One attention, run on what it read in a pass of the model. The result is shared: read it, never write into it.

    Args:
        model: the model, and the texts that it reads.
        kind: "self" of a single stack; "encoder", "decoder" or "cross" of an encoder-decoder.
        layer: from 0.
    """
    done = passes.run(model)
    visible = torch.from_numpy(done.attention[kind].visible)
    return of_stream(passes.transformer(model.config), done.stream, visible, kind=kind, layer=layer)


def attention(model: ModelState, kind: str, layer: int) -> Step:
    """One attention of the model; of weights out of a file, the weights of all heads, as nothing else is known.

    Args:
        model: the model, and the texts that it reads.
        kind: of the attention, as in `inside`.
        layer: from 0.
    """
    if model.array:
        return heads(model, kind)
    return of_attention(inside(model, kind, layer), f"Layer {layer + 1}, {CALLED[kind]}")


def heads(model: ModelState, kind: str) -> Step:
    """The heads of all layers, of one kind of attention."""
    scheme = None if model.array else passes.scheme(model, kind)
    return of_heads(passes.run(model).attention[kind], f"All heads of {CALLED[kind]}", scheme)
