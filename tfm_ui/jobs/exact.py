"""What views show a part of, computed in full in the worker process, which keeps it when all is there.

Results may be large, so that steps do not hold them: the server would keep those of many jobs in memory.
"""

import time
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from tfm_core.study.leak_test import LeakTest
from tfm_core.study.leaks import joined
from tfm_ui.store import exact
from tfm_ui.store.runs import connect

LEAKS = "leaks"
T = TypeVar("T")


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
    measured = yield from _steps(test.parts(), len(test.changed), lambda part: len(part.moved), "token")
    whole = joined(measured)
    yield _kept(LEAKS, test, {"moved": whole.moved, "largest": torch.tensor([whole.largest], dtype=torch.float64)})


def _steps(parts: Iterable[T], count: int, size: Callable[[T], int], noun: str) -> Generator[ExactStep, None, list[T]]:
    began, done, there = time.perf_counter(), 0, []
    for part in parts:
        there.append(part)
        done += size(part)
        left = (time.perf_counter() - began) * (count / done - 1)
        if done < count:
            yield ExactStep(done / count, left, f"{noun} {done:,} of {count:,}")
    return there


def _kept(job: str, argument: Hashable, numbers: Mapping[str, Tensor]) -> ExactStep:
    exact.keep(exact.key_of(job, argument), numbers)
    return ExactStep(1.0, 0.0, "all is kept")
