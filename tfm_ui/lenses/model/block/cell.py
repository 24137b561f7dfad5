"""One number on its way through the block: each step with the real numbers put in."""

import math
from collections.abc import Sequence
from functools import cached_property
from html import escape
from typing import NamedTuple

import pandas as pd
import streamlit as st
from torch import Tensor, nn

from tfm_core import TransformerConfig
from tfm_ui.lenses.model.block.chain import ROUNDING, BlockPanel, dropout_factors, run, side_by_side
from tfm_ui.live.script import script
from tfm_ui.text import formats

_n = formats.number
TERMS = 3  # products of the sub-layer's last sum that are written out


def cell(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
    inner: str,
    token: int,
    dim: int,
) -> tuple[Tensor, ...]:
    """One dimension of one token through the block, in float64."""
    (x, output, read), modules = run(config, inputs, mask, block, ("residual_before", "output", inner))
    read = side_by_side(read)
    products, written = last_sum(read, modules.get_submodule(f"{block}.output_projection"), token, dim)
    factor = dropout_factors(output, dropout, draw)[token, dim].item()
    total = x[token, dim].item() + factor * written
    return products, written, total


def last_sum(inner: Tensor, projection: nn.Module, token: int, dim: int) -> tuple[Tensor, Tensor]:
    """The products of a sub-layer's last sum for one number, float64 (inner); and what they and the bias come to."""
    assert isinstance(projection, nn.Linear)
    products = (projection.weight[dim].double() * inner[token].double()).detach()
    return products, products.sum() + (0.0 if projection.bias is None else projection.bias[dim].item())


class CellStep(NamedTuple):
    """A step of one number: what it is called, how it is computed, and its value."""

    name: str
    equation: str
    value: float

    @property
    def line(self) -> str:
        """The step as a line that ends in its value."""
        return f"{self.equation} = {formats.number(self.value)}"


class BlockCell(BlockPanel):
    """The chosen dimension of the chosen token, computed in float64 from what the pass recorded."""

    locked = True

    @property
    def how_to_read(self) -> str:
        if self.is_rms:
            return "Computed in float64, rounded on screen. Mean square: Zhang and Sennrich 2019, equation 4."
        return "Computed in float64, rounded on screen. Mean and variance: Ba et al. 2016, equations 3 and 4."

    @property
    def title(self) -> str:
        return f"“{self.names[self.token]}”, dimension {self.dim + 1}"

    @cached_property
    def _last_sum(self) -> tuple[Tensor, Tensor]:
        return last_sum(self.inner, self.projection, self.token, self.dim)

    @property
    def products(self) -> Tensor:
        """The products whose sum, with the bias, the sub-layer writes, float64 (inner)."""
        return self._last_sum[0]

    @cached_property
    def lines(self) -> list[CellStep]:
        """The steps in the order in which the block computes them."""
        x = self.x[self.token].double()
        start = CellStep("x", "in the residual stream before this block", x[self.dim].item())
        written = self._written()
        dropped = self._dropped(written.value)
        total = CellStep("sum", f"{_n(start.value)} + {_f(dropped.value)}", start.value + dropped.value)
        if self.pre_norm:
            return [start, *self._norm(x, "x"), written, dropped, total]
        whole = x + self.dropped[self.token].double()
        return [start, written, dropped, total, *self._norm(whole, "sum")]

    def _norm(self, vector: Tensor, name: str) -> list[CellStep]:
        """The norm of a token's vector, (dimension), and what it makes of this dimension."""
        if self.is_rms:
            return self._rms_norm(vector, name)
        dim, count, eps = self.dim, len(vector), self.epsilon
        mean, variance = vector.mean().item(), vector.var(correction=0).item()
        root, at = math.sqrt(variance + eps), vector[dim].item()
        normalised = (at - mean) / root
        gain, shift = self.gain[dim].item(), self.shift[dim].item()
        squares = (vector - mean).square().sum().item()
        return [
            CellStep("mean", f"Σ {name} / {count} = {_n(vector.sum().item())} / {count}", mean),
            CellStep("variance", f"Σ ({name} − mean)² / {count} = {_n(squares)} / {count}", variance),
            CellStep(
                "norm",
                f"({name} − mean) / √(variance + ε) = ({_n(at)} − {_f(mean)}) / √({_n(variance)} + "
                f"{formats.tiny(eps)}) = {_n(at - mean)} / {_n(root)}",
                normalised,
            ),
            CellStep("gain, shift", f"{_n(gain)} × {_f(normalised)} + {_f(shift)}", gain * normalised + shift),
        ]

    def _rms_norm(self, vector: Tensor, name: str) -> list[CellStep]:
        """The same of an RMS norm, which takes no mean away and adds nothing."""
        count, eps, at = len(vector), self.epsilon, vector[self.dim].item()
        squares = vector.square().sum().item()
        mean_square = squares / count
        root = math.sqrt(mean_square + eps)
        gain = self.gain[self.dim].item()
        return [
            CellStep("mean square", f"Σ {name}² / {count} = {_n(squares)} / {count}", mean_square),
            CellStep(
                "norm",
                f"{name} / √(mean square + ε) = {_n(at)} / √({_n(mean_square)} + {formats.tiny(eps)}) = {_n(at)} / "
                f"{_n(root)}",
                at / root,
            ),
            CellStep("gain", f"{_n(gain)} × {_f(at / root)}", gain * at / root),
        ]

    def _written(self) -> CellStep:
        """The sub-layer's number: a sum over its heads' dimensions or its hidden units, of which the largest count."""
        products, written = self._last_sum
        kept = sorted(products.abs().topk(min(TERMS, len(products))).indices.tolist())
        weights, inner = self.projection.weight[self.dim], self.inner[self.token]
        terms = " + ".join(f"{_f(weights[i].item())} × {_f(inner[i].item())}" for i in kept)
        if len(products) > len(kept):
            rest = products.sum().item() - products[kept].sum().item()
            terms += f" + {len(products) - len(kept)} smaller products, together {_n(rest)}"
        what = "hidden units" if self.is_network else "dimensions of all heads"
        if (bias := self.bias) is None:
            return CellStep("sub-layer", f"Σ weight × input over {len(products)} {what} = {terms}", written.item())
        return CellStep(
            "sub-layer",
            f"Σ weight × input over {len(products)} {what}, + bias = {terms} + bias {_n(bias)}",
            written.item(),
        )

    def _dropped(self, written: float) -> CellStep:
        """What dropout makes of the sub-layer's number."""
        share = self.state.dropout
        if not share:
            return CellStep("dropout", f"evaluation mode, nothing is dropped: {_n(written)} × 1", written)
        if not self.factors[self.token, self.dim].item():
            return CellStep("dropout", f"this number is dropped: {_n(written)} × 0", 0.0)
        return CellStep("dropout", f"kept: {_n(written)} / (1 − {share:g})", written / (1 - share))

    def value_of(self, name: str) -> float:
        """The value of the step of this name."""
        return next(step.value for step in self.lines if step.name == name)

    def sentence(self) -> str:
        """Where the number begins and ends."""
        out = "leaves" if self.pre_norm else "leaves, after the norm of the sum,"
        return (
            f"Dimension {self.dim + 1} of “{self.names[self.token]}” flows in as {_n(self.lines[0].value)}, gets "
            f"{_n(self.value_of('dropout'))} added, and {out} as {_n(self.lines[-1].value)}."
        )

    def laws(self) -> dict[str, bool]:
        """The derivation, in float64, ends at the numbers of the pass, in float32."""
        at = (self.token, self.dim)
        ends = self.lines[-1].value - self.out[at].item()
        written = self.value_of("sub-layer") - self.output[at].item()
        off = max(abs(ends), abs(written)) / max(1.0, self.out.abs().max().item())
        return {
            "the sub-layer’s number and the last one are those of the pass (largest difference "
            f"{formats.tiny(max(abs(ends), abs(written)))})": off < ROUNDING
        }

    def table(self) -> pd.DataFrame:
        """A row per step."""
        rows = [(step.name, step.equation, step.value) for step in self.lines]
        return pd.DataFrame(rows, columns=["step", "computed as", "value"]).set_index("step")

    def tools(self) -> None:
        """Draw a line per step."""
        rows = (f"<span>{escape(step.name)}</span><span>{escape(step.line)}</span>" for step in self.lines)
        st.html("".join(f'<p class="order">{row}</p>' for row in rows))

    def recipe(self) -> str:
        """A script that leaves the `products` of the sub-layer's last sum, what is `written`, and the sum, `total`."""
        return script(cell, **self.header, inner=self.inner_site, token=self.token, dim=self.dim)


def _f(number: float) -> str:
    """A number after a sign: in brackets if it is negative."""
    text = formats.number(number)
    return f"({text})" if text.startswith("−") else text
