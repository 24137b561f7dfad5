"""A report as a table for a terminal."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tfm_core.profiling import costs, scaling
from tfm_core.profiling.files import Cell, provenance, table
from tfm_core.profiling.plan import Row
from tfm_core.profiling.report import FEWEST_CLEAN, Measured, Report
from tfm_core.profiling.targets import TARGETS

COLUMNS = (
    "target", "d_model", "heads", "layers", "length", "parameters", "MFLOP", "forward ms (quartiles)", "min",
    "forward + backward ms (quartiles)", "GFLOP/s", "of product", "estimated MiB", "allocated MiB", "system MiB",
    "contended",
)  # fmt: skip
LENGTHS = 3  # the fewest that show how something grows
NO_FIGURE, SEE_BELOW, UNDER_LOAD = "too few rounds", "see below", "under load"
BOTH = "forward + backward"


def as_text(report: Report) -> str:
    """The table, and below it where and how it was measured."""
    asked = len(report.plan.rows)
    lines = [COLUMNS, *(_cells(line, report.plan.setup.backward) for line in table(report))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = ["   ".join(_aligned(line, widths)).rstrip() for line in lines]
    drawn.insert(1, "   ".join("-" * width for width in widths))
    if not report.complete:
        drawn.append(f"Stopped before the end: {len(report.measured)} of {asked} rows were reached.")
    problems = [
        f"Row {number}, {measured.row.target}: {measured.problem}"
        for number, measured in enumerate(report.measured, 1)
        if measured.problem
    ]
    return "\n".join([*drawn, "", *problems, *_kinds(report), *_sweeps(report), *_footing(report), ""])


def _kinds(report: Report) -> list[str]:
    """What is counted and measured, and how those that cannot be quite that differ from it."""
    rows = [row for row in report.plan.rows if row.target in TARGETS]
    kinds = [f"Counted and measured: {words}." for words in dict.fromkeys(row.size.in_words() for row in rows)]
    return kinds + differences(rows)


def differences(rows: Iterable[Row]) -> list[str]:
    """How targets differ that are not the transformer that their size describes, a sentence each."""
    said = (f"{row.target} {words}." for row in rows if (words := TARGETS[row.target].differs(row.size)))
    return list(dict.fromkeys(said))


def _sweeps(report: Report) -> list[str]:
    """How time and operations grow with length, for each configuration that was measured at several."""
    sweeps: dict[Row, list[Measured]] = {}
    for measured in report.measured:
        if measured.forward.sample and measured.row.target in TARGETS:
            sweeps.setdefault(replace(measured.row, size=replace(measured.row.size, seq_len=1)), []).append(measured)
    return [
        _sweep(row, sweep)
        for row, sweep in sweeps.items()
        if len({measured.row.size.seq_len for measured in sweep}) >= LENGTHS
    ]


def _sweep(row: Row, sweep: Sequence[Measured]) -> str:
    lengths = [measured.row.size.seq_len for measured in sweep]
    slope = scaling.fit(lengths, [measured.forward for measured in sweep]).exponent
    sure = "" if math.isnan(slope.low) else f" ({slope.low:.2f} to {slope.high:.2f})"
    theory = scaling.exponent(lengths, [sum(costs.flops(measured.row).values()) for measured in sweep])
    size = row.size
    return (
        f"{row.target} ({size.d_model}, {size.num_heads}, {size.num_layers}), {min(lengths)} to {max(lengths)} tokens: "
        f"forward grows as length^{slope.middle:.2f}{sure}, its operations as length^{theory:.2f}"
        f"{f', measured {UNDER_LOAD}' if any(measured.forward.under_load for measured in sweep) else ''}."
    )


def _cells(line: dict[str, Cell], backward: bool) -> tuple[str, ...]:
    """One row's, as text."""
    share, parameters, problem = line["share of matrix product"], line["parameters"], str(line["problem"])
    return (
        *(str(line[name]) for name in COLUMNS[:5]),
        f"{parameters:,}" if parameters is not None else "",
        _number(line["MFLOP"], 1),
        SEE_BELOW if problem and not problem.startswith(BOTH) else _time(line, "forward"),
        _number(line["forward minimum ms"], 2),
        "" if not backward else SEE_BELOW if problem else _time(line, BOTH),
        _number(line["GFLOP/s"], 1),
        f"{share:.0%}" if isinstance(share, float) else "",
        *(_number(line[f"{name} MiB"], 1) for name in ("estimated", "allocated", "system")),
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
        return NO_FIGURE
    low, high = line[f"{name} lower quartile ms"], line[f"{name} upper quartile ms"]
    mark = f" {UNDER_LOAD}" if name in str(line["measured under load"]).split(", ") else ""
    return f"{_number(line[f'{name} ms'], 2)} ({_number(low, 2)} to {_number(high, 2)}){mark}"


def _number(value: Cell, digits: int) -> str:
    return f"{value:,.{digits}f}" if isinstance(value, int | float) else ""


def _rules(report: Report) -> list[str]:
    """How figures came out of blocks that others disturbed, said where any did."""
    if not report.under_load:
        return []
    return [
        f"Marked “{UNDER_LOAD}”: fewer than {FEWEST_CLEAN} clean rounds, so all blocks count. Measure again when the "
        "machine is quieter."
    ]


def _footing(report: Report) -> list[str]:
    """How, where and when, in sentences."""
    of = provenance(report)
    setup, machine = report.plan.setup, report.machine
    beside = f"{machine.processor}, " if machine.processor != machine.device else ""
    total, contended = report.blocks
    flops, copy = of["matrix product GFLOP/s"], of["copy GB/s"]
    noticed = "pressure figures of Linux" if report.gate == "pressure" else "processor time against wall time"
    limits = f", {UNDER_LOAD}" if machine.under_load else ""
    return [
        f"{machine.device}, {beside}{setup.threads} of {machine.cores} cores, {setup.dtype}, torch {machine.torch}, "
        f"{machine.system}, seed {setup.seed}.",
        f"In the same run: matrix product {_number(flops, 1) or 'not measured'}"
        f"{' GFLOP/s' if flops else ''}, copy {_number(copy, 1) or 'not measured'}{' GB/s' if copy else ''}{limits}.",
        f"Contended blocks: {contended} of {total} ({noticed}). Memory is of the forward pass.",
        *_rules(report),
        f"Measurement {report.id}, {report.started}, {report.seconds:.1f} s, rounds: {setup.rounds}.",
    ]
