"""What the views of this lens compute with, to take along."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from tfm_core import ATTENTION, TransformerConfig
from tfm_core.model.feed_forward import FeedForward
from tfm_ui.lenses.model.machine import SubLayerPanel, modules_of, read
from tfm_ui.live import streams
from tfm_ui.live.inside import Inside, of_stream
from tfm_ui.live.passes import transformer
from tfm_ui.live.tensors.attention import normed, of_attention
from tfm_ui.live.tensors.layers import of_network
from tfm_ui.live.tensors.step import Step, beside
from tfm_ui.state.model_state import ModelState

OF_EACH = ("products", "kept", "mask", "scores", "weights", "head_output", "output")  # what another attention changes


def kind_of(panel: SubLayerPanel, sub_layer: str) -> str:
    """The kind of attention, as in `streams.kinds`."""
    if sub_layer == "cross_attention":
        return "cross"
    return panel.stack if panel.model.is_encoder_decoder else "self"


def stream_of(model: ModelState, config: TransformerConfig) -> Mapping[str, Tensor]:
    """The residual stream of a pass before each attention, and the masks of these."""
    masks = [place.format(layer="*", what="mask") for place in streams.kinds(config).values()]
    return read(model, config, (*streams.stream_sites(config), *masks))


def inside_of(panel: SubLayerPanel, sub_layer: str, attention: str = "") -> Inside:
    """The attention of the chosen layer, on what it read in a pass.

    Args:
        panel: the panel.
        sub_layer: "self_attention" or "cross_attention".
        attention: another kind, in place of the one that the model has, with its weights and on what it read.
    """
    config, kind, layer = panel.config, kind_of(panel, sub_layer), panel.layer - 1
    stream = stream_of(panel.model, config)
    model = transformer(replace(config, attention=attention) if attention else config)
    place = streams.kinds(config)[kind].replace("{layer}", str(layer))
    queries = stream[place.format(what="residual_before")].shape[1]
    keys = stream[streams.memory_site(config)].shape[1] if kind == "cross" else queries
    mask = stream[place.format(what="mask")]
    visible = mask[(None,) * (4 - mask.dim())].expand(1, -1, queries, keys)[0, 0]
    pattern = ATTENTION[attention or config.attention].pattern(queries, keys) if kind != "cross" else None
    visible = visible if pattern is None else visible & pattern
    return of_stream(model, stream, visible.contiguous(), kind=kind, layer=layer)


def of_sub_layer(panel: SubLayerPanel, sub_layer: str, called: str) -> Step:
    """The chosen sub-layer of the live model, from the residual stream to what it adds."""
    title = f"{called} of {panel.where}"
    if sub_layer != "feed_forward":
        return of_attention(inside_of(panel, sub_layer), f"{title[0].upper()}{title[1:]}")
    site, modules = panel.site.rpartition(".")[0], modules_of(transformer(panel.config))
    network, norm = (modules.get_submodule(f"{site}.feed_forward{end}") for end in ("", "_norm"))
    assert isinstance(network, FeedForward)
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    residual = read(panel.model, panel.config, (f"{site}.feed_forward.residual_before",))
    x = residual[f"{site}.feed_forward.residual_before"][0]
    with torch.no_grad():
        reads = norm(x) if panel.config.norm == "pre" else x
    before = normed(x, norm if panel.config.norm == "pre" else None, reads, "X", "token")
    step = of_network(network, reads, f"{title[0].upper()}{title[1:]}", before)
    return replace(step, constants={**step.constants, "norm_eps": panel.config.norm_eps})


def of_variants(panel: SubLayerPanel, names: tuple[str, ...]) -> Step:
    """Several attentions on the same input with the same weights: the first whole, of the others what differs."""
    title = f"Attentions in {panel.where}"
    first, *others = (of_attention(inside_of(panel, "self_attention", name), title) for name in names)
    steps = {
        name: replace(step, tensors=[each for each in step.tensors if each.name in OF_EACH])
        for name, step in zip(names[1:], others, strict=True)
    }
    return first.also(*beside("", steps).tensors)
