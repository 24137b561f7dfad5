"""A report as a table for a terminal."""

from collections.abc import Sequence

from tfm_core.profiling.files import Cell, provenance, table
from tfm_core.profiling.report import Report

COLUMNS = (
    "target", "d_model", "heads", "layers", "length", "parameters", "MFLOP", "forward ms (quartiles)", "min",
    "forward + backward ms (quartiles)", "GFLOP/s", "of peak", "peak MiB", "system MiB", "contended",
)  # fmt: skip
NO_CLEAN_BLOCK = "no clean block"


def as_text(report: Report) -> str:
    """The table, and below it where and how it was measured."""
    asked = len(report.plan.rows)
    lines = [COLUMNS, *(_cells(line, report.plan.setup.backward) for line in table(report))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = ["   ".join(_aligned(line, widths)).rstrip() for line in lines]
    drawn.insert(1, "   ".join("-" * width for width in widths))
    if not report.complete:
        drawn.append(f"Stopped before the end: {len(report.measured)} of {asked} rows were reached.")
    return "\n".join([*drawn, "", *_footing(report), ""])


def _cells(line: dict[str, Cell], backward: bool) -> tuple[str, ...]:
    """One row's, as text."""
    share, parameters = line["share of matrix product"], line["parameters"]
    return (
        *(str(line[name]) for name in COLUMNS[:5]),
        f"{parameters:,}" if parameters is not None else "",
        _number(line["MFLOP"], 1),
        str(line["problem"]) or _time(line, "forward"),
        _number(line["forward minimum ms"], 2),
        "" if line["problem"] or not backward else _time(line, "forward + backward"),
        _number(line["GFLOP/s"], 1),
        f"{share:.0%}" if isinstance(share, float) else "",
        _number(line["allocated MiB"], 1),
        _number(line["system MiB"], 1),
        f"{line['contended blocks']} of {line['blocks']}",
    )


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Names to the left, figures to the right."""
    first, *others = (
        f"{cell:{'>' if place else '<'}{width}}" for place, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return [first, *others]


def _time(line: dict[str, Cell], name: str) -> str:
    if line[f"{name} ms"] is None:
        return NO_CLEAN_BLOCK
    low, high = line[f"{name} lower quartile ms"], line[f"{name} upper quartile ms"]
    return f"{_number(line[f'{name} ms'], 2)} ({_number(low, 2)} to {_number(high, 2)})"


def _number(value: Cell, digits: int) -> str:
    return f"{value:,.{digits}f}" if isinstance(value, int | float) else ""


def _footing(report: Report) -> list[str]:
    """How, where and when, in sentences."""
    of = provenance(report)
    setup, machine = report.plan.setup, report.machine
    total, contended = report.blocks
    flops, copy = of["matrix product GFLOP/s"], of["copy GB/s"]
    noticed = "pressure figures of Linux" if report.gate == "pressure" else "processor time against wall time"
    return [
        f"{machine.device}, {setup.threads} of {machine.cores} cores, {setup.dtype}, torch {machine.torch}, "
        f"{machine.system}, seed {setup.seed}.",
        f"In the same run: matrix product {_number(flops, 1) or 'not measured'}"
        f"{' GFLOP/s' if flops else ''}, copy {_number(copy, 1) or 'not measured'}{' GB/s' if copy else ''}.",
        f"{contended} of {total} blocks were contended and thrown away ({noticed}). Memory is of the forward pass.",
        f"Measurement {report.id}, {report.started}, {report.seconds:.1f} s, {setup.rounds} rounds.",
    ]
