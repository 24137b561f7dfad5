"""How strongly the last output depends on each input before it, in five networks of as many parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_core.profiling.closed_forms import transformer_parameters
from tfm_ui.jobs import networks
from tfm_ui.jobs.exact import DRAWS, Draws
from tfm_ui.jobs.networks import NAMES
from tfm_ui.lenses.model.distance import recipe
from tfm_ui.lenses.model.machine import drawn_config_of
from tfm_ui.lenses.model.state import ModelLensState, most_draws
from tfm_ui.live.cache import cached
from tfm_ui.live.exact import MISSING, Exact
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER, weight_bytes
from tfm_ui.text import formats, units

WRITTEN_OUT = 10_000  # larger factors are written with a power of ten
LARGE = 1_000_000  # a network of more parameters takes a turn of its own
SECONDS = 4.0  # that all draws may take together; one is always made
# What a draw takes on one core of the machine that this was written on, for each parameter of the transformer: to make
# five networks, and for each token to run them forward and back.
TO_MAKE, PER_TOKEN = 5.5e-8, 1.6e-9
ALIKE = 0.05  # counts of parameters that are closer are called about equal


def takes_long(config: TransformerConfig, *others: object, causal: bool) -> bool:
    """Whether five networks of this size are computed after others."""
    return parameters_of(config, causal=causal) > LARGE


def parameters_of(config: TransformerConfig, *, causal: bool) -> int:
    """How many parameters the transformer has here, and about as many each of the other four."""
    return sum(transformer_parameters(networks.size_of(config, causal=causal)).values())


@cached(heavy=takes_long)
def drawn(
    config: TransformerConfig, tokens: int, kernel: int, start: str, *, causal: bool
) -> tuple[Mapping[str, Tensor], Mapping[str, int]]:
    """Lengths of gradients, (distance), and counts of parameters, by network; for the weights of one seed."""
    return networks.gradients(config, tokens, kernel, start, causal=causal)


@dataclass(frozen=True)
class Reach(Result):
    """What the main picture shows.

    Attributes:
        config: the transformer of the first draw; each further draw has the next seed.
        state: the lens's fields.
        causal: whether an encoder gets a causal mask.
        seeds: how many draws of weights.
        whole: what was computed in full; None if the draws are made while the reader waits.
        missing: whether the link asks for what was computed in full, and the server does not have it.
    """

    config: TransformerConfig
    state: ModelLensState
    causal: bool
    seeds: int
    whole: Mapping[str, Tensor] | None = None
    missing: bool = False

    @property
    def tokens(self) -> int:
        """How many tokens the networks read."""
        return self.state.reach_length

    @cached_property
    def draws(self) -> list[tuple[Mapping[str, Tensor], Mapping[str, int]]]:
        """The lengths of gradients and the counts of parameters, for each seed."""
        if whole := self.whole:
            counts = {name: int(whole[f"{name}, parameters"]) for name in NAMES}
            return [({name: whole[name][k] for name in NAMES}, counts) for k in range(self.seeds)]
        how = (self.tokens, self.state.reach_kernel, self.state.reach_start)
        configs = [replace(self.config, seed=self.config.seed + k) for k in range(self.seeds)]
        return [drawn(config, *how, causal=self.causal) for config in configs]

    @cached_property
    def lengths(self) -> Mapping[str, NDArray[np.float64]]:
        """Network -> lengths of gradients, (seed, distance)."""
        return {name: torch.stack([lengths[name] for lengths, _ in self.draws]).numpy() for name in NAMES}

    @cached_property
    def medians(self) -> Mapping[str, NDArray[np.float64]]:
        """Network -> the median over the seeds, (distance)."""
        return {name: np.median(values, axis=0) for name, values in self.lengths.items()}

    @property
    def parameters(self) -> Mapping[str, int]:
        """Network -> how many parameters it has."""
        return self.draws[0][1]

    def furthest(self, name: str) -> int:
        """The largest distance at which any draw has a gradient that is not 0."""
        return int(np.flatnonzero((self.lengths[name] > 0).any(axis=0)).max(initial=0))

    def fall(self, name: str) -> float:
        """The median at distance 1 over that at the largest distance; infinite if nothing arrives there."""
        near, far = self.medians[name][1], self.medians[name][-1]
        return float(near / far) if far > 0 else np.inf

    def apart(self) -> float:
        """How far the counts of parameters are from the transformer's, at most, as a part of it."""
        wanted = self.parameters["transformer"]
        return max(abs(number / wanted - 1) for number in self.parameters.values())

    def flattest(self) -> list[str]:
        """The networks whose gradient changes least between the two distances, among those that reach both."""
        changes = {name: abs(np.log(self.fall(name))) for name in NAMES if 0 < self.fall(name) < np.inf}
        least = min(changes.values(), default=0.0)
        return [name for name, change in changes.items() if change <= least + 1e-9]

    def sentence(self) -> str:
        """The factor by which each gradient falls, which changes least, and what cannot be concluded."""
        last, falls = self.tokens - 1, {name: self.fall(name) for name in NAMES}
        arriving = [f"{_change(falls[name])} in the {_named(name)}" for name in NAMES if 0 < falls[name] < np.inf]
        short = [
            f"In the {_named(name)} nothing arrives from further than {formats.plural(self.furthest(name), 'token')}: "
            "beyond, the gradient is exactly 0."
            for name in NAMES
            if falls[name] == np.inf
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
        columns: dict[str, NDArray[np.float64]] = {}
        for name in NAMES:
            values = self.lengths[name]
            columns |= {name: self.medians[name], f"{name}, lowest": values.min(0), f"{name}, highest": values.max(0)}
        return pd.DataFrame(columns, index=pd.RangeIndex(self.tokens, name="distance"))

    def laws(self) -> dict[str, bool]:
        """The number of parameters, and what a convolution can see."""
        kernel, layers = self.state.reach_kernel, self.config.num_layers
        field = min(self.tokens - 1, layers * (kernel // 2))
        whole = all((self.lengths[name] > 0).all() for name in networks.RECURRENT)
        ends = "the first token" if field == self.tokens - 1 else f"distance {field} = layers × (kernel − 1) / 2"
        return {
            f"the five counts of parameters differ by {formats.percent(self.apart())} at most": self.apart() < ALIKE,
            f"the convolution’s gradient reaches to {ends}, and no further": self.furthest("convolution") == field,
            "no recurrent network’s gradient is exactly 0 at any distance": whole,
        }

    def recipe(self) -> str:
        """A script that leaves `medians`, `lowest` and `highest` by network, (distance), and `parameters`."""
        return script(
            recipe.reach,
            config=config_code(self.config),
            tokens=self.tokens,
            seeds=self.seeds,
            kernel=self.state.reach_kernel,
            start=self.state.reach_start,
            causal=self.causal,
        )


def _seconds_each(model: ModelState, state: ModelLensState) -> float:
    """What a draw takes, roughly."""
    parameters = parameters_of(drawn_config_of(model, state), causal=model.masks_the_future)
    return parameters * (TO_MAKE + PER_TOKEN * state.reach_length)


def draws_of(model: ModelState, state: ModelLensState) -> int:
    """The number of draws that the reader asks for, or as many as there is time for while the reader waits."""
    return min(state.reach_seeds, most_draws(model), max(1, int(SECONDS / _seconds_each(model, state))))


def all_of(model: ModelState, state: ModelLensState) -> Exact | None:
    """All draws that the reader asks for; None if all are made while the reader waits."""
    seeds = state.reach_seeds
    if draws_of(model, state) == seeds:
        return None
    config, causal = drawn_config_of(model, state), model.masks_the_future
    return Exact(
        job=DRAWS,
        argument=Draws(config, state.reach_length, state.reach_kernel, state.reach_start, causal, seeds),
        seconds=seeds * _seconds_each(model, state),
        numbers=len(NAMES) * seeds * (state.reach_length + 1),
        needs=reach_needs(model, state),
        by_hand=f"with seeds = {seeds}",
    )


def reach(model: ModelState, state: ModelLensState) -> Reach:
    """The reach of gradients in the sidebar's model with the lens's attention, beside the other networks."""
    shown = Reach(drawn_config_of(model, state), state, model.masks_the_future, draws_of(model, state))
    if not state.whole or (exact := all_of(model, state)) is None:
        return shown
    if whole := exact.shown(state.whole):
        return replace(shown, seeds=state.reach_seeds, whole=whole)
    return replace(shown, missing=exact.is_named(state.whole))


def reach_needs(model: ModelState, state: ModelLensState) -> int:
    """The bytes that a network takes, of as many parameters as the transformer, while it is made float64, or with what
    it remembers for the gradient of a few tokens; one network after the other, beside the model of the page.
    """
    config, double = drawn_config_of(model, state), 2 * NUMBER
    count = sum(transformer_parameters(networks.size_of(config, causal=model.masks_the_future)).values())
    vectors = config.num_layers * state.reach_length * (12 * config.d_model + 4 * config.feed_forward_dim)
    of_network = max(2 * double * count, double * count + 2 * double * vectors)
    return weight_bytes(model.config) + of_network + LITTLE


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
