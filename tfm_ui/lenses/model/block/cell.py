"""One number on its way through the block: each step with the real numbers put in."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import pandas as pd
from torch import Tensor

from tfm_ui.lenses.model.block import recipe
from tfm_ui.lenses.model.block.chain import ROUNDING
from tfm_ui.lenses.model.block.chosen import Chosen
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

TERMS = 3  # products of the sub-layer's last sum that are written out


class Step(NamedTuple):
    """A step of one number: what it is called, how it is computed, and its value."""

    name: str
    equation: str
    value: float

    @property
    def line(self) -> str:
        """The step as a line that ends in its value."""
        return f"{self.equation} = {formats.number(self.value)}"


@dataclass(frozen=True)
class Cell(Result):
    """The chosen dimension of the chosen token, computed in float64 from what the pass recorded."""

    block: Chosen

    @cached_property
    def products(self) -> Tensor:
        """float64 (inner), the products whose sum, with the bias, the sub-layer writes."""
        numbers = self.block.chain
        return numbers.weight[self.block.dim].double() * numbers.inner[self.block.token].double()

    @cached_property
    def lines(self) -> list[Step]:
        """The steps in the order in which the block computes them."""
        numbers, dim = self.block.chain, self.block.dim
        x = numbers.x[self.block.token].double()
        start = Step("x", "in the residual stream before this block", x[dim].item())
        written = self._written()
        dropped = self._dropped(written.value)
        total = Step("sum", f"{_n(start.value)} + {_f(dropped.value)}", start.value + dropped.value)
        if numbers.pre_norm:
            return [start, *self._norm(x, "x"), written, dropped, total]
        whole = x + (numbers.output * numbers.factors)[self.block.token].double()
        return [start, written, dropped, total, *self._norm(whole, "sum")]

    def _norm(self, vector: Tensor, name: str) -> list[Step]:
        """The norm of a token's vector, (dimension), and what it makes of this dimension."""
        numbers, dim, count = self.block.chain, self.block.dim, len(vector)
        mean, variance = vector.mean().item(), vector.var(correction=0).item()
        root, at = math.sqrt(variance + numbers.eps), vector[dim].item()
        normalised = (at - mean) / root
        gain, shift = numbers.gain[dim].item(), numbers.shift[dim].item()
        squares = (vector - mean).square().sum().item()
        return [
            Step("mean", f"Σ {name} / {count} = {_n(vector.sum().item())} / {count}", mean),
            Step("variance", f"Σ ({name} − mean)² / {count} = {_n(squares)} / {count}", variance),
            Step(
                "norm",
                f"({name} − mean) / √(variance + ε) = ({_n(at)} − {_f(mean)}) / √({_n(variance)} + "
                f"{formats.tiny(numbers.eps)}) = {_n(at - mean)} / {_n(root)}",
                normalised,
            ),
            Step("gain, shift", f"{_n(gain)} × {_f(normalised)} + {_f(shift)}", gain * normalised + shift),
        ]

    def _written(self) -> Step:
        """The sub-layer's number: a sum over its heads' dimensions or its hidden units, of which the largest count."""
        numbers, products = self.block.chain, self.products
        kept = sorted(products.abs().topk(min(TERMS, len(products))).indices.tolist())
        weights, inner = numbers.weight[self.block.dim], numbers.inner[self.block.token]
        said = " + ".join(f"{_f(weights[i].item())} × {_f(inner[i].item())}" for i in kept)
        if len(products) > len(kept):
            rest = products.sum().item() - products[kept].sum().item()
            said += f" + {len(products) - len(kept)} smaller products, together {_n(rest)}"
        bias = numbers.bias[self.block.dim].item()
        what = "hidden units" if numbers.site.endswith("feed_forward") else "dimensions of all heads"
        return Step(
            "sub-layer",
            f"Σ weight × input over {len(products)} {what}, + bias = {said} + bias {_n(bias)}",
            products.sum().item() + bias,
        )

    def _dropped(self, written: float) -> Step:
        """What dropout makes of the sub-layer's number."""
        factor = self.block.chain.factors[self.block.token, self.block.dim].item()
        share = self.block.state.dropout
        if not share:
            return Step("dropout", f"evaluation mode, nothing is dropped: {_n(written)} × 1", written)
        if not factor:
            return Step("dropout", f"this number is dropped: {_n(written)} × 0", 0.0)
        return Step("dropout", f"kept: {_n(written)} / (1 − {share:g})", written / (1 - share))

    def sentence(self) -> str:
        """Where the number begins and ends."""
        name, lines = self.block.names[self.block.token], self.lines
        written = next(step.value for step in lines if step.name == "dropout")
        out = "leaves" if self.block.chain.pre_norm else "leaves, after the norm of the sum,"
        return (
            f"Dimension {self.block.dim + 1} of “{name}” flows in as {_n(lines[0].value)}, gets {_n(written)} added, "
            f"and {out} as {_n(lines[-1].value)}."
        )

    def laws(self) -> dict[str, bool]:
        """The derivation, in float64, ends at the numbers of the pass, in float32."""
        numbers, at = self.block.chain, (self.block.token, self.block.dim)
        ends = self.lines[-1].value - numbers.out[at].item()
        written = next(step.value for step in self.lines if step.name == "sub-layer") - numbers.output[at].item()
        off = max(abs(ends), abs(written)) / max(1.0, numbers.out.abs().max().item())
        return {
            "the sub-layer’s number and the last one are those of the pass (largest difference "
            f"{formats.tiny(max(abs(ends), abs(written)))})": off < ROUNDING
        }

    def table(self) -> pd.DataFrame:
        """A row per step."""
        rows = [(step.name, step.equation, step.value) for step in self.lines]
        return pd.DataFrame(rows, columns=["step", "computed as", "value"]).set_index("step")

    def recipe(self) -> str:
        """A script that leaves the `products` of the sub-layer's last sum, what is `written`, and the sum, `total`."""
        inner = "hidden" if self.block.chain.site.endswith("feed_forward") else "head_output"
        place = {"inner": inner, "token": self.block.token, "dim": self.block.dim}
        return script(recipe.cell, **self.block.header, **place)


def _n(number: float) -> str:
    return formats.number(number)


def _f(number: float) -> str:
    """A number after a sign: in brackets if it is negative."""
    text = formats.number(number)
    return f"({text})" if text.startswith("−") else text
