"""How strongly the last output depends on each input before it, in five networks of as many parameters."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import TransformerConfig, gradient_by_distance
from tfm_core.profiling.closed_forms_others import OfEqualCount
from tfm_core.profiling.targets_others import Convolutions, Recurrence
from tfm_core.study.recurrences import recurrences
from tfm_ui.jobs import networks
from tfm_ui.jobs.exact import DRAWS, Draws
from tfm_ui.jobs.networks import NAMES, gradients, in_parts, parameters_of, remembered
from tfm_ui.lenses.model.machine import ModelPanel, drawn_config_of
from tfm_ui.lenses.model.state import PREFIX, ModelLensState, most_draws
from tfm_ui.live.cache import grown
from tfm_ui.live.exact import MISSING, Exact
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.script import config_code, script
from tfm_ui.page import exact_bar
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER, weight_bytes
from tfm_ui.text import formats, units

WRITTEN_OUT = 10_000  # larger factors are written with a power of ten
LARGE = 1_000_000  # a network of more parameters takes a turn of its own
SECONDS = 4.0  # that all draws may take together; one is always made
# What a draw takes on one core of the machine that this was written on, for each parameter of the transformer: to make
# five networks, and for each token to run them forward and back.
TO_MAKE, PER_TOKEN = 5.5e-8, 1.6e-9
MOST = 12_000_000  # parameters of a network of a pretrained model's kind; larger ones would take minutes, and 2 GB
ALIKE = 0.05  # counts of parameters that are closer are called about equal
COLOURS = dict(zip(NAMES, ("ink", "head 1", "head 2", "head 3", "head 4"), strict=True))


def takes_long(config: TransformerConfig, *, causal: bool) -> bool:
    """Whether five networks of this size are computed after others."""
    return parameters_of(config, causal=causal) > LARGE


def transformer_of(model: ModelState, state: ModelLensState) -> TransformerConfig:
    """The transformer that is compared: without embedding and output, with random weights; of a large pretrained model
    one of its kind that is narrower, in as many layers and heads.
    """
    config = replace(drawn_config_of(model, state), head="logits", pooler=False, num_token_types=0)
    if not model.pretrained:
        return config

    def narrowed(head_dim: int) -> TransformerConfig:
        width = config.num_heads * head_dim
        return replace(config, d_model=width, d_ff=round(config.feed_forward_dim * width / config.d_model))

    def fits(head_dim: int) -> bool:
        return parameters_of(narrowed(head_dim), causal=model.masks_the_future) <= MOST

    # Heads stay of an even width, which RoPE needs.
    return config if fits(config.head_dim) else narrowed(max(filter(fits, range(2, config.head_dim, 2)), default=2))


Lengths = Mapping[str, Tensor]  # network -> lengths of gradients, (draw, distance)


def drawn(
    config: TransformerConfig, tokens: int, kernel: int, start: str, *, causal: bool, draws: int
) -> tuple[Lengths, Mapping[str, int]]:
    """What `networks.gradients` gives, kept: of more draws only those that there are not yet are made."""
    how = tokens, kernel, start
    known: tuple[Lengths, Mapping[str, int]] = {}, {}
    for part, more in in_parts(config, tokens, draws, causal=causal):
        enough = part.seed - config.seed + more
        known = grown(
            ("distance", config, *how, causal),
            partial(_drawn_on, config, how, causal, enough),
            is_enough=partial(_has, enough),
            heavy=lambda _: takes_long(config, causal=causal),
        )
    lengths, parameters = known
    return {name: of_network[:draws] for name, of_network in lengths.items()}, parameters


def _has(enough: int, known: tuple[Lengths, Mapping[str, int]]) -> bool:
    """Whether there are enough draws."""
    return len(known[0]["transformer"]) >= enough


def _drawn_on(
    config: TransformerConfig,
    how: tuple[int, int, str],
    causal: bool,
    enough: int,
    known: tuple[Lengths, Mapping[str, int]] | None,
) -> tuple[Lengths, Mapping[str, int]]:
    """What there is, and beside it the draws that are missing."""
    made = len(known[0]["transformer"]) if known else 0
    missing = replace(config, seed=config.seed + made)
    lengths, parameters = gradients(missing, *how, causal=causal, draws=enough - made)
    if known:
        lengths = {name: torch.cat([known[0][name], lengths[name]]) for name in lengths}
    return lengths, parameters


def over_draws(
    lengths: Mapping[str, Tensor],
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Network -> median, lowest and highest of all draws, (distance); from network -> lengths, (draw, distance)."""
    medians = {name: values.quantile(0.5, dim=0) for name, values in lengths.items()}
    lowest = {name: values.amin(0) for name, values in lengths.items()}
    highest = {name: values.amax(0) for name, values in lengths.items()}
    return medians, lowest, highest


def reach(
    *, config: TransformerConfig, tokens: int, seeds: int, kernel: int, start: str, causal: bool
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, int]]:
    """Network -> median, lowest and highest length of the gradient over the seeds, (distance); and its parameters."""
    parts = [
        gradients(first, tokens, kernel, start, causal=causal, draws=draws)
        for first, draws in in_parts(config, tokens, seeds, causal=causal)
    ]
    parameters = parts[0][1]
    lengths = {name: torch.cat([of_part[name] for of_part, _ in parts]) for name in parameters}
    medians, lowest, highest = over_draws(lengths)
    return medians, lowest, highest, parameters


def needs_of_networks(model: ModelState, state: ModelLensState) -> int:
    """The bytes that a network takes, of as many parameters as the transformer, while it is made float64, or with what
    it remembers for the gradient of a few tokens; one network after the other, or several small ones at once, beside
    the model of the page.
    """
    config, double = transformer_of(model, state), 2 * NUMBER
    count = parameters_of(config, causal=model.masks_the_future)
    of_network = max(2 * double * count, double * count + 2 * double * remembered(config, state.reach_length))
    [(_, at_once), *_] = in_parts(config, state.reach_length, state.reach_seeds, causal=model.masks_the_future)
    return weight_bytes(model.config) + at_once * of_network + LITTLE


class FiveNetworks(ModelPanel):
    """A panel on the transformer with the lens's attention and the other networks, and on draws of their weights."""

    slow = True  # ten draws of five small networks take 100 ms

    @cached_property
    def config(self) -> TransformerConfig:
        """The transformer of the first draw; each further draw has the next seed."""
        return transformer_of(self.model, self.state)

    @property
    def causal(self) -> bool:
        """Whether an encoder gets a causal mask."""
        return self.model.masks_the_future

    @property
    def tokens(self) -> int:
        """How many tokens the networks read."""
        return self.state.reach_length

    @property
    def takes_long(self) -> bool:
        """Whether networks of this size are computed after others."""
        return takes_long(self.config, causal=self.causal)

    @property
    def _seconds_each(self) -> float:
        """What a draw takes, roughly."""
        return parameters_of(self.config, causal=self.causal) * (TO_MAKE + PER_TOKEN * self.tokens)

    @property
    def quick_draws(self) -> int:
        """The number of draws that are asked for, or as many as there is time for while the reader waits."""
        in_time = max(1, int(SECONDS / self._seconds_each))
        return min(self.state.reach_seeds, most_draws(self.model), in_time)

    @cached_property
    def exact(self) -> Exact | None:
        """All draws that the reader asks for; None if all are made while the reader waits."""
        state, seeds = self.state, self.state.reach_seeds
        if self.quick_draws == seeds:
            return None
        return Exact(
            job=DRAWS,
            argument=Draws(self.config, self.tokens, state.reach_kernel, state.reach_start, self.causal, seeds),
            seconds=seeds * self._seconds_each,
            numbers=len(NAMES) * seeds * (self.tokens + 1),
            needs=needs_of_networks(self.model, state),
            by_hand=f"with seeds = {seeds}",
        )

    @cached_property
    def whole(self) -> Mapping[str, Tensor] | None:
        """What was computed in full; None if the draws are made while the reader waits."""
        return self.exact.shown(self.state.whole) if self.exact else None

    @property
    def missing(self) -> bool:
        """Whether the link asks for what was computed in full, and the server does not have it."""
        return self.exact is not None and self.whole is None and self.exact.is_named(self.state.whole)

    @property
    def seeds(self) -> int:
        """How many draws of weights there are."""
        return self.state.reach_seeds if self.whole else self.quick_draws

    @cached_property
    def _draws(self) -> tuple[Mapping[str, Tensor], Mapping[str, int]]:
        if whole := self.whole:
            return {name: whole[name] for name in NAMES}, {name: int(whole[f"{name}, parameters"]) for name in NAMES}
        how = (self.tokens, self.state.reach_kernel, self.state.reach_start)
        return drawn(self.config, *how, causal=self.causal, draws=self.seeds)

    @property
    def lengths(self) -> Mapping[str, Tensor]:
        """Network -> lengths of gradients, (draw, distance)."""
        return self._draws[0]

    @property
    def parameters(self) -> Mapping[str, int]:
        """Network -> how many parameters it has."""
        return self._draws[1]


class Distance(FiveNetworks):
    """The reach of gradients in the sidebar's model with the lens's attention, beside the other networks."""

    title = "What still reaches the last output"
    how_to_read = (
        "Each line: how much the last output changes with the input at this distance, the median of all "
        "draws of random weights; thin: lowest and highest draw. A line ends where the gradient is exactly 0."
    )
    sources = (
        gradient_by_distance,
        networks.gradients_of,
        networks.read_at_once,
        recurrences,
        networks.network_of,
        networks.start_as_torch,
        OfEqualCount.width,
        Recurrence.forward,
        Convolutions.forward,
        nn.RNN.forward,
    )
    canvas = CHART
    needs = needs_of_networks

    @cached_property
    def over_draws(self) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, Tensor]]:
        """Network -> the median, the lowest and the highest of all draws, (distance)."""
        return over_draws(self.lengths)

    def furthest(self, name: str) -> int:
        """The largest distance at which any draw has a gradient that is not 0."""
        return max((self.lengths[name] > 0).any(0).nonzero().flatten().tolist(), default=0)

    def fall(self, name: str) -> float:
        """The median at distance 1 over that at the largest distance; infinite if nothing arrives there."""
        medians, _, _ = self.over_draws
        near, far = float(medians[name][1]), float(medians[name][-1])
        return near / far if far > 0 else math.inf

    def apart(self) -> float:
        """How far the counts of parameters are from the transformer's, at most, as a part of it."""
        wanted = self.parameters["transformer"]
        return max(abs(number / wanted - 1) for number in self.parameters.values())

    def flattest(self) -> list[str]:
        """The networks whose gradient changes least between the two distances, among those that reach both."""
        changes = {name: abs(math.log(self.fall(name))) for name in NAMES if 0 < self.fall(name) < math.inf}
        least = min(changes.values(), default=0.0)
        return [name for name, change in changes.items() if change <= least + 1e-9]

    @property
    def shape(self) -> str:
        return f"network × draw × distance = {len(NAMES)} × {self.seeds} × {self.tokens}"

    def tools(self) -> None:
        """Draw the button that makes all draws, where a part of them is shown."""
        if self.exact:
            exact_bar.draw(self.exact, self.state.whole, PREFIX)

    def sentence(self) -> str:
        """The factor by which each gradient falls, which changes least, and what cannot be concluded."""
        last, falls = self.tokens - 1, {name: self.fall(name) for name in NAMES}
        arriving = [f"{_change(falls[name])} in the {_named(name)}" for name in NAMES if 0 < falls[name] < math.inf]
        short = [
            f"In the {_named(name)} nothing arrives from further than {formats.plural(self.furthest(name), 'token')}: "
            "beyond, the gradient is exactly 0."
            for name in NAMES
            if falls[name] == math.inf
        ]
        flattest = formats.listed([f"the {_named(name)}" for name in self.flattest()])
        flat = [f"{'Of these it' if short else 'It'} changes least in {flattest}."] if len(arriving) > 1 else []
        from_to = f"From distance 1 to distance {last}, the median gradient of the last output"
        made, asked = self.seeds, self.state.reach_seeds
        are = "is" if made == 1 else "are"
        fewer = f"Of {asked} draws {made} {are} made, as networks of this size take seconds."
        how_many = fewer if made < asked else f"All {made} draws were made." if self.whole else ""
        return " ".join(
            [
                *([f"{from_to} {formats.listed(arriving)}."] if arriving else []),
                *flat,
                *short,
                *filter(None, [MISSING if self.missing else "", how_many]),
                "No weight was trained: this shows what can get through before anything is learned, not what a trained "
                "network remembers.",
            ]
        )

    def table(self) -> pd.DataFrame:
        """A row per distance: for each network the median, the lowest and the highest of all draws."""
        columns: dict[str, NDArray[Any]] = {}
        for name in NAMES:
            median, lowest, highest = (values[name].numpy() for values in self.over_draws)
            columns |= {name: median, f"{name}, lowest": lowest, f"{name}, highest": highest}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.tokens, name="distance"))

    def picture(self) -> Content:
        """The median of each network, between thin lines for the lowest and the highest draw."""
        around, medians = [], []
        for name in NAMES:
            distances = range(self.furthest(name) + 1)  # a line ends where nothing arrives any more
            median, *edges = (values[name][: len(distances)].tolist() for values in self.over_draws)
            around += [Line("", distances, edge, COLOURS[name], style="thin") for edge in edges]
            medians.append(Line(name, distances, median, COLOURS[name]))
        chart = Chart("distance from the last token, tokens", "gradient length", [*around, *medians], y_scale="log10")
        return lines.content([chart], gap="0")

    def laws(self) -> dict[str, bool]:
        """The number of parameters, and what a convolution can see."""
        kernel, layers = self.state.reach_kernel, self.config.num_layers
        field = min(self.tokens - 1, layers * (kernel // 2))
        whole = all(bool((self.lengths[name] > 0).all()) for name in networks.RECURRENT)
        ends = "the first token" if field == self.tokens - 1 else f"distance {field} = layers × (kernel − 1) / 2"
        return {
            f"the five counts of parameters differ by {formats.percent(self.apart())} at most": self.apart() < ALIKE,
            f"the convolution’s gradient reaches to {ends}, and no further": self.furthest("convolution") == field,
            "no recurrent network’s gradient is exactly 0 at any distance": whole,
        }

    def recipe(self) -> str:
        """A script that leaves `medians`, `lowest` and `highest` by network, (distance), and `parameters`."""
        return script(
            reach,
            config=config_code(self.config),
            tokens=self.tokens,
            seeds=self.seeds,
            kernel=self.state.reach_kernel,
            start=self.state.reach_start,
            causal=self.causal,
        )


def _named(name: str) -> str:
    """The name as it stands within a sentence."""
    return f"stack of {name}s" if name == "convolution" else name


def factor(value: float) -> str:
    """A factor in words: 4.2×, 4×10⁸ times."""
    return units.times(value) if value < WRITTEN_OUT else f"{formats.tiny(value)} times"


def _change(fall: float) -> str:
    """The change as the words that follow "the gradient"."""
    if f"{fall:.2g}" == "1":
        return "stays about the same"
    return f"{'shrinks' if fall > 1 else 'grows'} {factor(max(fall, 1 / fall))}"
