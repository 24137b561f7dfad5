"""Runs benchmarks several times, each time in a new process, and makes the tables of docs/how-fast.md."""

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import torch

from benchmarks.measure import Figure, FiguresOrWords

Value = float | str | None  # None: not measured
MEASURED = "## Measured\n"  # below it stand the tables in a document
SECTION = re.compile(r"^### (\w+)\n", re.MULTILINE)


@dataclass
class Section:
    """What was measured of a benchmark.

    Attributes:
        name: of the benchmark.
        values: of each run, one for each of its figures.
        minutes: that each run took.
    """

    name: str
    values: list[list[Value]] = field(default_factory=list)
    minutes: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        title = (import_module(f"benchmarks.{self.name}").__doc__ or "").partition("\n")[0]
        took = f"A run took {statistics.median(self.minutes):.1f} minutes."
        return "\n".join([f"### {self.name}\n", f"{title} {took}\n", *table(figures_of(self.name), self.values)])


def repeat(names: Sequence[str], runs: int, into: Path | None = None) -> list[str]:
    """Run all benchmarks one after the other, then all of them again, and so on; at the end print the tables.

    Args:
        names: of the benchmarks.
        runs: how often.
        into: a document; the tables take the place of those that it has.

    Returns:
        The names of those that failed.
    """
    sections = {name: Section(name) for name in names}
    failed: dict[str, None] = {}
    before = psutil.cpu_times()
    for _ in range(runs):
        for name, section in sections.items():
            begin = time.monotonic()
            values = in_new_process(name)
            if values is None:
                failed[name] = None
            section.values.append(values or [None] * len(figures_of(name)))
            section.minutes.append((time.monotonic() - begin) / 60)
    texts = {name: str(section) for name, section in sections.items()}
    where = f"{machine()} {shared(before, psutil.cpu_times())}".strip()
    print("\n" + document(where, texts))
    if into:
        kept = {name: text for name, text in texts.items() if name not in failed}
        into.write_text(with_tables(into.read_text("utf-8"), where, kept), "utf-8")
    return list(failed)


def document(where: str, sections: Mapping[str, str]) -> str:
    """The sentence on the machine, and all sections."""
    return "\n\n".join([where, *sections.values()]) + "\n"


def with_tables(text: str, where: str, new: Mapping[str, str]) -> str:
    """A document with these sections below "Measured"; each names its machine where sections of another one stay."""
    above, heading, below = text.partition(MEASURED)
    machine_of_old, *parts = SECTION.split(below)
    old = {name: f"### {name}\n{body}".strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
    names = sorted(new.keys() | (old.keys() & every_name()))
    stay = [name for name in names if name not in new]
    if stay and _machine(machine_of_old) != _machine(where):
        new = {name: _on_another_machine(section, where) for name, section in new.items()}
        where = machine_of_old.strip()
    return f"{above}{heading}\n{document(where, {name: new.get(name) or old[name] for name in names})}"


def _on_another_machine(section: str, where: str) -> str:
    """A section that says itself where it was measured, above its table."""
    heading, about, *rest = section.split("\n\n")
    return "\n\n".join([heading, f"{about} {where}", *rest])


def _machine(where: str) -> str:
    """The first sentence: what changes from run to run stands in others."""
    return where.strip().partition("). ")[0].removesuffix(").")


def every_name() -> set[str]:
    """The names of all benchmarks."""
    return {path.stem for path in Path(__file__).parent.glob("*.py")}


def figures_of(name: str) -> list[Figure]:
    """The figures of a benchmark, in its order."""
    return list(import_module(f"benchmarks.{name}").FIGURES)


def in_new_process(name: str) -> list[Value] | None:
    """The values of one run, one for each figure; None where the benchmark failed."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        told = subprocess.run([sys.executable, "-m", "benchmarks", "--figures", file, name])
        if told.returncode:
            return None
        values: list[Value] = json.loads(file.read_text())
        return values


def write(name: str, told: FiguresOrWords, file: Path) -> None:
    """Write the values of a run to the file that `in_new_process` reads."""
    figures = figures_of(name)
    if unknown := told.keys() - set(figures):
        raise ValueError(f"benchmarks.{name}: expected only what FIGURES has, got {unknown}")
    file.write_text(json.dumps([told.get(figure) for figure in figures]))


def table(figures: Sequence[Figure], runs: Sequence[Sequence[Value]]) -> list[str]:
    """A table in Markdown: a line for each figure, or, where figures have columns, for all that measure the same."""
    cells = [cell(figure, values) for figure, values in zip(figures, zip(*runs, strict=True), strict=True)]
    if not any(figure.column for figure in figures):
        lines = [f"| What | {heading(len(runs))} | Beside |", "|---|---|---|"]
        told = zip(figures, cells, strict=True)
        return lines + [f"| {figure.what} | {value} | {figure.beside} |" for figure, value in told]
    columns = list(dict.fromkeys(figure.column for figure in figures))
    rows: dict[str, dict[str, str]] = {}
    for figure, value in zip(figures, cells, strict=True):
        rows.setdefault(figure.what, {})[figure.column] = value
    lines = [f"| {heading(len(runs))} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    return lines + [f"| {what} | {' | '.join(row[column] for column in columns)} |" for what, row in rows.items()]


def heading(runs: int) -> str:
    """What a column of values is called."""
    return f"Median of {runs} runs (least to most)" if runs > 1 else "One run"


def cell(figure: Figure, values: Sequence[Value]) -> str:
    """The median and the range of a figure's numbers; words, if any run had no number."""
    if words := next((value for value in values if isinstance(value, str)), ""):
        return words
    numbers = [value for value in values if isinstance(value, float | int)]
    if not numbers:
        return "not measured"
    median, least, most = (figure.form.format(f(numbers)) for f in (statistics.median, min, max))
    return f"{median} {figure.unit}".rstrip() + (f" ({least} to {most})" if len(values) > 1 else "")


def machine() -> str:
    """The machine on which everything was measured, in a sentence."""
    return (
        f"Measured on {os.cpu_count()} cores of {processor(Path('/proc/cpuinfo'))}, {platform.system()}, "
        f"Python {platform.python_version()}, torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()})."
    )


def shared(before: object, after: object) -> str:
    """How much of the time that the cores asked for went to other machines of their host, where the system tells it."""
    names = ("user", "nice", "system", "irq", "softirq", "steal")
    spent = {name: getattr(after, name, 0.0) - getattr(before, name, 0.0) for name in names}
    if not hasattr(after, "steal") or not sum(spent.values()):
        return ""
    return f"Of the time that these cores asked for, {spent['steal'] / sum(spent.values()):.0%} went to others."


def processor(cpuinfo: Path) -> str:
    """The processor's name, on Linux from this file, on other systems from `platform`."""
    lines: Mapping[str, str] = {}
    if cpuinfo.exists():
        lines = {
            key.strip(): value.strip() for key, _, value in (s.partition(":") for s in cpuinfo.read_text().splitlines())
        }
    return lines.get("model name") or platform.processor() or platform.machine()
