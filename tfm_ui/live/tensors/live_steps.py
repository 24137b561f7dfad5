"""The steps of the model that a link describes, for all lenses."""

import torch
from torch import Tensor

from tfm_core import recording
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.live.inside import Inside, of_stream
from tfm_ui.live.tensors.attention import CALLED, of_attention, of_heads, title
from tfm_ui.live.tensors.layers import of_output
from tfm_ui.live.tensors.step import Step
from tfm_ui.state.model_state import ModelState


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
    return of_attention(inside(model, kind, layer), title(kind, layer))


@cached()
def _ends(model: ModelState, position: int) -> tuple[list[Tensor], Tensor]:
    """What the last layer leaves at a place of the text, and the final norm if there is one, (1, d_model); its logits,
    (1, vocab).
    """
    config = model.config
    stack = "decoder." if model.is_encoder_decoder else ""
    sites = [f"{stack}layers.{config.num_layers - 1}.feed_forward.residual_after"]
    sites += [f"{stack}final_norm"] * (config.norm == "pre")
    inputs = [model.source_tokens.batch, *([model.target_tokens.batch] if model.is_encoder_decoder else [])]
    network, at = passes.transformer(config), slice(position, position + 1)
    with torch.no_grad(), recording(sites) as trace:
        states = network.states(*inputs, mask=passes.mask_of(model))
        logits = network.logits(states[:, at])
    return [trace[site][0, at].clone() for site in sites], logits[0]


def end(model: ModelState, position: int) -> Step:
    """What the model makes of one place of the text, from 0: the last norm, the logits, the probabilities."""
    vectors, logits = _ends(model, position)
    return of_output(passes.transformer(model.config), vectors, logits, f"The output at token {position + 1}")


def heads(model: ModelState, kind: str) -> Step:
    """The heads of all layers, of one kind of attention."""
    scheme = None if model.array else passes.scheme(model, kind)
    return of_heads(passes.run(model).attention[kind], f"All heads of {CALLED[kind]}", scheme)
