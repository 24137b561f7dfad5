"""The table of costs: a line per row, what is known without measuring and what was measured."""

from dataclasses import replace
from math import isnan

import pandas as pd

from tfm_core.profiling import Machine, Report, files
from tfm_ui.figures import look
from tfm_ui.profiling_lens import analytic
from tfm_ui.profiling_lens.compare import Compared


def table(seen: Compared) -> pd.DataFrame:
    """A line per row, its number in front; the same columns as the command's, with where they come from behind."""
    nowhere = Machine(device="", processor="", cores=0, system="", torch="")
    report = seen.report or Report(id="", plan=seen.plan, machine=nowhere)
    found = pd.DataFrame(files.table(replace(report, measured=tuple(seen.rows))))
    reasons = [seen.reason(number) or problem for number, problem in enumerate(found.pop("problem"), 1)]
    found.insert(list(found).index("MFLOP") + 1, "problem", reasons)  # where the figures would be
    return seen.stamped(found.set_index(pd.Index(range(1, len(found) + 1), name="row")))


def sentence(seen: Compared) -> str:
    """Parameters and operations from the least to the most, and which row comes closest to the machine's limit."""
    rows = seen.plan.rows
    counts, flops = [analytic.parameters(row) for row in rows], [analytic.forward_flops(row) for row in rows]
    said = (
        f"{look.plural(len(rows), 'row')}: {_span([look.count(min(counts)), look.count(max(counts))])} parameters, "
        f"{_span([_mega(min(flops)), _mega(max(flops))])} MFLOP for a forward pass."
    )
    return f"{said} {_peak(seen) if seen.report else 'Press Measure for the times.'}".strip()


def _span(ends: list[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def _mega(flops: int) -> str:
    mega = flops / 1e6
    return look.count(round(mega)) if mega >= 100 else f"{mega:.3g}"


def _peak(seen: Compared) -> str:
    assert seen.report is not None
    peak, there = seen.report.machine.flops_per_second, seen.measured
    if isnan(peak) or not there:
        return ""
    of = {n: analytic.forward_flops(seen.plan.rows[n - 1]) / seen.rows[n - 1].forward.median for n in there}
    best = max(of, key=of.__getitem__)
    return f"Row {best} does most in a second: {of[best] / 1e9:.3g} GFLOP/s; a large matrix product {peak / 1e9:.3g}."
