"""The table of costs: a line per row, what is known without measuring and what was measured."""

from dataclasses import replace
from math import isnan

import pandas as pd

from tfm_core.profiling import Machine, Report, files
from tfm_ui.lenses.profiling import analytic
from tfm_ui.lenses.profiling.compare.numbers import Compared
from tfm_ui.lenses.profiling.roofline.numbers import Roofline, above_the_product
from tfm_ui.text import look, units


def table(seen: Compared) -> pd.DataFrame:
    """A line per row, its number in front; the same columns as the command's, with where they come from behind."""
    nowhere = Machine(device="", processor="", cores=0, system="", torch="")
    report = seen.report or Report(id="", plan=seen.plan, machine=nowhere)
    found = pd.DataFrame(files.table(replace(report, measured=tuple(seen.rows))))
    reasons = ["; ".join(seen.reasons(number)) for number in range(1, len(seen.rows) + 1)]
    del found["problem"]
    found.insert(list(found).index("MFLOP") + 1, "problem", reasons)  # where the figures would be
    return seen.stamped(found.set_index(pd.Index(range(1, len(found) + 1), name="row")))


def sentence(seen: Compared) -> str:
    """Parameters and operations from the least to the most, and which row comes closest to the machine's limit."""
    rows = seen.plan.rows
    counts, flops = [analytic.parameters(row) for row in rows], [analytic.forward_flops(row) for row in rows]
    number = units.span(look.count(min(counts)), look.count(max(counts)))
    mega = units.span(units.three(min(flops) / 1e6), units.three(max(flops) / 1e6))
    said = f"{look.plural(len(rows), 'row')}: {number} parameters, {mega} MFLOP for a forward pass."
    times = [_peak(seen), seen.under_load(*seen.kinds(1))] if seen.report else ["Press Measure for the times."]
    return " ".join(part for part in (said, *times) if part)


def _peak(seen: Compared) -> str:
    assert seen.report is not None
    peak, roofline = seen.report.machine.flops_per_second, Roofline(seen)
    if isnan(peak) or not roofline.there:
        return ""
    best = max(roofline.there, key=lambda point: point.rate)
    said = f"{roofline.leaders}; a large matrix product {units.three(peak / 1e9)}."
    return f"{said} {above_the_product([best], seen.plan.setup)}".strip() if best.rate > peak else said
