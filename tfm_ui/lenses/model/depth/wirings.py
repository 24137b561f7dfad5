"""The same text through many layers that are wired in four ways: what becomes of vectors and of gradients."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import (
    DepthSignal,
    Transformer,
    TransformerConfig,
    TransformerLayer,
    causal_mask,
    parameter_gradients,
    signals_by_depth,
)
from tfm_core.study.depth import mean_cosine
from tfm_ui.lenses.model.machine import ModelPanel, drawn_config_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Note, Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import KEPT_BY_GLIBC, NUMBER, weight_bytes
from tfm_ui.text import formats

READ, READ_OF_LARGE = 64, 24  # tokens at most, and of the largest stacks: more would take seconds
WORK = 2**30  # weights times tokens of a stack that is run through in a second or two under all wirings
WHAT = {"forward": "length ‖x‖", "backward": "gradient of the vectors", "similarity": "mean cosine"}
OF_PARAMETERS = "gradient of the parameters"


def rows_in_float64(embedding: nn.Embedding, ids: Sequence[int]) -> nn.Embedding:
    """The rows of these ids, in their order: of a large vocabulary, all others would take memory for nothing."""
    rows = embedding.weight[list(ids)].detach().double()
    return nn.Embedding(len(ids), rows.shape[1], _weight=rows)


def wired(
    *, config: TransformerConfig, ids: Sequence[int], causal: bool
) -> tuple[Mapping[str, DepthSignal], Mapping[str, Tensor]]:
    """Wiring -> lengths, gradients and similarities by layer, in float64, of one stack with the same weights; and, of
    the two wirings that models have, wiring -> the length of the gradient of each layer's last matrix.
    """
    stack = Transformer(config).eval().stack
    layers = [layer for layer in stack.layers if isinstance(layer, TransformerLayer)]
    positional = stack.positional.double()
    stack.embedding = rows_in_float64(stack.embedding, ids)
    for part in filter(None, (stack.token_types, stack.embedding_norm)):
        part.double()
    x = stack.place(stack.embed(torch.arange(len(ids))[None])).detach()
    mask = causal_mask(x.shape[1]) if causal else None
    signals = signals_by_depth(layers, x, mask=mask, positional=positional)
    norms = ["pre-norm", "post-norm"]
    of_parameters = parameter_gradients(layers, x, norms, mask=mask, positional=positional)
    return signals, of_parameters


signals = cached()(wired)


def stack_of(model: ModelState, state: ModelLensState) -> TransformerConfig:
    """The stack: an encoder or a decoder, as deep as is asked for, with the layers' weights of the sidebar's seed."""
    kind = "decoder" if model.architecture == "decoder" or model.masks_the_future else "encoder"
    return replace(drawn_config_of(model, state), architecture=kind, num_layers=state.depth)


def tokens_read(config: TransformerConfig) -> int:
    """How many tokens are read at most, by the size of the stack."""
    weights = weight_bytes(replace(config, vocab_size=1)) // NUMBER
    return min(READ, max(READ_OF_LARGE, WORK // weights))


def needs_of_wirings(model: ModelState, state: ModelLensState) -> int:
    """The bytes that the four wirings take: the stack; one layer in float64, with all that it remembers for its
    gradient under all wirings; and the vectors after each layer, with their gradients.
    """
    config = stack_of(model, state)
    tokens, wirings, double = min(tokens_read(config), model.length), 4, 2 * NUMBER
    rows = wirings * tokens
    layer = 3 * weight_bytes(replace(config, vocab_size=1, num_layers=1))  # a copy, and that in float64
    graph = double * (rows * (14 * config.d_model + 9 * config.feed_forward_dim) + 4 * config.num_heads * rows * tokens)
    streams = 3 * double * (state.depth + 1) * rows * config.d_model
    return weight_bytes(config) + weight_bytes(model.config) + layer + 2 * graph + streams + KEPT_BY_GLIBC


class Wirings(ModelPanel):
    """What is measured on one stack, in float64, under each wiring."""

    title = "Four wirings, the same weights"
    how_to_read = (
        "Pre-norm x + f(norm(x)); post-norm norm(x + f(x)); no residuals f(norm(x)); no norm x + f(x). "
        "Log scale. Length and gradient of the vectors: mean over tokens; the gradient of their product with random "
        "vectors at the end. Gradient of the parameters: of the output matrix of each layer’s feed-forward part, with "
        "a final norm after pre-norm. Xiong et al. 2020 speak of this one: near the output it shrinks with more "
        "layers in pre-norm, and not in post-norm."
    )
    sources: Sequence[Source] = (signals_by_depth, parameter_gradients, wired)
    canvas = CHART
    needs = needs_of_wirings
    slow = True  # 24 layers take 0.1 s, up and down

    @cached_property
    def config(self) -> TransformerConfig:
        """The stack: one encoder or decoder, as deep as is asked for."""
        return stack_of(self.model, self.state)

    @property
    def causal(self) -> bool:
        """Whether no token sees a later one."""
        return self.config.architecture == "decoder"

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """The tokens that are read, of two texts the first, without padding."""
        padding = self.model.config.pad_id
        text = [token for token in self.model.source_tokens.ids if token != padding]
        return tuple(text[: tokens_read(self.config)]) or (padding,)

    @cached_property
    def _measured(self) -> tuple[Mapping[str, DepthSignal], Mapping[str, Tensor]]:
        return signals(config=self.config, ids=self.ids, causal=self.causal)

    @property
    def by_wiring(self) -> Mapping[str, DepthSignal]:
        """Wiring -> what is measured of the vectors and of their gradients."""
        return self._measured[0]

    @property
    def of_parameters(self) -> Mapping[str, Tensor]:
        """Wiring -> (layers,), the length of the gradient of each layer's feed-forward output matrix."""
        return self._measured[1]

    @cached_property
    def means(self) -> dict[str, dict[str, NDArray[np.float64]]]:
        """Measure -> wiring -> the mean over tokens before the first layer and after each, (layers + 1)."""
        means = {
            measure: {
                wiring: getattr(signal, measure).reshape(self.config.num_layers + 1, -1).mean(-1).numpy()
                for wiring, signal in self.by_wiring.items()
            }
            for measure in WHAT
        }
        for wiring, lengths in means["forward"].items():  # vectors of zeros have no direction, nor such as overflow
            has_direction = (lengths > 0) & np.isfinite(lengths)
            means["similarity"][wiring] = np.where(has_direction, means["similarity"][wiring], np.nan)
        return means

    @property
    def depth(self) -> str:
        """How many layers there are, in words."""
        return formats.plural(self.config.num_layers, "layer")

    @property
    def shape(self) -> str:
        return f"{self.depth} × {formats.plural(len(self.ids), 'token')}"

    def factors(self, measure: str) -> dict[str, float]:
        """Wiring -> how many times as large it is at one end as at the other: where the signal arrives, over where it
        starts. Vectors arrive after the last layer, gradients before the first.
        """
        ends = (-1, 0) if measure == "forward" else (0, -1)
        with np.errstate(all="ignore"):
            return {wiring: float(mean[ends[0]] / mean[ends[1]]) for wiring, mean in self.means[measure].items()}

    def most_changed(self) -> str:
        """The wiring whose gradient changes by the largest factor, up or down."""
        sizes = {name: abs(_log(factor)) for name, factor in self.factors("backward").items()}
        return max(sizes, key=sizes.__getitem__)

    def sentence(self) -> str:
        """What each wiring does to vectors and to gradients."""
        return (
            f"On their way up through {self.depth}, vectors change their length by these factors: "
            f"{self._changes('forward')}. {self.gradients()} The weights are random: this is what training has to "
            "start from."
        )

    def gradients(self) -> str:
        """What each wiring does to the gradient of the vectors, and that of the parameters beside it."""
        return (
            f"The gradient of the vectors, on its way down: {self._changes('backward')}; it changes most with "
            f"{self.most_changed()}. The gradient of the parameters is another one: {self._of_parameters()}."
        )

    def _changes(self, measure: str) -> str:
        return ", ".join(f"{_times(factor)} {wiring}" for wiring, factor in self.factors(measure).items())

    def _of_parameters(self) -> str:
        """The gradient of the last layer's matrix, which Xiong et al. bound."""
        pre, post = (float(self.of_parameters[norm][-1]) for norm in ("pre-norm", "post-norm"))
        lengths = f"at the last layer’s output matrix it has a length of {formats.number(pre)} pre-norm and "
        return lengths + f"{formats.number(post)} post-norm" + (f" ({_times(post / pre)})" if pre else "")

    def laws(self) -> dict[str, bool]:
        """All begin alike at both ends, and a norm at the end of a layer sets the length."""
        starts = [signal.forward[0] for signal in self.by_wiring.values()]
        ends = [signal.backward[-1] for signal in self.by_wiring.values()]
        same = all(torch.equal(start, starts[0]) for start in starts) and all(torch.equal(end, ends[0]) for end in ends)
        post = self.by_wiring["post-norm"].forward[1:]
        longest = float(post.max()) if post.numel() else 0.0
        root = math.sqrt(self.config.d_model)
        return {
            "all four start with the same vectors and, at the end, with the same gradient": same,
            f"after a norm no vector is longer than √d_model = {formats.number(root)} (longest "
            f"{formats.number(longest)})": longest <= root * (1 + 1e-9),
        }

    def table(self) -> pd.DataFrame:
        """A row per place, a column per measure and wiring."""
        columns = {
            (words, wiring): self.means[measure][wiring] for measure, words in WHAT.items() for wiring in self.by_wiring
        }
        for wiring, lengths in self.of_parameters.items():  # nothing stands before the first layer
            columns[OF_PARAMETERS, wiring] = np.array([np.nan, *lengths.tolist()])
        index = pd.Index(["input", *(f"layer {at + 1}" for at in range(self.config.num_layers))], name="after")
        return pd.DataFrame(columns, index=index)

    def _charts(self, measured: Mapping[str, Mapping[str, NDArray[np.float64]]], **how: Any) -> Content:
        """A chart for each of what is measured, with a line per wiring, in the same colour in all of them."""
        colours = {wiring: f"head {at}" for at, wiring in enumerate(self.by_wiring, 1)}
        after = range(self.config.num_layers + 1)
        charts = []
        for name, by_wiring in measured.items():
            drawn = []
            for wiring, values in by_wiring.items():
                finite = np.where(np.isfinite(values), values, np.nan)  # inf has no place on an axis
                # Of parameters, nothing stands before the first layer.
                drawn.append(Line(wiring, after[-len(values) :], finite.tolist(), colours[wiring]))
            charts.append(Chart("layer, from the input (0) on", name, drawn, **how))
        return lines.content(charts)

    def picture(self) -> Content:
        """Lengths of vectors, of their gradients and of those of parameters at each layer."""
        measured = {WHAT[measure]: self.means[measure] for measure in ("forward", "backward")}
        measured[OF_PARAMETERS] = {name: lengths.numpy() for name, lengths in self.of_parameters.items()}
        return self._charts(measured, y_scale="log10")

    def recipe(self) -> str:
        """A script that leaves `signals` and `of_parameters`, wiring -> what is measured."""
        return script(wired, config=config_code(self.config), ids=list(self.ids), causal=self.causal)


class Alike(Wirings):
    """How alike the vectors of different tokens become, under each wiring."""

    title = "Do tokens become alike?"
    how_to_read = (
        "The mean cosine between the vectors of two different tokens after each layer: 0 is a right angle, "
        "1 the same direction."
    )
    sources = (mean_cosine, signals_by_depth)
    shape = ""

    @property
    def is_shown(self) -> bool:
        return len(self.ids) > 1

    def instead(self) -> Note:
        return Note(self.sentence())

    def sentence(self) -> str:
        """The mean cosine at both ends."""
        if not self.is_shown:
            return "A single token has no other to be compared with: read a longer text."
        means = self.means["similarity"]
        start = formats.number(float(next(iter(means.values()))[0]))
        ends = ", ".join(f"{self._end(wiring)} {wiring}" for wiring in means)
        return (
            f"The mean cosine between two different tokens is {start} before the first layer, and after {self.depth}: "
            f"{ends}. At 1 all tokens point the same way, and no later layer can tell them apart by direction."
        )

    def _end(self, wiring: str) -> str:
        """The mean cosine at the end, or why there is none."""
        cosine = float(self.means["similarity"][wiring][-1])
        if math.isfinite(cosine):
            return formats.number(cosine)
        return "none" + (" (vectors of zeros)" if self.means["forward"][wiring][-1] == 0 else " (too large)")

    def laws(self) -> dict[str, bool]:
        """A cosine lies between -1 and 1."""
        every = np.concatenate(list(self.means["similarity"].values()))
        return {"no mean cosine is beyond ±1": bool((np.abs(every[np.isfinite(every)]) <= 1 + 1e-9).all())}

    def picture(self) -> Content:
        """The mean cosine of two tokens after each layer."""
        return self._charts({"mean cosine of two different tokens": self.means["similarity"]}, reach=(0, 1))


def _log(factor: float) -> float:
    return math.log(factor) if 0 < factor < math.inf else math.inf


def _times(factor: float) -> str:
    if not math.isfinite(factor):
        return "∞ (too large to count)"
    return f"×\u202f{formats.number(factor)}" if 1e-3 <= factor < 1e4 else f"×\u202f{formats.tiny(factor)}"
