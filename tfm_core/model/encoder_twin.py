"""torch's own encoder with the weights of ours in it, so that the two can be compared number by number."""

from collections.abc import Sequence

import torch
from torch import nn

from tfm_core.model.layer import TransformerLayer
from tfm_core.model.normalization import Norm
from tfm_core.model.torch_twin import as_torch


def as_torch_encoder(layers: Sequence[TransformerLayer], final_norm: Norm | None) -> nn.TransformerEncoder:
    """An nn.TransformerEncoder that computes what these layers and then this norm compute: batch first, same mode.

    The weights are copies.

    Raises:
        ValueError: for layers that it has no place for: none at all, gated, looking across, with RMS norms, or without
            biases.
    """
    if not layers or any(layer.looks_across or layer.feed_forward.gate_projection is not None for layer in layers):
        raise ValueError("expected at least one layer, all of them of self-attention alone and without a gate")
    attention, feed_forward = layers[0].self_attention, layers[0].feed_forward
    norms = [layers[0].self_attention_norm, *([] if final_norm is None else [final_norm])]
    if any(isinstance(norm, nn.RMSNorm) for norm in norms) or feed_forward.input_projection.bias is None:
        raise ValueError("expected layer norms, and linear maps with biases; got RMS norms, or maps without biases")
    with torch.device("meta"):  # nothing is drawn, and torch's random numbers stay where they were
        layer = nn.TransformerEncoderLayer(
            attention.d_model,
            attention.num_heads,
            feed_forward.input_projection.out_features,
            attention.dropout,
            feed_forward.activation,
            batch_first=True,
            norm_first=layers[0].pre_norm,
        )
        norm = None if final_norm is None else nn.LayerNorm(attention.d_model)
        twin = nn.TransformerEncoder(layer, len(layers), norm, enable_nested_tensor=False)
    parts: dict[str, nn.Module] = {} if final_norm is None else {"norm": final_norm}
    for number, ours in enumerate(layers):
        parts |= {
            f"layers.{number}.self_attn": as_torch(ours.self_attention),
            f"layers.{number}.norm1": ours.self_attention_norm,
            f"layers.{number}.norm2": ours.feed_forward_norm,
            f"layers.{number}.linear1": ours.feed_forward.input_projection,
            f"layers.{number}.linear2": ours.feed_forward.output_projection,
        }
    tensors = {f"{part}.{name}": x.clone() for part, module in parts.items() for name, x in module.state_dict().items()}
    twin.load_state_dict(tensors, assign=True)
    return twin.train(layers[0].training)
