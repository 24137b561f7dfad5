"""Where each written token looked at the moment it was written.

The replay of a text moves heads, arcs and distribution together.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Course, MultiHeadAttention, Sampling, Transformer, TransformerConfig, generate, recording
from tfm_core.model.scaled_dot_product import weights_alone
from tfm_ui.lenses.generate.courses import Settings, course_of
from tfm_ui.lenses.generate.panel import CoursePanel, replay
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.script import script
from tfm_ui.pictures import figures, heatmaps
from tfm_ui.pictures.canvas import Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

LIKELIEST = 8  # tokens of the distribution that are drawn; fewer than `steps.ROWS`
TOO_SHORT = "Nothing was written after more than two tokens."


def figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The weights of the chosen head at all steps: a row per step, a column per token of the text."""
    if not header["tokens"]:
        return go.Figure(layout={"template": figures.TEMPLATE})
    text = [*header["prompt"], *header["tokens"]]
    steps, heads = len(header["tokens"]), header["layers"] * header["heads"]
    layer, head = header["picked"]
    table = np.full((steps, len(text)), np.nan, np.float32)
    start = 0
    for step, begin in enumerate(header["begins"]):
        keys = len(header["prompt"]) + step - begin
        row = np.asarray(numbers, np.float32)[start : start + heads * keys].reshape(heads, keys)
        table[step, begin : begin + keys] = row[layer * header["heads"] + head]
        start += heads * keys
    heat = Heat(
        name=f"layer {layer + 1}, head {head + 1}",
        values=table,
        rows=Side(labels=numbered(header["tokens"]), title="written token", noun="written token", role="query"),
        columns=Side(labels=numbered(text), title="key", noun="key", role="key"),
        scale=from_zero(header["largest"]),
        unit="weight",
    )
    return heatmaps.figure([heat])


def weights_by_step(model: Transformer, course: Course) -> list[Tensor]:
    """The weights of the position that wrote each step: (layer, head, key), keys from its context's first on.

    A causal model's weights do not change when tokens follow, so a single pass over each context gives what each step
    saw when it was written.
    """
    last = {step.begin: len(course.prompt) + step.number for step in course.steps}
    passes = {}
    for begin, end in last.items():
        with torch.no_grad(), recording("*.self_attention.weights") as trace:
            model(torch.tensor([course.tokens[begin:end]]))
        layers = range(model.config.num_layers)
        passes[begin] = torch.stack([trace[f"layers.{layer}.self_attention.weights"][0] for layer in layers])
    rows = []
    for step in course.steps:
        length = len(course.prompt) + step.number - step.begin
        rows.append(passes[step.begin][:, :, length - 1, :length])
    return rows


@cached()
def rows_of(model: ModelState, settings: Settings) -> list[NDArray[np.float32]]:
    """The weights at each step, of all heads."""
    return [row.numpy() for row in weights_by_step(transformer(model.config), course_of(model, settings))]


def looked(
    *,
    config: TransformerConfig,
    prompt: Sequence[int],
    sampling: Sampling,
    steps: int,
    forced: Mapping[int, int],
    context: int,
    when_full: str,
    layer: int,
    head: int,
) -> tuple[list[int], list[Tensor]]:
    """The tokens that are written, and the weights (key) of the position that wrote each."""
    model = Transformer(config).eval()
    writing = generate(model, prompt, sampling, steps=steps, forced=forced, context=context, when_full=when_full)
    tokens = [step.token for step in writing]
    rows = [weights[layer, head] for weights in weights_by_step(model, writing.course())]
    return tokens, rows


class Look(CoursePanel):
    """Where a head looked, step by step."""

    title = "Where each token looked"
    how_to_read = (
        "The amber token was written at the token before it, whose row of weights is shown as it was. "
        "The text is coloured by the chosen head’s weights, arcs show its largest; below is a row for each head. "
        "Click a row to choose its head. Weights say where a head looked, not why a token was written: what it "
        "gathered there passes through all layers."
    )
    sources = (weights_by_step, weights_alone, MultiHeadAttention.forward, generate)
    canvas = replay("look", figure)

    @property
    def head(self) -> int:
        """The head that is looked at, from 0."""
        return self.state.head - 1

    @cached_property
    def rows(self) -> list[NDArray[np.float32]]:
        """The weights of all heads at each step."""
        return rows_of(self.model, self.settings)

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """(layer, head, 3): the mean weight on the first token of the context, the token before, and the token itself.

        Steps whose context is a single token are left out.
        """
        longer = [row for row in self.rows if row.shape[-1] > 2]
        if not longer:
            return np.full((self.model.num_layers, self.model.num_heads, 3), np.nan)
        places = [np.stack([row[..., 0], row[..., -2], row[..., -1]], -1) for row in longer]
        means: NDArray[np.float64] = np.mean(places, 0, dtype=np.float64)
        return means

    @property
    def shape(self) -> str:
        return f"layers × heads = {self.model.num_layers} × {self.model.num_heads}"

    def sentence(self) -> str:
        """What this head does on average, and which head looks most at the token before."""
        if np.isnan(self.means).any():
            return TOO_SHORT
        first, before, itself = (formats.weight(float(share)) for share in self.means[self.layer, self.head])
        name, most = head_with_most(self.means[..., 1])
        return (
            f"While {formats.plural(len(self.rows), 'token')} were written, head {self.head + 1} of layer "
            f"{self.layer + 1} gave, on average, {first} of its weight to the first token of the context, {before} to "
            f"the token before the last, and {itself} to the last token itself. {name.capitalize()} gave the token "
            f"before the last the most: {most}."
        )

    def table(self) -> pd.DataFrame:
        """A row per step: where the head looked most."""
        text, prompt = [*self.prompt, *self.pieces], len(self.prompt)
        rows = []
        for number, (row, begin) in enumerate(zip(self.rows, self.begins, strict=True)):
            weights = row[self.layer, self.head]
            at = int(weights.argmax())
            rows.append(
                {
                    "step": number + 1,
                    "written": text[prompt + number],
                    "last token": text[prompt + number - 1],
                    "looked most at": text[begin + at],
                    "its place": begin + at + 1,
                    "weight": float(weights[at]),
                    "on the token before the last": float(weights[-2]) if len(weights) > 1 else float("nan"),
                }
            )
        return pd.DataFrame(rows).set_index("step")

    def laws(self) -> dict[str, bool]:
        """What must hold of the weights."""
        return {
            "each head’s weights sum to 1 at each step": all(
                bool(np.allclose(row.sum(-1), 1, atol=1e-5)) for row in self.rows
            )
        }

    def picture(self) -> Content:
        """The likeliest tokens of each step, and the weights of all heads."""
        pieces, is_greedy = self.model.tokens_by.pieces, self.settings.sampling.greedy
        header = {
            "prompt": self.prompt,
            "tokens": self.pieces,
            "forced": [step.forced for step in self.course.steps],
            "begins": self.begins,
            "layers": self.model.num_layers,
            "heads": self.model.num_heads,
            "picked": [self.layer, self.head],
            "largest": max((float(row.max()) for row in self.rows), default=1.0),
            "likeliest": [
                [
                    [pieces[int(token)], share if is_greedy else final]  # nothing is cut of a greedy choice
                    for token, _, share, final, _ in self.steps.candidates(step)[:LIKELIEST].tolist()
                ]
                for step in range(len(self.rows))
            ],
            "chances": (self.steps.shares if is_greedy else self.steps.finals).tolist(),
        }
        return header, np.concatenate([np.zeros(0, np.float32), *(row.ravel() for row in self.rows)])

    def recipe(self) -> str:
        """A script that leaves `tokens` and `rows`, the weights of each step."""
        return script(looked, **self.arguments(), layer=self.layer, head=self.head)


def head_with_most(weights: NDArray[np.floating[Any]]) -> tuple[str, str]:
    """The head that has the largest of these weights, (layer, head), as a sentence calls it; and that weight."""
    most = places_of_largest(weights)
    layer, head = divmod(most[0], weights.shape[1])
    return f"head {head + 1} of layer {layer + 1}{one_of_ties(len(most))}", formats.weight(float(weights[layer, head]))
