"""One block, from x to the sum: its norm, its sub-layer, dropout and residual connection, number by number.

Pre-norm: x + dropout(f(norm(x))); post-norm: norm(x + dropout(f(x))), where f is the sub-layer.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import FeedForward, MultiHeadAttention, Transformer, TransformerConfig, TransformerLayer, recording
from tfm_core.model.normalization import Norm
from tfm_ui.lenses.model.machine import SubLayerPanel, in_script, modules_of, read
from tfm_ui.lenses.model.state import PREFIX
from tfm_ui.live.passes import transformer
from tfm_ui.live.tables import SIDE, Part
from tfm_ui.live.tensors.layers import and_residual
from tfm_ui.live.tensors.step import Step, held
from tfm_ui.live.windows import part_of
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.panel import Source
from tfm_ui.text import formats

ROUNDING = 1e-4  # how far float32 may be off, as a share of the largest number
CELLS = 3 * SIDE**2  # of maps; more are pooled to half the side


# pure functions, of which recipes are made, too


def run(
    config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, block: str, whats: Sequence[str]
) -> tuple[list[Tensor], nn.Module]:
    """What a pass records in a block, without the batch axis; and the module below which the block lies."""
    model = Transformer(config).eval()
    sites = [f"{block}.{what}" for what in whats]
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    return [trace[site][0] for site in sites], modules_of(model)


def layer_norm(x: Tensor, norm: nn.Module) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The norm of each token, (token, dimension), step by step: what `Normed` holds."""
    assert isinstance(norm, nn.LayerNorm)
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    normalised = (x - mean) / torch.sqrt(variance + norm.eps)
    return mean, variance, normalised, (normalised * norm.weight + norm.bias).detach()


def rms_norm(x: Tensor, norm: nn.Module) -> tuple[Tensor, Tensor, Tensor]:
    """The RMS norm of each token, (token, dimension), step by step: its mean square, before the gain, and after it."""
    assert isinstance(norm, nn.RMSNorm)
    mean_square = x.square().mean(-1, keepdim=True)
    normalised = x / torch.sqrt(mean_square + (norm.eps or 0.0))
    return mean_square, normalised, (normalised * norm.weight).detach()


def dropout_factors(like: Tensor, share: float, draw: int) -> Tensor:
    """What dropout in training multiplies each number by: 0 with the probability `share`, otherwise 1 / (1 - share).

    It is the draw that nn.Dropout makes after `torch.manual_seed(draw)`, from a generator of its own: the global one
    belongs to all threads. A share of 0 is evaluation mode.
    """
    kept = torch.empty_like(like).bernoulli_(1 - share, generator=torch.Generator().manual_seed(draw))
    return kept / (1 - share)


def added(x: Tensor, output: Tensor, factors: Tensor, norm: str) -> tuple[Tensor, Tensor, Tensor]:
    """What is added to x, the sum, and what the norm reads: x in pre-norm, the sum in post-norm."""
    dropped = output * factors
    total = x + dropped
    return dropped, total, x if norm == "pre" else total


def side_by_side(inner: Tensor) -> Tensor:
    """What a sub-layer's last linear map reads, (token, inner): hidden units, or all heads of a token side by side."""
    return inner.transpose(0, 1).flatten(1) if inner.dim() == 3 else inner


class Normed(NamedTuple):
    """A norm, step by step: Ba et al. 2016, equations 3 and 4; or an RMS norm, Zhang and Sennrich 2019."""

    mean: Tensor
    """(token, 1); an RMS norm takes none away."""
    spread: Tensor
    """(token, 1), the variance, or in RMS norms the mean square: what is made 1."""
    normalised: Tensor
    """(token, dimension), (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean square + epsilon)."""
    result: Tensor
    """(token, dimension), normalised * gain + shift, or normalised * gain."""


class BlockPanel(SubLayerPanel):
    """A panel on the chosen block: its numbers from a pass of the live model, float32 (token, dimension) with padding.

    Everything before the block is in evaluation mode.
    """

    @property
    def sources(self) -> Sequence[Source]:
        sub_layer = FeedForward if self.is_network else MultiHeadAttention
        steps = (added, self.norm_function, dropout_factors, TransformerLayer._add)
        return (*steps, sub_layer.forward, self.norm_program)

    @property
    def is_rms(self) -> bool:
        """Whether norms divide by the root of the mean square, and take no mean away."""
        return self.config.normalization == "rms"

    @property
    def norm_function(self) -> Source:
        """What computes the norm step by step."""
        return rms_norm if self.is_rms else layer_norm

    @property
    def norm_program(self) -> Source:
        """Torch's own norm."""
        return nn.RMSNorm.forward if self.is_rms else nn.LayerNorm.forward

    @property
    def spread_called(self) -> str:
        """What the norm makes 1."""
        return "mean square" if self.is_rms else "variance"

    @property
    def gain_called(self) -> str:
        """What the norm does last."""
        return "gain" if self.is_rms else "gain and shift"

    @property
    def sub_layer(self) -> str:
        """The chosen sub-layer; self-attention in place of one that this stack does not have."""
        crosses = self.model.is_encoder_decoder and self.stack == "decoder"
        name: str = self.state.sub_layer.replace("-", "_")
        return name if name == "feed_forward" or (crosses and name == "cross_attention") else "self_attention"

    @property
    def is_network(self) -> bool:
        """Whether it is the feed-forward network."""
        return self.sub_layer == "feed_forward"

    @property
    def called(self) -> str:
        """The sub-layer in words."""
        return self.sub_layer.replace("_", "-") + " network" * self.is_network

    @property
    def where(self) -> str:
        """The block in words."""
        return f"{super().where}, {self.called}"

    @property
    def inner_site(self) -> str:
        """The name of what the sub-layer's last linear map reads."""
        return "hidden" if self.is_network else "head_output"

    @property
    def dim(self) -> int:
        """The chosen dimension, from 0."""
        return min(self.state.block_dim, self.model.d_model) - 1

    @property
    def tensors(self) -> Step:
        step = self.taken(self.called)
        axis, residual, dims = (
            "token" if self.is_network else "query",
            "residual" if self.pre_norm else "X",
            ("d_model",),
        )
        if self.state.dropout:
            factors = held("dropout", (axis, *dims), self.factors, "what dropout in training multiplies by")
            dropped = held("dropped", (axis, *dims), self.dropped, "what is left of the output", "output * dropout")
            step = step.also(factors, dropped)
        return and_residual(step, residual, None if self.pre_norm else self.norm_module, self.total, self.out, axis)

    @cached_property
    def recorded(self) -> dict[str, Tensor]:
        """What the pass recorded in the block, without the batch axis."""
        whats = ("residual_before", "residual_after", "output", self.inner_site)
        # All blocks of the model, so that the next one needs no pass; of a model whose pass takes long, one alone.
        sites = [f"{self.site}.{what}" for what in whats]
        every = [f"*.{what}" for what in (*whats[:3], "head_output", "hidden")]
        trace = read(self.model, self.config, tuple(sites if self.model.is_heavy else every))
        return {what: trace[site][0] for what, site in zip(whats, sites, strict=True)}

    @property
    def x(self) -> Tensor:
        """What flows in."""
        return self.recorded["residual_before"]

    @cached_property
    def output(self) -> Tensor:
        """What the sub-layer writes."""
        return self.recorded["output"]

    @cached_property
    def after(self) -> Tensor:
        """What the pass recorded after the block, without dropout."""
        return self.recorded["residual_after"]

    @cached_property
    def inner(self) -> Tensor:
        """What the sub-layer's last linear map reads, (token, inner): all heads, or the hidden units."""
        return side_by_side(self.recorded[self.inner_site])

    @cached_property
    def factors(self) -> Tensor:
        """What dropout multiplies each number of `output` by; 1 in evaluation mode."""
        return dropout_factors(self.output, self.state.dropout, self.state.dropout_draw)

    @cached_property
    def _added(self) -> tuple[Tensor, Tensor, Tensor]:
        return added(self.x, self.output, self.factors, self.config.norm)

    @property
    def dropped(self) -> Tensor:
        """What is added to x."""
        return self._added[0]

    @property
    def total(self) -> Tensor:
        """The sum."""
        return self._added[1]

    @property
    def into_norm(self) -> Tensor:
        """What the norm reads."""
        return self._added[2]

    @cached_property
    def norm(self) -> Normed:
        """The norm of x in pre-norm, of the sum in post-norm."""
        if self.is_rms:
            return Normed(self.into_norm.mean(-1, keepdim=True), *rms_norm(self.into_norm, self.norm_module))
        return Normed(*layer_norm(self.into_norm, self.norm_module))

    @property
    def out(self) -> Tensor:
        """What leaves the block."""
        return self.total if self.pre_norm else self.norm.result

    @property
    def pre_norm(self) -> bool:
        """Whether the norm stands before the sub-layer."""
        return self.config.norm == "pre"

    @property
    def norm_module(self) -> Norm:
        """The norm's module."""
        module = modules_of(transformer(self.config)).get_submodule(f"{self.site}_norm")
        assert isinstance(module, nn.LayerNorm | nn.RMSNorm)
        return module

    @property
    def epsilon(self) -> float:
        """What the norm adds below the root."""
        return self.norm_module.eps or 0.0

    @property
    def gain(self) -> Tensor:
        """What the norm multiplies by, (dimension)."""
        return self.norm_module.weight.detach()

    @property
    def shift(self) -> Tensor:
        """What the norm adds, (dimension): nothing in RMS norms."""
        module = self.norm_module
        return module.bias.detach() if isinstance(module, nn.LayerNorm) else torch.zeros_like(self.gain)

    @property
    def projection(self) -> nn.Linear:
        """The sub-layer's last linear map."""
        module = modules_of(transformer(self.config)).get_submodule(f"{self.site}.output_projection")
        assert isinstance(module, nn.Linear)
        return module

    @property
    def bias(self) -> float | None:
        """What that map adds in the chosen dimension; None without biases."""
        projection = self.projection
        return None if projection.bias is None else projection.bias[self.dim].item()

    def lengths_of(self, vectors: Tensor) -> NDArray[np.float32]:
        """How long the vectors (token, dimension) of the tokens are, (token), without padding."""
        lengths: NDArray[np.float32] = vectors[: self.read].norm(dim=-1).numpy()
        return lengths

    def shares_of(self, vectors: Tensor) -> NDArray[np.float32]:
        """The lengths of vectors as shares of those of x, (token); 0 where x has no length."""
        before, after = self.lengths_of(self.x), self.lengths_of(vectors)
        return np.divide(after, before, out=np.zeros_like(after), where=before > 0)

    @property
    def numbered(self) -> list[str]:
        """The labels of the tokens after their places in the text, from 1."""
        return [f"{i} {name}" for i, name in enumerate(self.names, 1)]

    def by_token(self, columns: Mapping[str, Any]) -> pd.DataFrame:
        """A table with a row per token, without padding."""
        return pd.DataFrame(columns, index=pd.Index(self.numbered[: self.read], name="token"))

    def before_and_after(
        self, what: str, ends: Mapping[str, tuple[NDArray[np.float32], NDArray[np.float32]]], reach: Sequence[float]
    ) -> Content:
        """Charts of numbers by token, without padding, before the norm or the block and after it.

        Args:
            what: "norm" or "block".
            ends: heading -> the numbers before and after, (token).
            reach: values that each chart includes.
        """
        places = list(range(1, self.read + 1))
        charts = [
            Chart(
                "token, by its place in the text",
                heading,
                [
                    Line(f"before the {what}", places, before.tolist(), "query"),
                    Line(f"after the {what}", places, after.tolist(), "result", "dashed"),
                ],
                reach=reach,
            )
            for heading, (before, after) in ends.items()
        ]
        return lines.content(charts)

    @property
    def header(self) -> dict[str, Any]:
        """The header that the recipes of this view share."""
        dropout = {"dropout": self.state.dropout, "draw": self.state.dropout_draw}
        return {**in_script(self.model, self.config), "block": self.site, **dropout}


class BlockMaps(BlockPanel):
    """A panel with maps token x dimension, in which a click chooses the cell that is derived."""

    canvas = MAPS

    @property
    def shape(self) -> str:
        return f"token × d_model = {len(self.names)} × {self.model.d_model}"

    @property
    @abstractmethod
    def tables(self) -> dict[str, Tensor]:
        """Name -> numbers, (token, dimension)."""

    @property
    def drawn(self) -> dict[str, Tensor]:
        """Those of the tables that are in the picture."""
        return self.tables

    def table(self) -> pd.DataFrame:
        """A row per token and dimension."""
        dims = range(1, self.model.d_model + 1)
        index = pd.MultiIndex.from_product([self.numbered, dims], names=["token", "dimension"])
        return pd.DataFrame({name: values.flatten().numpy() for name, values in self.tables.items()}, index=index)

    def picture(self) -> Content:
        """The tables on one scale."""
        height, width = len(self.names), self.model.d_model
        side = SIDE if len(self.drawn) * height * width <= CELLS else SIDE // 2
        part = part_of(self.state.block_part, height, width, side)
        return self.maps(
            self.drawn,
            part,
            "block_part",
            picked=self._picked(part),
            asks=(PREFIX + "token", PREFIX + "block_dim"),
            read=-(-min(part.rows, max(0, self.read - part.top)) // part.block[0]),  # rounded up
            blank="dropped: 0",
        )

    def _picked(self, part: Part) -> tuple[int, int] | None:
        """The chosen cell in the part that is looked at; None if it lies elsewhere."""
        row, column = self.token - part.top, self.dim - part.left
        inside = 0 <= row < part.rows and 0 <= column < part.columns
        return (row // part.block[0], column // part.block[1]) if inside else None


def range_of(values: NDArray[np.float32]) -> str:
    """The least and the largest of some numbers, in words."""
    low, high = (formats.number(float(end)) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"
