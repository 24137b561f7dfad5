"""A shape that is else only counted, run once: a batch of token ids goes through it, and each stage tells its shape.

Beside the attention of layer 1 stands torch's own nn.MultiheadAttention with the same matrices: what it returns when
it is called as it is, an average over heads, and what it returns with average_attn_weights=False.
"""

import time
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core import (
    POSITIONAL,
    MultiHeadAttention,
    SequenceClassifier,
    Transformer,
    TransformerConfig,
    block_costs,
    causal_mask,
    recording,
)
from tfm_core.model.torch_twin import as_torch
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.model.diagram.counted import DiagramPanel
from tfm_ui.lenses.model.machine import ModelPanel
from tfm_ui.lenses.model.shapes import THIS
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures.panel import Note, OpenTable
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MOST_PARAMETERS, MOST_NUMBERS = 4_000_000, 20_000_000  # so that a run takes less than a second, and 100 MB
ROUNDING = 1e-5
WEIGHTS = "layers.0.self_attention.weights"
IN_LAYER_1 = ("query", "weights", "head_output", "output", "hidden", "residual_after")
ABOUT = {  # the end of a site's name -> what flows there
    "embedding": "a vector for each token",
    "position": "positions, the same for all texts",
    "query": "queries of each head; keys and values have the same shape",
    "weights": "a map for each text and head",
    "head_output": "what each head gathers",
    "output": "what the sub-layer adds",
    "hidden": "hidden units",
    "residual_after": "what goes on",
    "final_norm": "after the final norm",
    "logits": "logits",
}


def shapes_of_run(
    *, config: TransformerConfig, classes: int, causal: bool, texts: int, length: int
) -> tuple[Mapping[str, tuple[int, ...]], Tensor, Tensor | None, Tensor | None]:
    """Site -> the shape of what passed it; the weights of layer 1, (batch, head, query, key); and what
    nn.MultiheadAttention with the same matrices returns: as it is called by default, and with a map for each head. It
    has no place for a scheme of positions inside the attention, and for other kinds of attention: None then.
    """
    model = (SequenceClassifier(config, classes) if classes else Transformer(config)).eval()
    drawn = torch.Generator().manual_seed(0)
    inputs = [
        torch.randint(min(1, config.vocab_size - 1), config.vocab_size, (texts, length), generator=drawn)
        for _ in range(1 + (config.architecture == "encoder-decoder"))
    ]
    stack = "encoder." if len(inputs) > 1 else ""
    reads = f"{stack}layers.0.self_attention.{'normed' if config.norm == 'pre' else 'residual_before'}"
    kept = f"{stack}layers.0.self_attention.weights", reads
    shapes: dict[str, tuple[int, ...]] = {"token ids": (texts, length)}
    handed = {"mask": causal_mask(length)} if causal and not classes and config.architecture == "encoder" else {}

    def note(site: str, x: Tensor) -> None:
        shapes[site] = tuple(x.shape)

    with torch.no_grad(), recording(kept if config.attention == "full" else (), watch={"*": note}) as trace:
        model(*inputs, **handed)
    first = model.get_submodule(f"{stack.rstrip('.') or 'stack'}.layers.0.self_attention")
    by_default, of_heads = None, None
    ways = POSITIONAL[config.positional].enters()
    plain = "rotate" not in ways and "bias_at" not in ways and config.attention == "full"
    if plain and isinstance(first, MultiHeadAttention):
        x, hidden = trace[reads], None
        if handed or config.architecture == "decoder":
            hidden = ~causal_mask(length)
        with torch.no_grad():
            _, by_default = as_torch(first)(x, x, x, attn_mask=hidden)
            _, of_heads = as_torch(first)(x, x, x, attn_mask=hidden, average_attn_weights=False)
    weights = trace[kept[0]] if config.attention == "full" else torch.zeros(0)
    return shapes, weights, by_default, of_heads


class _Run(NamedTuple):
    shapes: Mapping[str, tuple[int, ...]]
    weights: tuple[int, ...]
    by_default: tuple[int, ...]
    of_heads: tuple[int, ...]
    apart: float
    """The largest difference between torch's maps and ours."""
    from_mean: float
    """The largest difference between what torch returns by default and the mean of our maps over the heads."""
    row: float
    """How far a row of weights is from a sum of 1, at most."""
    seconds: float


@cached()
def _run(config: TransformerConfig, classes: int, causal: bool, texts: int, length: int) -> _Run:
    """The run, without its tensors: shapes and differences alone are kept."""
    begin = time.perf_counter()
    shapes, weights, by_default, of_heads = shapes_of_run(
        config=config, classes=classes, causal=causal, texts=texts, length=length
    )
    seconds = time.perf_counter() - begin
    if by_default is None or of_heads is None:
        return _Run(shapes, tuple(weights.shape), (), (), 0.0, 0.0, 0.0, seconds)
    apart, from_mean = float((of_heads - weights).abs().max()), float((by_default - weights.mean(1)).abs().max())
    row = float((weights.sum(-1) - 1).abs().max())
    of_ours, of_mean, of_maps = (tuple(each.shape) for each in (weights, by_default, of_heads))
    return _Run(shapes, of_ours, of_mean, of_maps, apart, from_mean, row, seconds)


class Passed(DiagramPanel):
    """The run of a batch through a shape."""

    title = "Run once"
    how_to_read = (
        "The shapes of what passed each stage, read from a real run with random weights on token ids drawn at random. "
        "A shape is (text of the batch, …); of weights (text, head, query, key). Set the batch in “More”."
    )
    sources = (shapes_of_run, as_torch, Stack.run)

    @cached_property
    def run(self) -> _Run:
        """The run."""
        chosen = self.chosen
        causal = self.masks(self.stack) and len(self.chosen.lengths) == 1
        return _run(chosen.config, chosen.classes, causal, self.state.batch, self.length)

    @property
    def length(self) -> int:
        """How many tokens each text has: no more than the model can read."""
        return min(self.state.batch_tokens, self.config.max_len)

    @property
    def output(self) -> tuple[int, ...]:
        """The shape of what leaves the last layer."""
        layers = [shape for site, shape in self.run.shapes.items() if site.endswith("feed_forward.residual_after")]
        return layers[-1]

    @property
    def shape(self) -> str:
        return f"{self.state.batch} texts × {self.length} tokens"

    def sentence(self) -> str:
        """What goes in, what comes out, and the weights, beside torch's."""
        run, last = self.run, [*self.run.shapes.values()][-1]
        said = (
            f"{formats.count(self.parameters)} parameters were drawn, and a batch of {self.state.batch} texts of "
            f"{self.length} tokens went through: the last layer gives {written(self.output)}, the end {written(last)}."
        )
        if not run.by_default:
            return f"{said} nn.MultiheadAttention has no place for what this attention does, and stands not beside it."
        return (
            f"{said} Weights are {written(run.weights)} in each layer, a map for each text and head. "
            f"nn.MultiheadAttention with the matrices of layer 1 returns {written(run.by_default)} unless told "
            "otherwise, the average over the heads; with average_attn_weights=False it returns "
            f"{written(run.of_heads)}."
        )

    def laws(self) -> dict[str, bool]:
        """What torch returns, beside ours."""
        run = self.run
        if not run.by_default:
            return {}
        return {
            f"torch’s maps are ours (largest difference {formats.tiny(run.apart)})": run.apart < ROUNDING,
            "what torch returns by default is the mean of our maps over the heads (largest difference "
            f"{formats.tiny(run.from_mean)})": run.from_mean < ROUNDING,
            f"each row of weights sums to 1 (largest difference {formats.tiny(run.row)})": run.row < ROUNDING,
        }

    @property
    def stages(self) -> dict[str, tuple[int, ...]]:
        """Stage -> its shape: layer 1 in detail, of other layers the weights and what goes on."""
        stages = {}
        for site, shape in self.run.shapes.items():
            end, in_layer = site.split(".")[-1], "layers." in site
            inside = IN_LAYER_1 if "layers.0." in site else ("weights", "residual_after")
            if site != "token ids" and (end not in ABOUT or (in_layer and end not in inside)):
                continue
            stages[site] = shape
            if end == "weights" and site.endswith(WEIGHTS) and self.run.by_default and "decoder." not in site:
                stages["nn.MultiheadAttention"] = self.run.by_default
        return stages

    def table(self) -> pd.DataFrame:
        """A row per stage."""
        rows = [
            {"stage": site, "shape": written(shape), "what it is": ABOUT.get(site.split(".")[-1], _else(site))}
            for site, shape in self.stages.items()
        ]
        return pd.DataFrame(rows).set_index("stage")

    @property
    def open_table(self) -> OpenTable:
        """All of it."""
        return OpenTable(columns={})

    def tools(self) -> None:
        """How long it took: another time it takes another time, so no sentence says it."""
        st.caption(f"Drawing the weights and running the batch took {self.run.seconds:.2f} s on this server.")

    def recipe(self) -> str:
        """A script that leaves `shapes`, `weights`, `by_default` and `of_heads`."""
        causal = self.masks(self.stack) and len(self.chosen.lengths) == 1
        sizes = {"texts": self.state.batch, "length": self.length}
        of_model = {"classes": self.chosen.classes, "causal": causal}
        return script(shapes_of_run, config=config_code(self.config), **of_model, **sizes)


def _else(site: str) -> str:
    return "whole numbers" if site == "token ids" else "by default: the average over the heads"


def written(shape: tuple[int, ...]) -> str:
    """A shape as it is written."""
    return f"({', '.join(map(formats.count, shape))})"


def why_not_run(model: ModelState, state: ModelLensState) -> str:
    """Why a shape that is asked to run is only counted; "" if it runs."""
    panel = Passed(model, state)
    if panel.chosen.target_words or panel.chosen.bias:
        return "This library’s transformer has one table for both texts and no bias at its output: this is counted."
    n, classes = panel.length, panel.chosen.classes
    costs = (block_costs(item.block, panel.config, n, n, classes) for item in panel.items)
    numbers = state.batch * sum(term.value for cost in costs for term in cost.space)
    if panel.parameters > MOST_PARAMETERS or numbers > MOST_NUMBERS:
        return (
            f"This is too large to be run at once: shapes of up to {formats.count(MOST_PARAMETERS)} parameters are, "
            f"which write up to {formats.count(MOST_NUMBERS)} numbers."
        )
    return ""


def runs(model: ModelState, state: ModelLensState) -> bool:
    """Whether a batch is run through the shape."""
    return state.shape != THIS and state.run and not why_not_run(model, state)


def run_of(model: ModelState, state: ModelLensState) -> list[ModelPanel | Note]:
    """What is shown of the run: the panel, or why there is none; nothing where no run is asked for."""
    if state.shape == THIS or not state.run:
        return []
    why = why_not_run(model, state)
    return [Note(why)] if why else [Passed(model, state)]
