"""Measurements of writing that nobody has made, for tests."""

from tfm_core.model.cache import KeyValueCache
from tfm_core.profiling.decoding_report import AtLength, Decoding
from tfm_core.profiling.report import Blocks, Machine
from tfm_ui.lenses.generate.kept import measured


def report_of(model, seconds, *, name="abc123"):
    """A measurement in which each step took these seconds, with the cache and without."""
    plan = measured.plan(model)
    rounds = tuple(range(plan.rounds))
    cached, whole = (Blocks(seconds=(took,) * plan.rounds, rounds=rounds) for took in seconds)
    rows = tuple(
        AtLength(
            length=length,
            cached=cached,
            whole=whole,
            stored=KeyValueCache.memory_of(model.config, length),
            cached_peak=None,
            whole_peak=10,
        )
        for length in plan.lengths
    )
    machine = Machine(device="a machine", processor="a machine", cores=2, system="Linux", torch="2")
    started = "2026-11-25T20:00:00+00:00"
    return Decoding(id=name, plan=plan, machine=machine, measured=rows, started=started, seconds=4.0, complete=True)
