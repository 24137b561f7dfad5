"""One block, from x to the sum: its norm, its sub-layer, dropout and residual connection, number by number.

Pre-norm: x + dropout(f(norm(x))); post-norm: norm(x + dropout(f(x))), where f is the sub-layer.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tfm_core import TransformerConfig
from tfm_ui.lenses.model.machine import config_of, prefix, read
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.passes import transformer
from tfm_ui.state.model_state import ModelState


class Normed(NamedTuple):
    """A layer norm, step by step: Ba et al. 2016, equations 3 and 4.

    Attributes:
        mean, variance: (token, 1).
        normalised: (token, dimension), (x - mean) / sqrt(variance + epsilon).
        result: (token, dimension), normalised * gain + shift.
    """

    mean: Tensor
    variance: Tensor
    normalised: Tensor
    result: Tensor


@dataclass(frozen=True)
class Chain:
    """A block's numbers, float32 (token, dimension), padding included.

    Attributes:
        config: the model's.
        site: how the block's sites begin in a recording, such as "layers.0.self_attention".
        x: what flows in.
        output: what the sub-layer writes.
        factors: what dropout multiplies each number of `output` by; 1 in evaluation mode.
        total: x + output * factors.
        norm: the norm of x in pre-norm, of `total` in post-norm.
        after: what the pass recorded behind the block, without dropout.
        gain, shift: (dimension), of the norm.
        eps: epsilon of the norm.
        inner: (token, inner), what the sub-layer's last linear map reads: all heads, or the hidden units.
        weight, bias: (dimension, inner) and (dimension), of that map.
    """

    config: TransformerConfig
    site: str
    x: Tensor
    output: Tensor
    factors: Tensor
    total: Tensor
    norm: Normed
    after: Tensor
    gain: Tensor
    shift: Tensor
    eps: float
    inner: Tensor
    weight: Tensor
    bias: Tensor

    @property
    def pre_norm(self) -> bool:
        """Whether the norm stands before the sub-layer."""
        return self.config.norm == "pre"

    @property
    def dropped(self) -> Tensor:
        """What is added to x."""
        return self.output * self.factors

    @property
    def into_norm(self) -> Tensor:
        """What the norm reads."""
        return self.x if self.pre_norm else self.total

    @property
    def out(self) -> Tensor:
        """What leaves the block."""
        return self.total if self.pre_norm else self.norm.result


def layer_norm(x: Tensor, gain: Tensor, shift: Tensor, eps: float) -> Normed:
    """The norm of each token, (token, dimension) -> its steps."""
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    normalised = (x - mean) / torch.sqrt(variance + eps)
    return Normed(mean, variance, normalised, normalised * gain + shift)


def dropout_factors(like: Tensor, share: float, draw: int) -> Tensor:
    """What dropout in training multiplies each number by: 0 with the probability `share`, otherwise 1 / (1 - share).

    It is the draw that nn.Dropout makes after `torch.manual_seed(draw)`, from a generator of its own: the global one
    belongs to all threads.
    """
    kept = torch.empty_like(like).bernoulli_(1 - share, generator=torch.Generator().manual_seed(draw))
    return kept / (1 - share)


def sub_layer_of(model: ModelState, state: ModelLensState) -> str:
    """The chosen sub-layer; self-attention in place of a cross-attention that this stack does not have."""
    crosses = model.is_encoder_decoder and state.stack == "decoder"
    return state.sub_layer if crosses or state.sub_layer != "cross_attention" else "self_attention"


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
