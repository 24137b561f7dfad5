"""What views show a part of, computed in full in the worker process, which keeps it when all is there.

Results may be large, so that steps do not hold them: the server would keep those of many jobs in memory.
"""

import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import torch
from torch import Tensor

from tfm_core import TransformerConfig
from tfm_core.study.leak_test import LeakTest
from tfm_ui.jobs import networks
from tfm_ui.store import exact
from tfm_ui.store.runs import connect

LEAKS, DRAWS = "leaks", "draws"


@dataclass(frozen=True)
class ExactStep:
    """How far it is.

    Attributes:
        share: done, 0 to 1; at 1 the result is kept.
        seconds_left: an estimate.
        doing: in words.
    """

    share: float
    seconds_left: float
    doing: str


def all_leaks(test: LeakTest) -> Iterator[ExactStep]:
    """Change every token, and keep `moved`, float64 (token, layer, output), and `largest`, (1).

    Raises:
        StoreAway: if it cannot be kept.
    """
    connect()  # trained weights are found there
    # One tensor from the start: parts that stay between what is freed keep it from being given back.
    moved = torch.empty(len(test.changed), len(test.sites), test.shape[0], dtype=torch.float64)
    largest, done, began = 0.0, 0, time.perf_counter()
    for part in test.parts():
        moved[done : done + len(part.moved)] = part.moved
        largest, done = part.largest, done + len(part.moved)
        if done < len(moved):
            yield _so_far("token", done, len(moved), began)
    yield _kept(LEAKS, test, {"moved": moved, "largest": torch.tensor([largest], dtype=torch.float64)})


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
    """Make every draw, and keep for each network lengths of gradients, float64 (seed, distance), and its parameters.

    Raises:
        StoreAway: if it cannot be kept.
    """
    shape, began = (asked.seeds, asked.tokens), time.perf_counter()
    numbers = {name: torch.empty(shape, dtype=torch.float64) for name in networks.NAMES}
    for done, (seed, name) in enumerate(product(range(asked.seeds), networks.NAMES)):
        if done:
            yield _so_far("network", done, asked.seeds * len(networks.NAMES), began)
        config = replace(asked.config, seed=asked.config.seed + seed)
        lengths, count = networks.gradients_of(
            name, config, asked.tokens, asked.kernel, asked.start, causal=asked.causal
        )
        numbers[name][seed], numbers[f"{name}, parameters"] = lengths, torch.tensor([count])
    yield _kept(DRAWS, asked, numbers)


def _so_far(noun: str, done: int, count: int, began: float) -> ExactStep:
    left = (time.perf_counter() - began) * (count / done - 1)
    return ExactStep(done / count, left, f"{noun} {done:,} of {count:,} is done")


def _kept(job: str, argument: Hashable, numbers: Mapping[str, Tensor]) -> ExactStep:
    exact.keep(exact.key_of(job, argument), numbers)
    return ExactStep(1.0, 0.0, "all is kept")
