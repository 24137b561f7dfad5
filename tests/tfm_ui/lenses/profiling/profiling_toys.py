"""Measurements made by hand."""

from collections.abc import Sequence

from tfm_core.profiling import Blocks, Machine, Measured, Memory, Plan, Report
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

MACHINE = Machine(
    device="toy", processor="toy", cores=2, system="none", torch="2", flops_per_second=100e9, bytes_per_second=10e9
)
NOISE = (1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.03, 0.97)


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


def comparison(
    of: Plan, seconds: Sequence[float | None] | None = None, *, baseline: int = 1, **more: object
) -> Comparison:
    return Comparison.of(of, None if seconds is None else report(of, seconds, **more), baseline=baseline)
