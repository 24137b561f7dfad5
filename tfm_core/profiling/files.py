"""A report as files: a table of numbers (CSV), and all of it (JSON), each saying where and how it was measured."""

import csv
import io
import json
import math
from dataclasses import asdict
from typing import Any

from tfm_core.profiling import costs
from tfm_core.profiling.plan import Plan, Row
from tfm_core.profiling.report import Blocks, Machine, Measured, Memory, PartTime, Report
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.size import Size
from tfm_core.profiling.targets import TARGETS

MIB = 2**20
LIMITS = ("flops_per_second", "bytes_per_second")
Cell = str | int | float | None


def table(report: Report) -> list[dict[str, Cell]]:
    """A line per row that was reached, the units in the columns' names; None where there is no such number.

    GFLOP/s are floating point operations in closed form over the median of forward; their share is of the matrix
    product measured in the same run. "measured under load" names the times that are of contended blocks too, as too few
    were clean. Memory of forward is estimated (`costs.peak_memory`) beside measured.
    """
    return [_line(report, measured) for measured in report.measured]


def provenance(report: Report) -> dict[str, Cell]:
    """Where, when and how it was measured."""
    machine, setup = report.machine, report.plan.setup
    measured, contended = report.blocks
    return {
        "measurement": report.id,
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "complete": str(report.complete).lower(),
        "device": machine.device,
        "processor": machine.processor,
        "cores": machine.cores,
        "threads": setup.threads,
        "dtype": setup.dtype,
        "torch": machine.torch,
        "system": machine.system,
        "seed": setup.seed,
        "rounds": setup.rounds,
        "matrix product GFLOP/s": _known(machine.flops_per_second / 1e9),
        "copy GB/s": _known(machine.bytes_per_second / 1e9),
        "limits measured under load": str(machine.under_load).lower(),
        "contended blocks of all": contended,
        "blocks of all": measured,
        "gate": report.gate,
    }


def as_csv(report: Report) -> str:
    """`table`, with `provenance` after each line, so that a line says on its own where it comes from."""
    lines = [line | provenance(report) for line in table(report)]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]) if lines else list(provenance(report)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def as_json(report: Report) -> str:
    """All of it, every block: `report` to be read again by `from_json`, `table` and `provenance` for people."""
    all_of_it = asdict(report)
    for field in LIMITS:  # JSON has no NaN
        all_of_it["machine"][field] = _known(all_of_it["machine"][field])
    whole = {"provenance": provenance(report), "table": table(report), "report": all_of_it}
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str) -> Report:
    """The report that `as_json` wrote, to the last digit.

    Raises:
        ValueError, KeyError, TypeError: for another text.
    """
    report = json.loads(text)["report"]
    plan, machine = report.pop("plan"), report.pop("machine")
    unknown = {field: math.nan for field in LIMITS if machine[field] is None}
    return Report(
        **report
        | {
            "plan": Plan(tuple(map(_row, plan["rows"])), Setup(**plan["setup"])),
            "machine": Machine(**machine | unknown),
            "measured": tuple(map(_measured, report["measured"])),
        }
    )


def _line(report: Report, measured: Measured) -> dict[str, Cell]:
    row, size = measured.row, measured.row.size
    known = row.target in TARGETS and not TARGETS[row.target].lacks(size)
    flops = sum(costs.flops(row).values()) if known else None
    speed = flops / measured.forward.median if flops and measured.forward.sample else None
    share = _known(speed / report.machine.flops_per_second) if speed else None
    blocks = [b for b in (measured.forward, measured.training) if b is not None]
    return {
        "target": row.target,
        "d_model": size.d_model,
        "heads": size.num_heads,
        "layers": size.num_layers,
        "length": size.seq_len,
        "batch": size.batch,
        "d_ff": size.feed_forward_dim,
        "architecture": size.architecture,
        "causal": str(size.looks_back_only).lower(),
        "norm": size.norm,
        "activation": size.activation,
        "positions": size.positional,
        "vocabulary": size.vocab_size,
        "embedding and output": size.ends if size.vocab_size else "none",
        "parameters": sum(costs.parameters(row).values()) if known else None,
        "MFLOP": flops / 1e6 if flops is not None else None,
        **_times("forward", measured.forward),
        **_times("forward + backward", measured.training or Blocks()),
        "GFLOP/s": speed / 1e9 if speed else None,
        "share of matrix product": share,
        "estimated MiB": _mib(costs.peak_memory(row, report.plan.setup)) if known else None,
        "allocated MiB": _mib(measured.memory.allocated),
        "system MiB": _mib(measured.memory.system),
        "forward + backward allocated MiB": _mib(measured.training_memory.allocated),
        "forward + backward system MiB": _mib(measured.training_memory.system),
        "measured under load": ", ".join(measured.under_load),
        "contended blocks": sum(b.contended for b in blocks),
        "blocks": sum(b.contended + len(b.seconds) for b in blocks),
        "kernel": measured.kernel,
        "problem": measured.problem,
    }


def _times(name: str, blocks: Blocks) -> dict[str, Cell]:
    low, high = blocks.quartiles
    times = {"ms": blocks.median, "lower quartile ms": low, "upper quartile ms": high, "minimum ms": blocks.minimum}
    cold = blocks.warm_up[0] if blocks.warm_up else math.nan
    return {
        f"{name} {unit}": _known(1000 * seconds)
        for unit, seconds in (times | {"first call ms, not gated": cold}).items()
    }


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number


def _mib(count: int | None) -> float | None:
    return None if count is None else count / MIB


def _row(stored: dict[str, Any]) -> Row:
    return Row(stored["target"], Size(**stored["size"]))


def _blocks(stored: dict[str, Any]) -> Blocks:
    lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    return Blocks(**stored | lists)


def _measured(stored: dict[str, Any]) -> Measured:
    return Measured(
        **stored
        | {
            "row": _row(stored["row"]),
            "forward": _blocks(stored["forward"]),
            "training": _blocks(stored["training"]) if stored["training"] else None,
            "memory": Memory(**stored["memory"]),
            "training_memory": Memory(**stored["training_memory"]),
            "parts": tuple(PartTime(**part) for part in stored["parts"]),
        }
    )
