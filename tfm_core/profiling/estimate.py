"""How long a plan will take and how much memory it will need, before anything is built: arithmetic alone."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from tfm_core.profiling import clock, costs
from tfm_core.profiling.closed_forms import input_bytes
from tfm_core.profiling.machine import COPY_BYTES
from tfm_core.profiling.plan import Plan, Row
from tfm_core.profiling.report import Machine
from tfm_core.profiling.run_forecast import BACKWARD, BUILDING, PREPARING
from tfm_core.profiling.run_subject import KEPT_BYTES
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.targets import TARGETS
from tfm_core.profiling.units import in_bytes, in_seconds

TRIES = 1.25  # blocks for each clean one, on a shared machine
LIMITS = 2  # of the machine, measured in each round like rows
STARTING = 0.5
FEW_ROUNDS = 6  # the fewest of which a median has an interval of 95 %

Change = tuple[str, Callable[[], Plan]]


@dataclass(frozen=True)
class Budget:
    """What one plan may take."""

    seconds: float
    bytes: float


@dataclass(frozen=True)
class Estimate:
    """What a plan will take, roughly: seconds in all, and bytes at the peak of the row that needs most.

    Beside that row lie the weights and inputs of all, and what the machine's limits are measured with.
    """

    seconds: float
    bytes: float


def estimate(plan: Plan, machine: Machine | None = None) -> Estimate:
    """How long it will take, and the most memory at once; never builds anything. Rows that cannot run take nothing.

    Args:
        plan: what is to be measured.
        machine: one that was measured with this setup; cautious rates without it.
    """
    setup = plan.setup
    seconds = STARTING + setup.rounds * LIMITS * 2 * clock.BLOCK_SECONDS
    rows = [row for row in plan.rows if row.target in TARGETS and not TARGETS[row.target].cannot(row.size, setup)]
    same = replace(setup, rounds=1, seed=0)  # what a row needs in a round depends on neither
    each = [_needs(row, same, machine) for row in rows]
    for needs in each:
        for call in (needs.forward, BACKWARD * needs.forward)[: 1 + setup.backward]:
            seconds += PREPARING * call + setup.rounds * TRIES * _block(call)
    beside = min(KEPT_BYTES[setup.device], sum(needs.held for needs in each)) + 2 * COPY_BYTES[setup.device]
    return Estimate(seconds + BUILDING * len(rows), beside + max((needs.peak for needs in each), default=0))


@dataclass(frozen=True)
class _Needs:
    """What a row needs: seconds of a forward pass, bytes between its calls, and bytes at the peak beyond these."""

    forward: float
    held: int
    peak: int


@lru_cache(maxsize=4096)
def _needs(row: Row, setup: Setup, machine: Machine | None) -> _Needs:
    """What a row needs, remembered: a refusal tries many smaller plans of the same rows."""
    held = setup.itemsize * sum(costs.parameters(row).values()) + input_bytes(row.size, setup)
    anew = held if held > KEPT_BYTES[setup.device] else 0  # built for each turn, beside those that are kept
    peak = max(costs.peak_memory(row, setup, backward=way) for way in {False, setup.backward})
    return _Needs(costs.call_seconds(row, setup, machine), held, anew + peak)


def refusal(plan: Plan, budget: Budget, machine: Machine | None = None) -> str:
    """Why this plan is not begun, with the estimate and what would fit; "" if it fits.

    Args:
        plan: what is asked for.
        budget: what it may take.
        machine: one that was measured with this setup.
    """
    needs = estimate(plan, machine)
    if _fits(needs, budget):
        return ""
    limits = (in_seconds, budget.seconds), (in_bytes, budget.bytes)
    limit = " and ".join(said(most) for said, most in limits if most < math.inf)
    return (
        f"This would take about {in_seconds(needs.seconds)} and {in_bytes(needs.bytes)} of memory; the limit is "
        f"{limit}. {_advice(plan, budget, machine)}"
    )


def _fits(needs: Estimate, budget: Budget) -> bool:
    return needs.seconds <= budget.seconds and needs.bytes <= budget.bytes


def _advice(plan: Plan, budget: Budget, machine: Machine | None) -> str:
    """The least change with which it would fit."""

    def fits(change: Change) -> bool:
        return _fits(estimate(change[1](), machine), budget)

    for family in filter(None, _smaller(plan)):
        if fits(family[-1]):  # else the others need not be looked at: they are larger
            return f"It would fit with {next(words for words, _ in filter(fits, family))}."
    return "Nothing like it would fit: try a smaller d_model, fewer layers, or a smaller batch."


def _smaller(plan: Plan) -> Iterator[list[Change]]:
    """The same with less of something, in words: each time from the smallest change to the largest."""
    fewer = range(plan.setup.rounds - 1, FEW_ROUNDS - 1, -1)
    yield [(f"{n} rounds", partial(replace, plan, setup=replace(plan.setup, rounds=n))) for n in fewer]
    few = replace(plan, setup=replace(plan.setup, rounds=min(FEW_ROUNDS, plan.setup.rounds)))
    words = f" and {few.setup.rounds} rounds"
    for base, also in ((plan, ""), (few, words), (replace(few, rows=few.rows[:1]), f" in the first row alone{words}")):
        yield [(f"the first {n} rows{also}", partial(replace, base, rows=base.rows[:n])) for n in _below(base.rows)]
        for field, what in (("seq_len", "tokens"), ("batch", "sequences")):
            halves = _halves(max(getattr(row.size, field) for row in base.rows))
            yield [(f"at most {most} {what}{also}", partial(_cut, base, field, most)) for most in halves]


def _below(rows: Sequence[Row]) -> range:
    """Fewer rows than these, but more than one."""
    return range(len(rows) - 1, 1, -1)


def _halves(number: int) -> list[int]:
    """Powers of two below it, from 8 on, the largest first."""
    return [2**power for power in reversed(range(3, (number - 1).bit_length()))]


def _cut(plan: Plan, field: str, most: int) -> Plan:
    """The same with no size beyond this."""
    sizes = (replace(row.size, **{field: min(most, getattr(row.size, field))}) for row in plan.rows)
    return replace(plan, rows=tuple(replace(row, size=size) for row, size in zip(plan.rows, sizes, strict=True)))


def _block(call: float) -> float:
    """Seconds of a block, with the calls before it that are not timed."""
    return 2 * call if call > clock.BLOCK_SECONDS else clock.BLOCK_SECONDS + 2 * call
