"""The table of costs: a line per row, what is known without measuring and what was measured."""

from math import isnan, nan
from typing import Any

import pandas as pd

from tfm_core.profiling import Blocks
from tfm_ui.figures import look
from tfm_ui.profiling_lens import analytic
from tfm_ui.profiling_lens.compare import Compared


def records(seen: Compared) -> list[dict[str, Any]]:
    """A flat line of numbers per row; None where there is none."""
    return [_record(seen, number) for number in range(1, len(seen.rows) + 1)]


def _record(seen: Compared, number: int) -> dict[str, Any]:
    one, row = seen.rows[number - 1], seen.plan.rows[number - 1]
    flops, peak = analytic.forward_flops(row), seen.report.machine.flops_per_second if seen.report else nan
    achieved = flops / one.forward.median
    return {
        "row": number,
        "target": row.target,
        "d_model": row.size.d_model,
        "heads": row.size.num_heads,
        "layers": row.size.num_layers,
        "length": row.size.seq_len,
        "parameters": analytic.parameters(row),
        "MFLOP": flops / 1e6,
        **_times("forward", one.forward),
        **_times("forward + backward", one.training or Blocks()),
        "GFLOP/s": _known(achieved / 1e9),
        "of matmul peak, %": _known(100 * achieved / peak),
        "allocated, MiB": _mebi(one.memory.allocated),
        "seen by the system, MiB": _mebi(one.memory.system),
        "contended blocks": one.forward.contended + (one.training.contended if one.training else 0),
        "why not": seen.reason(number),
    }


def _times(kind: str, blocks: Blocks) -> dict[str, float | None]:
    low, high = blocks.quartiles
    found = {"median": blocks.median, "25%": low, "75%": high, "min": blocks.minimum}
    return {f"{kind}, {name}, ms": _known(1000 * seconds) for name, seconds in found.items()}


def _known(number: float) -> float | None:
    return None if isnan(number) else number


def _mebi(number: int | None) -> float | None:
    return None if number is None else number / 2**20


def table(seen: Compared) -> pd.DataFrame:
    """A line per row, its number in front."""
    return pd.DataFrame(records(seen)).set_index("row")


def sentence(seen: Compared) -> str:
    """What the rows have in common with theory: parameters and operations from the least to the most."""
    rows = seen.plan.rows
    counts, flops = [analytic.parameters(row) for row in rows], [analytic.forward_flops(row) for row in rows]
    many = look.plural(len(rows), "row")
    if len(rows) == 1:
        said = f"{many}: {look.count(counts[0])} parameters, {_mega(flops[0])} MFLOP for a forward pass."
    else:
        said = (
            f"{many}: {look.count(min(counts))} to {look.count(max(counts))} parameters, {_mega(min(flops))} to "
            f"{_mega(max(flops))} MFLOP for a forward pass."
        )
    if seen.report is None:
        return f"{said} Press Measure for the times."
    return f"{said} {_peak(seen)}".strip()


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
    return (
        f"Row {best} comes closest to what this machine can do: {of[best] / 1e9:.3g} of the {peak / 1e9:.3g} GFLOP/s "
        "of a large matrix product."
    )
