"""What views show a part of, computed in full in the worker process, and kept in the store when all is there."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import torch
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_core.study.leak_test import LeakTest
from tfm_ui.jobs import networks
from tfm_ui.jobs.messages import JobStep
from tfm_ui.store import exact
from tfm_ui.store.runs import connect

LEAKS, DRAWS = "leaks", "draws"


@dataclass(frozen=True)
class ExactStep:
    """How far it is.

    Attributes:
        share: done, 0 to 1.
        seconds_left: an estimate.
        doing: in words.
        numbers: the result, once all is done. They may be many.
    """

    share: float
    seconds_left: float
    doing: str
    numbers: dict[str, Tensor] = field(default_factory=dict)

    def without_results(self) -> "ExactStep":
        """How far it came, without the numbers."""
        return replace(self, numbers={})


def all_leaks(test: LeakTest) -> Iterator[ExactStep]:
    """Change every token: `moved`, float64 (token, layer, output), and `largest`, (1), of the last step."""
    connect()  # trained weights are found there
    # One tensor from the start: parts that stay between what is freed keep it from being given back.
    moved = torch.empty(len(test.changed), len(test.sites), test.shape[0], dtype=torch.float64)
    largest, done, began = 0.0, 0, time.perf_counter()
    for part in test.parts():
        moved[done : done + len(part.moved)] = part.moved
        largest, done = part.largest, done + len(part.moved)
        if done < len(moved):
            yield _so_far("token", done, len(moved), began)
    yield ExactStep(1.0, 0.0, "done", {"moved": moved, "largest": torch.tensor([largest], dtype=torch.float64)})


@dataclass(frozen=True)
class Draws:
    """Draws of five networks.

    Attributes:
        config: the transformer of the first draw; each further draw has the next seed.
        tokens: that the networks read.
        kernel: tokens that a convolution sees.
        start: how first weights are drawn, as in `networks.gradients`.
        causal: whether an encoder gets a causal mask.
        seeds: how many draws.
    """

    config: TransformerConfig
    tokens: int
    kernel: int
    start: str
    causal: bool
    seeds: int


def all_draws(asked: Draws) -> Iterator[ExactStep]:
    """Make every draw: for each network lengths of gradients, float64 (seed, distance), and its parameters."""
    shape, began = (asked.seeds, asked.tokens), time.perf_counter()
    numbers = {name: torch.empty(shape, dtype=torch.float64) for name in networks.NAMES}
    for done, (seed, name) in enumerate(product(range(asked.seeds), networks.NAMES)):
        if done:
            yield _so_far("network", done, asked.seeds * len(networks.NAMES), began)
        config = replace(asked.config, seed=asked.config.seed + seed)
        lengths, count = networks.gradients_of(
            name, config, asked.tokens, asked.kernel, asked.start, causal=asked.causal
        )
        numbers[name][seed], numbers[f"{name}, parameters"] = lengths[0], torch.tensor([count])
    yield ExactStep(1.0, 0.0, "done", numbers)


def _so_far(noun: str, done: int, count: int, began: float) -> ExactStep:
    left = (time.perf_counter() - began) * (count / done - 1)
    return ExactStep(done / count, left, f"{noun} {done:,} of {count:,} is done")


def keep(key: str, owner: str, step: JobStep) -> None:
    """Keep the result of a job that has come to its end.

    Args:
        key: where, as `tfm_ui.store.exact.key_of` says.
        owner: whose it is: of too much, the owner's oldest goes first.
        step: the job's last one.

    Raises:
        StoreAway: if it cannot be kept.
    """
    if isinstance(step, ExactStep) and step.numbers:
        exact.keep(key, step.numbers, owner)
