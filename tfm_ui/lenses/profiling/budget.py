"""What one measurement may take of this server, and what a plan will."""

import time
from dataclasses import replace
from functools import lru_cache

import torch
from torch.utils.benchmark import Timer

from tfm_core.profiling import Machine, Plan, Setup
from tfm_core.profiling.estimate import Budget, Estimate, estimate, refusal
from tfm_core.profiling.machine import describe

# The default plan takes a minute on a rented core; three let it fit where cores are slow. With two gigabytes, and as
# much again for what an estimate overlooks, a server of eight keeps the rest for its visitors.
BUDGET = Budget(seconds=180, bytes=2e9)
SIDE, TIMES = 256, 20  # of the products that tell how fast this processor multiplies: a third of a millisecond each


def needs(plan: Plan) -> Estimate:
    """What it will take, roughly."""
    return estimate(plan, _machine(plan.setup))


def refused(plan: Plan) -> str:
    """Why it is not measured here, with the estimate and what would fit; "" if it is."""
    return refusal(plan, BUDGET, _machine(plan.setup))


def limit(plan: Plan) -> float:
    """Seconds after which it is stopped: blocks that were contended are measured again, and estimates are rough."""
    return max(60.0, 3 * needs(plan).seconds)


def _machine(setup: Setup) -> Machine:
    """This machine at a first glance, for as long as the server runs.

    Not as it was measured since: the lengths that fit are part of what a link means, and must stay.
    """
    machine = _glance(setup.device, setup.dtype)
    return replace(machine, flops_per_second=setup.threads * machine.flops_per_second)


@lru_cache(maxsize=32)
def _glance(device: str, dtype: str) -> Machine:
    """A look at the machine with one thread, as for all that the server computes: last digits depend on it."""
    machine = describe(Setup(device=device, dtype=dtype))
    if device != "cpu":  # a product that small tells nothing of a GPU: cautious rates
        return machine
    a = torch.ones(SIDE, SIDE, dtype=getattr(torch, dtype))
    # By the processor's clock: torch's own waits for a GPU, which a forked process cannot, and nothing runs there.
    watch = Timer("torch.mm(a, a)", timer=time.perf_counter, globals={"torch": torch, "a": a})
    fastest = min(watch.timeit(1).median for _ in range(TIMES))  # nothing disturbs some of them
    return replace(machine, flops_per_second=2 * SIDE**3 / fastest)
