"""Measurements made by hand, for tests of what is shown, and panels that show them.

`plausible` has times that follow from the closed forms, with known noise; `report` those that it is given.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

from tfm_core.profiling import Blocks, Machine, Measured, Memory, PartTime, Plan, Progress, Report, Row, costs
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.rows import ProfilingPanel, aligned
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

PEAK, COPY = 100e9, 20e9  # FLOP and bytes per second
FREE = {"softmax": 0.1, "norms": 0.06, "rest": 0.02}  # share of the time of all parts that have FLOPs
MACHINE = Machine(
    device="a processor", processor="a processor", cores=2, system="Linux", torch="2", flops_per_second=PEAK,
    bytes_per_second=COPY,
)  # fmt: skip
NOISE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.03, 0.97)


def part_seconds(row: Row) -> dict[str, float]:
    """Products run at a fifth of the peak, all else at half of it."""
    flops = {name: count for name, count in costs.flops(row).items() if count}
    seconds = {name: count / (PEAK / (5 if name == "products" else 2)) for name, count in flops.items()}
    return seconds | {name: share * sum(seconds.values()) for name, share in FREE.items()}


def measured_row(row: Row, plan: Plan, number: int, *, without: bool = False, problem: str = "") -> Measured:
    """A row's measurements; without a round, or with a problem, if that is asked for."""
    rounds = range(plan.setup.rounds)
    if problem:
        return Measured(row, problem=problem)
    if without:
        return Measured(row, Blocks(), Blocks() if plan.setup.backward else None)
    draw = np.random.default_rng(number)
    parts = part_seconds(row)

    def blocks(seconds: float) -> Blocks:
        return Blocks(tuple(seconds * draw.lognormal(0, 0.03, len(rounds))), tuple(rounds), 2, (2 * seconds,))

    total = sum(parts.values())
    peaks = [costs.peak_memory(row, plan.setup, backward=backward) for backward in (False, True)]
    memory, training = (Memory(round(1.1 * peak), round(1.3 * peak)) for peak in peaks)
    return Measured(
        row,
        blocks(total),
        blocks(3 * total) if plan.setup.backward else None,
        memory,
        training if plan.setup.backward else Memory(),
        tuple(PartTime(name, seconds) for name, seconds in parts.items()),
    )


def under_load(blocks: Blocks | None) -> Blocks | None:
    """The same times, of which but the first round's is clean."""
    if blocks is None:
        return None
    seconds, rounds = blocks.seconds[:1], blocks.rounds[:1]
    return replace(blocks, seconds=seconds, rounds=rounds, contended=len(blocks.seconds) - 1, loaded=blocks.seconds[1:],
                   loaded_rounds=blocks.rounds[1:])  # fmt: skip


def plausible(
    plan: Plan,
    *,
    name: str = "abc123",
    done: int | None = None,
    without: Collection[int] = (),
    busy: Collection[int] = (),
    problems: Collection[int] = (),
    only_backward: Collection[int] = (),
    only_forward: Collection[int] = (),
    machine: Machine = MACHINE,
) -> Report:
    """A report on this plan.

    Args:
        plan: what is to have been measured.
        name: the report's.
        done: how many rows were measured before it was stopped; by default all.
        without: rows that were reached, but had no round, from 0.
        busy: rows of whose rounds one was clean.
        problems: rows that ran out of memory.
        only_backward: rows with a single forward block; their parts and forward + backward have all.
        only_forward: rows that ran out of memory in forward + backward.
        machine: where.
    """
    rows = plan.rows[:done]
    measured = [
        measured_row(row, plan, i, without=i in without, problem="out of memory" if i in problems else "")
        for i, row in enumerate(rows)
    ]
    for i in only_backward:
        measured[i] = replace(measured[i], forward=Blocks((1.0,), (0,)))
    for i in set(busy) & set(range(len(measured))):
        forward, training = (under_load(blocks) for blocks in (measured[i].forward, measured[i].training))
        measured[i] = replace(measured[i], forward=forward, training=training, parts_under_load=True)
    for i in only_forward:
        measured[i] = replace(measured[i], training=Blocks(), problem="forward + backward: out of memory")
    return Report(
        id=name, plan=plan, machine=machine, measured=tuple(measured), started="2026-01-01T00:00:00+00:00", seconds=9.5,
        complete=len(rows) == len(plan.rows),
    )  # fmt: skip


def leaves(script: str, **how: Any) -> dict[str, Any]:
    """What a script of the Source panel leaves behind, without waiting for a clock: `profile` is made by hand."""

    def profile(plan: Plan) -> Iterator[Progress]:
        yield Progress(1, 0, "done", plausible(plan, **how))

    scope: dict[str, Any] = {}
    with patch("tfm_core.profiling.profile", profile):
        exec(script, scope)
    return scope


P = TypeVar("P", bound=ProfilingPanel)


@dataclass(frozen=True)
class Toy:
    """What a panel gets: a plan, a report on it, and a measurement for each row."""

    plan: Plan
    report: Report | None
    rows: list[Measured]

    def on(self, panel: type[P], **state: object) -> P:
        """A panel that shows it."""
        shown = panel(ModelState(), ProfilingState(**state))
        shown.asked, shown.report, shown.rows = self.plan, self.report, self.rows
        return shown


def toy(of: Plan, report: Report | None) -> Toy:
    """A plan, and a report on it as it is."""
    return Toy(of, report, aligned(of, report))


def measured(model: ModelState, state: ProfilingState, *, measured: bool = True, **how: object) -> Toy:
    """What these two ask for, with a plausible measurement, if there is one."""
    asked = plan_of(model, state)
    assert asked
    return toy(asked, plausible(asked, **how) if measured else None)


def blocks(seconds: float, *, contended: int = 0, noise: Sequence[float] = NOISE) -> Blocks:
    """A block per number of the noise, around `seconds`."""
    return Blocks(tuple(seconds * factor for factor in noise), tuple(range(len(noise))), contended)


def busy(seconds: float, *, clean: int = 1) -> Blocks:
    """Blocks of rounds, of which `clean` are clean; the others take a half longer."""
    whole = blocks(seconds)
    loaded = tuple(1.5 * time for time in whole.seconds[clean:])
    return Blocks(whole.seconds[:clean], whole.rounds[:clean], len(loaded), (), 1, loaded, whole.rounds[clean:])


def plan(**state: object) -> Plan:
    asked = plan_of(ModelState(), ProfilingState(**state))
    assert asked
    return asked


def report(of: Plan, seconds: Sequence[float | None], *, name: str = "toy", complete: bool = True) -> Report:
    """Each row's seconds; None: stopped before its rounds. Rows after the last number were not reached."""
    rows = [
        Measured(
            row,
            Blocks() if median is None else blocks(median),
            None if median is None or not of.setup.backward else blocks(3 * median),
            Memory(2**20, 2**21),
        )
        for row, median in zip(of.rows, seconds, strict=False)
    ]
    return Report(
        id=name, plan=of, machine=MACHINE, measured=tuple(rows), started="2026-01-01T00:00:00+00:00", complete=complete
    )


def timed(of: Plan, seconds: Sequence[float | None] | None = None, **more: object) -> Toy:
    """A plan whose rows took so many seconds; not measured without them."""
    return toy(of, None if seconds is None else report(of, seconds, **more))
