"""The block that the lens shows: where it is, and its numbers from a pass of the live model."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from tfm_core import Tokens, TransformerConfig
from tfm_ui.lenses.model.block.chain import Chain, dropout_factors, layer_norm
from tfm_ui.lenses.model.machine import config_of, in_script, prefix, read, read_of, token_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import Code
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import token_labels

SUB_LAYERS = {
    "self_attention": "self-attention",
    "cross_attention": "cross-attention",
    "feed_forward": "feed-forward network",
}


@dataclass(frozen=True)
class Chosen:
    """A block of the sidebar's model, one of its tokens and one dimension of it.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        chain: the block's numbers.
    """

    model: ModelState
    state: ModelLensState
    chain: Chain

    @property
    def tokens(self) -> Tokens:
        """The text that the stack reads."""
        decoder = self.model.is_encoder_decoder and self.state.stack == "decoder"
        return self.model.target_tokens if decoder else self.model.source_tokens

    @cached_property
    def names(self) -> list[str]:
        """A label per token, padding included."""
        return token_labels.labels(self.tokens)

    @property
    def read(self) -> int:
        """How many tokens sentences speak of: all but padding."""
        return read_of(self.tokens)

    @property
    def token(self) -> int:
        """The chosen token, from 0."""
        return token_of(self.tokens, self.state)

    @property
    def dim(self) -> int:
        """The chosen dimension, from 0."""
        return min(self.state.block_dim, self.model.d_model) - 1

    @property
    def sub_layer(self) -> str:
        """The sub-layer in words."""
        return SUB_LAYERS[self.chain.site.rpartition(".")[2]]

    @property
    def where(self) -> str:
        """Which block it is."""
        of = f" of the {self.state.stack}" if self.model.is_encoder_decoder else ""
        return f"layer {self.state.layer}{of}, {self.sub_layer}"

    @property
    def header(self) -> dict[str, Code | str | float | int]:
        """The header that the recipes of this view share."""
        header = in_script(self.model, self.chain.config)
        dropout = {"dropout": self.state.dropout, "draw": self.state.dropout_draw}
        return {**header, "block": self.chain.site, **dropout}


def chosen(model: ModelState, state: ModelLensState) -> Chosen:
    """The block that the controls choose."""
    return Chosen(model, state, chain(model, state))


def sub_layer_of(model: ModelState, state: ModelLensState) -> str:
    """The chosen sub-layer; self-attention in place of a cross-attention that this stack does not have."""
    crosses = model.is_encoder_decoder and state.stack == "decoder"
    name = state.sub_layer.replace("-", "_")
    return name if crosses or name != "cross_attention" else "self_attention"


def chain(model: ModelState, state: ModelLensState, norm: str = "", *, training: bool = True) -> Chain:
    """The chosen block.

    Args:
        model: the sidebar's.
        state: the lens's controls.
        norm: "pre" or "post"; by default the sidebar's.
        training: whether the lens's dropout acts; everything before the block is always in evaluation mode.
    """
    config = config_of(model, state)
    config = replace(config, norm=norm or config.norm)
    site = f"{prefix(model, state.stack)}layers.{state.layer - 1}.{sub_layer_of(model, state)}"
    recorded = read(model, config, _sites(model, config, site))
    modules: nn.Module = transformer(config)
    modules = modules if model.is_encoder_decoder else modules.get_submodule("stack")
    module, last = modules.get_submodule(f"{site}_norm"), modules.get_submodule(f"{site}.output_projection")
    assert isinstance(module, nn.LayerNorm)
    assert isinstance(last, nn.Linear)
    x, output, after = (recorded[f"{site}.{what}"][0] for what in ("residual_before", "output", "residual_after"))
    acts = training and state.dropout > 0
    factors = dropout_factors(output, state.dropout, state.dropout_draw) if acts else torch.ones_like(output)
    total = x + output * factors
    gain, shift = module.weight.detach(), module.bias.detach()
    return Chain(
        config=config,
        site=site,
        x=x,
        output=output,
        factors=factors,
        total=total,
        norm=layer_norm(x if config.norm == "pre" else total, gain, shift, module.eps),
        after=after,
        gain=gain,
        shift=shift,
        eps=module.eps,
        inner=_inner(recorded[f"{site}.{_inner_site(site)}"][0]),
        weight=last.weight.detach(),
        bias=last.bias.detach(),
    )


def _sites(model: ModelState, config: TransformerConfig, site: str) -> tuple[str, ...]:
    """All blocks of the model, so that the next one needs no pass; of a model whose pass takes long, one alone."""
    whats = ("residual_before", "residual_after", "output")
    if model.is_heavy:
        return tuple(f"{site}.{what}" for what in (*whats, _inner_site(site)))
    return tuple(f"*.{what}" for what in (*whats, "head_output", "hidden"))


def _inner_site(site: str) -> str:
    return "hidden" if site.endswith("feed_forward") else "head_output"


def _inner(recorded: Tensor) -> Tensor:
    """(head, token, d_k) or (token, d_ff) -> (token, inner)."""
    return recorded.transpose(0, 1).flatten(1) if recorded.dim() == 3 else recorded
