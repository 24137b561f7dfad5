"""The live model: its residual stream, and a row of its weights in training mode, where dropout draws."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock

import pandas as pd
import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, TransformerLayer, recording
from tfm_core.study.depth import mean_cosine
from tfm_ui.lenses.model import machine
from tfm_ui.lenses.model.machine import LayerPanel, SubLayerPanel, inputs_of, modules_of, prefix
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import passes
from tfm_ui.live.cache import cached
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import places_of_largest

SITES = {"before": "residual_before", "adds": "output", "after": "residual_after"}
DRAWS = 16
READ = 64  # tokens, in training mode: each draw is a pass of its own
WEIGHTS = "*layers.*.self_attention.weights"

Weights = Mapping[str, Tensor]
_drawing = Lock()  # dropout draws from torch's one generator, whose seed another thread would set anew


def stream_of(
    trace: Mapping[str, Tensor], sites: Mapping[str, str], sub_layers: Sequence[str], read: Sequence[int]
) -> Mapping[str, Mapping[str, Tensor]]:
    """Sub-layer -> the residual stream "before" and "after" it and what it "adds", (token, d_model)."""
    return {name: {what: trace[f"{name}.{site}"][0, list(read)] for what, site in sites.items()} for name in sub_layers}


def residual_stream(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    sites: Mapping[str, str],
    sub_layers: Sequence[str],
    read: Sequence[int],
) -> Mapping[str, Mapping[str, Tensor]]:
    """What `stream_of` gives, for one pass."""
    wanted = [f"{name}.{site}" for name in sub_layers for site in sites.values()]
    with torch.no_grad(), recording(wanted) as trace:
        Transformer(config).eval().states(*inputs, mask=mask)
    stream = stream_of(trace, sites, sub_layers, read)
    return stream


def dropped(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    read: int,
    rate: float,
    draws: int,
    sites: str,
) -> tuple[Weights, Weights]:
    """Site -> weights, when the first tokens alone are read: in evaluation mode, (head, query, key), and in training
    mode, with a first axis for the draws, each from its own seed.
    """
    inputs = [text[:, :read] for text in inputs]
    mask = None if mask is None else mask[:read, :read]
    model = Transformer(replace(config, dropout=rate)).eval()
    with torch.no_grad(), recording(sites) as trace:
        model.states(*inputs, mask=mask)
    calm = {site: weights[0] for site, weights in trace.items()}
    each: dict[str, list[Tensor]] = {site: [] for site in calm}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model.train()
        for draw in range(draws):
            torch.default_generator.manual_seed(draw)  # of the processor alone, which is quick
            with recording(sites) as trace:
                model.states(*inputs, mask=mask)
            for site, weights in trace.items():
                each[site].append(weights[0])
    trained = {site: torch.stack(weights) for site, weights in each.items()}
    return calm, trained


@cached()
def in_both_modes(model: ModelState, config: TransformerConfig, rate: float) -> tuple[Weights, Weights, float]:
    """Weights in evaluation mode, their draws in training mode, and how far off training mode without dropout is."""
    inputs, mask = inputs_of(model)
    run = partial(dropped, config=config, inputs=inputs, mask=mask, read=READ, sites=WEIGHTS)
    with _drawing:
        calm, trained = run(rate=rate, draws=DRAWS)
        _, without = run(rate=0.0, draws=1)
    return calm, trained, max(float((without[site][0] - calm[site]).abs().max()) for site in calm)


def needs_of_stream(model: ModelState, _: ModelLensState) -> int:
    """A pass, and what stands before and after each sub-layer and what it adds, which is kept."""
    sub_layers = (5 if model.is_encoder_decoder else 2) * model.num_layers
    return passes.needs(model) + NUMBER * 3 * sub_layers * model.longest * model.d_model


def needs_of_draws(model: ModelState, _: ModelLensState) -> int:
    """A pass, and the weights of all heads, which are kept of each draw, and of evaluation mode."""
    tokens = min(READ, model.longest)
    attentions = (3 if model.is_encoder_decoder else 1) * model.num_layers
    return passes.needs(model) + NUMBER * 2 * (DRAWS + 2) * attentions * model.num_heads * tokens**2


class StreamLengths(LayerPanel):
    """How long the vectors of the residual stream are, and how much each sub-layer of the stack adds."""

    title = "The residual stream of the live model"
    how_to_read = (
        "Mean length: of the vectors before and after each sub-layer, and of what it adds. Mean "
        "cosine: how alike tokens are. Without padding."
    )
    sources = (TransformerLayer._add, mean_cosine)
    canvas = CHART
    needs = needs_of_stream

    @cached_property
    def sub_layers(self) -> dict[str, str]:
        """The name of each sub-layer in a recording -> its label, in their order."""
        crosses = ("cross_attention",) * (self.model.is_encoder_decoder and self.stack == "decoder")
        kinds = ("self_attention", *crosses, "feed_forward")
        return {
            f"{prefix(self.model, self.stack)}layers.{layer}.{kind}": f"{kind.replace('_', '-')} {layer + 1}"
            for layer in range(self.model.num_layers)
            for kind in kinds
        }

    @property
    def places(self) -> list[str]:
        """A label per sub-layer."""
        return list(self.sub_layers.values())

    @cached_property
    def positions(self) -> list[int]:
        """Where there is no padding; the first position of a text that is all padding."""
        return [at for at, token in enumerate(self.tokens.ids) if token != self.config.pad_id] or [0]

    @cached_property
    def ends(self) -> Mapping[str, Mapping[str, Tensor]]:
        """Sub-layer -> "before", "adds" and "after", (token, d_model); all of them in one pass."""
        trace = machine.read(self.model, self.config, tuple(f"*layers.*.{site}" for site in SITES.values()))
        return stream_of(trace, SITES, list(self.sub_layers), self.positions)

    def lengths(self, what: str) -> list[float]:
        """The mean length over the tokens, for each sub-layer."""
        return [float(ends[what].double().norm(dim=-1).mean()) for ends in self.ends.values()]

    @cached_property
    def similarity(self) -> list[float]:
        """The mean cosine of two tokens before the first sub-layer and after each; NaN for a single token."""
        first, *_ = self.ends.values()
        streams = [first["before"], *(ends["after"] for ends in self.ends.values())]
        return [float(mean_cosine(values.double())) for values in streams]

    @property
    def shape(self) -> str:
        return formats.plural(len(self.places), "sub-layer")

    def sentence(self) -> str:
        """The mean lengths at the start and at the end, and which sub-layer adds most beside what it reads."""
        adds, before = self.lengths("adds"), self.lengths("before")
        shares = [a / b if b else 0.0 for a, b in zip(adds, before, strict=True)]
        most = max(range(len(shares)), key=shares.__getitem__)
        many = len(self.positions)
        what = f"mean length of the {formats.count(many)} vectors" if many > 1 else "length of the vector"
        start, end = formats.number(before[0]), formats.number(self.lengths("after")[-1])
        norm = (
            "Pre-norm: what is added stays in the stream."
            if self.config.norm == "pre"
            else "Post-norm: the norm after each sum sets the length anew."
        )
        return (
            f"The {what} goes from {start} to {end}. Beside "
            f"what it reads, {self.places[most]} adds most: {formats.number(adds[most])} to "
            f"{formats.number(before[most])}. {norm} "
            + self.model.if_random(
                "Random weights: which sub-layer adds most is no finding about trained models.",
                f"These weights were trained on {trained_on(self.model)}: it says what they do, and nothing of others.",
            )
        )

    def laws(self) -> dict[str, bool]:
        """Whether the sum is what comes out in pre-norm, and the normalised sum in post-norm."""
        worst = 0.0
        modules = modules_of(passes.transformer(self.config))
        for name, ends in self.ends.items():
            total = ends["before"] + ends["adds"]
            if self.config.norm == "post":
                with torch.no_grad():
                    total = modules.get_submodule(f"{name}_norm")(total)
            worst = max(worst, float((total - ends["after"]).abs().max()))
        what = "what was there + what is added" if self.config.norm == "pre" else "the norm of the sum"
        return {f"after each sub-layer the stream is {what} (largest error {formats.tiny(worst)})": worst < 1e-3}

    def table(self) -> pd.DataFrame:
        """A row per sub-layer."""
        return pd.DataFrame(
            {f"mean length {what}": self.lengths(what) for what in SITES}
            | {"mean cosine of two tokens after": self.similarity[1:]},
            index=pd.Index(self.places, name="sub-layer"),
        )

    def picture(self) -> Content:
        """The residual stream before and after each sub-layer, and what it adds."""
        places = list(range(1, len(self.places) + 1))
        drawn = [
            Line("stream after", places, self.lengths("after"), "query"),
            Line("what the sub-layer adds", places, self.lengths("adds"), "value"),
            Line("stream before", places, self.lengths("before"), "ink", "dashed"),  # in sight where both are alike
        ]
        charts = [Chart("sub-layer, in order", "mean length", drawn, reach=(0,))]
        if len(self.positions) > 1:
            cosine = Line("mean cosine", [0, *places], self.similarity, "result")
            charts.append(Chart("sub-layers passed", "mean cosine of two tokens", [cosine], reach=(0, 1)))
        return lines.content(charts)

    def recipe(self) -> str:
        """A script that leaves `stream`."""
        return self.script(residual_stream, sites=SITES, sub_layers=tuple(self.sub_layers), read=self.positions)


class TrainingMode(SubLayerPanel):
    """Dropout: a row of weights in training mode, draw by draw, beside the same row in evaluation mode."""

    sub_layer = "self_attention"
    sources = (dropped, TransformerLayer._drop, Transformer.forward)
    canvas = CHART
    needs = needs_of_draws
    slow = True  # a pass for each draw

    @property
    def token(self) -> int:
        """The chosen row, from 0, among the tokens that are read."""
        return min(super().token, READ - 1)

    @cached_property
    def _modes(self) -> tuple[Weights, Weights, float]:
        return in_both_modes(self.model, self.config, float(self.state.depth_dropout))

    @property
    def calm(self) -> Tensor:
        """(key), in evaluation mode, of the tokens that are read."""
        return self._modes[0][f"{self.site}.weights"][self.head - 1, self.token]

    @property
    def trained(self) -> Tensor:
        """(draw, key), in training mode."""
        return self._modes[1][f"{self.site}.weights"][:, self.head - 1, self.token]

    @property
    def off(self) -> float:
        """The largest difference between training mode with a dropout of 0 and evaluation mode."""
        return self._modes[2]

    @cached_property
    def names(self) -> list[str]:
        """A label per key."""
        return token_labels.labels(self.tokens)[: len(self.calm)]

    @cached_property
    def strongest(self) -> list[int]:
        """The keys of the largest weight in evaluation mode: more than one if they tie."""
        return places_of_largest(self.calm.numpy())

    @cached_property
    def visible(self) -> list[int]:
        """The keys that the mask does not hide from this query; all if it hides all."""
        weights = torch.cat([self.calm[None], self.trained])
        return torch.nonzero((weights > 0).any(0))[:, 0].tolist() or list(range(len(self.calm)))

    @cached_property
    def changed(self) -> int:
        """The number of draws in which another key has the largest weight."""
        return int((~torch.isin(self.trained.argmax(-1), torch.tensor(self.strongest))).sum())

    @property
    def title(self) -> str:
        return f"Dropout: the weights of “{self.names[self.token]}”, layer {self.layer}, head {self.head}"

    @property
    def how_to_read(self) -> str:
        cut = f", and only the first {READ} tokens are read" if len(self.tokens.ids) > READ else ""
        return (
            f"Dots: {len(self.trained)} passes in training mode, each from its own seed, beside evaluation "
            f"mode. Hidden keys are left out{cut}. Weights are recorded before their own dropout: what moves them is "
            "the dropout in all that they are computed from."
        )

    def sentence(self) -> str:
        """How far the largest weight moves, and how often another key has it."""
        query, key = self.names[self.token], self.strongest[0]
        if len(self.visible) == 1:
            or_else = ", or turn causal off" if self.model.masks_the_future else ""
            return (
                f"“{query}” sees one key, “{self.names[key]}”, and gives it all its weight at every "
                f"pass: dropout changes nothing here. Choose a later token{or_else}."
            )
        low, high = (float(end) for end in self.trained[:, key].aminmax())
        if not self.state.depth_dropout:
            return (
                "Dropout is 0: training mode and evaluation mode are the same. Choose a dropout above to see its draws."
            )
        return (
            f"In evaluation mode “{query}” gives “{self.names[key]}” "
            f"{formats.weight(float(self.calm[key]))}, at every pass. In training mode with a dropout of "
            f"{self.state.depth_dropout:g} this weight goes from {formats.weight(low)} to {formats.weight(high)} over "
            f"{len(self.trained)} draws; in {self.changed} of them another key has the largest. That is why weights "
            "are pictured in evaluation mode: in training mode each picture would be another draw."
        )

    def laws(self) -> dict[str, bool]:
        """Dropout is all that differs, and each row of weights, recorded before its own dropout, sums to 1."""
        sums = float((torch.cat([self.calm[None], self.trained]).double().sum(-1) - 1).abs().max())
        law = f"each draw’s row sums to 1 (largest error {formats.tiny(sums)})"
        row = {law: sums < 1e-4} if self.calm.any() else {}
        return row | {
            f"with a dropout of 0, training mode gives what evaluation mode gives (largest difference "
            f"{formats.tiny(self.off)})": self.off <= 1e-5,
        }

    def table(self) -> pd.DataFrame:
        """A row per key."""
        return pd.DataFrame(
            {
                "evaluation mode": self.calm.numpy(),
                "mean of the draws": self.trained.mean(0).numpy(),
                "standard deviation": self.trained.std(0).numpy(),
                "least": self.trained.amin(0).numpy(),
                "most": self.trained.amax(0).numpy(),
            },
            index=pd.Index(self.names, name="key"),
        )

    def picture(self) -> Content:
        """A dot per draw and key; the row in evaluation mode as dots of another colour."""
        keys = [key + 1 for key in self.visible]
        each = self.trained[:, self.visible].flatten().tolist()
        drawn = [
            Line("training mode, a dot per draw", keys * len(self.trained), each, "key", "dots"),
            Line("evaluation mode", keys, self.calm[self.visible].tolist(), "ink", "dots"),
        ]
        return lines.content([Chart("key, by its place in the text", "weight", drawn, reach=(0,))])

    def recipe(self) -> str:
        """A script that leaves `calm` and `trained`, site -> weights; the row is that of `head` and `token`."""
        return self.script(
            dropped, read=READ, rate=float(self.state.depth_dropout), draws=len(self.trained), sites=WEIGHTS
        )
