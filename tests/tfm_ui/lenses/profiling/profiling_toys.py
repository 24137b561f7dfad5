"""Measurements made by hand, and panels on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_core.profiling import Blocks, Machine, Measured, Memory, Plan, Report
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.rows import ProfilingPanel, aligned
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

MACHINE = Machine(
    device="toy", processor="toy", cores=2, system="none", torch="2", flops_per_second=100e9, bytes_per_second=10e9
)
NOISE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.03, 0.97)

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
