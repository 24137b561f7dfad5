"""Runs benchmarks several times, each time in a new process, and prints the tables of docs/how-fast.md."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from benchmarks.measure import Figure, Figures


def repeat(names: Sequence[str], runs: int) -> None:
    """Run all benchmarks one after the other, then all of them again, and so on; at the end print the tables."""
    figures: dict[str, list[list[float | None]]] = {name: [] for name in names}
    minutes: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(runs):
        for name in names:
            begin = time.monotonic()
            figures[name].append(in_new_process(name))
            minutes[name].append((time.monotonic() - begin) / 60)
    print(f"\n{machine()}")
    for name in names:
        title = (import_module(f"benchmarks.{name}").__doc__ or "").partition("\n")[0]
        print(f"\n### {name}\n\n{title} A run took {statistics.median(minutes[name]):.1f} minutes.\n")
        print("\n".join(table(figures_of(name), figures[name])))


def figures_of(name: str) -> list[Figure]:
    """The figures of a benchmark, in its order."""
    return list(import_module(f"benchmarks.{name}").FIGURES)


def in_new_process(name: str) -> list[float | None]:
    """The numbers of one run, one for each figure; None for figures that could not be measured here."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        subprocess.run([sys.executable, "-m", "benchmarks", "--figures", file, name], check=True)
        values: list[float | None] = json.loads(file.read_text())
        return values


def write(name: str, told: Figures, file: Path) -> None:
    """Write the numbers of a run to the file that `in_new_process` reads."""
    figures = figures_of(name)
    if unknown := told.keys() - set(figures):
        raise ValueError(f"benchmarks.{name}: expected only what FIGURES has, got {unknown}")
    file.write_text(json.dumps([told.get(figure) for figure in figures]))


def table(figures: Sequence[Figure], runs: Sequence[Sequence[float | None]]) -> list[str]:
    """A table in Markdown, with a line for each figure."""
    lines = [f"| What | Median of {len(runs)} run{'s' * (len(runs) != 1)} (least to most) | Beside |", "|---|---|---|"]
    for figure, values in zip(figures, zip(*runs, strict=True), strict=True):
        numbers = [value for value in values if value is not None]
        lines.append(f"| {figure.what} | {cell(figure, numbers)} | {figure.beside} |")
    return lines


def cell(figure: Figure, numbers: Sequence[float]) -> str:
    """The median and the range of a figure's numbers."""
    if not numbers:
        return "not measured"
    median, least, most = (figure.form.format(f(numbers)) for f in (statistics.median, min, max))
    return f"{median} {figure.unit}".rstrip() + f" ({least} to {most})"


def machine() -> str:
    """The machine on which everything was measured, in a sentence."""
    return (
        f"Measured on {os.cpu_count()} cores of {processor(Path('/proc/cpuinfo'))}, {platform.system()}, "
        f"Python {platform.python_version()}, torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()})."
    )


def processor(cpuinfo: Path) -> str:
    """The processor's name, on Linux from this file, on other systems from `platform`."""
    lines: Mapping[str, str] = {}
    if cpuinfo.exists():
        lines = {
            key.strip(): value.strip() for key, _, value in (s.partition(":") for s in cpuinfo.read_text().splitlines())
        }
    return lines.get("model name") or platform.processor() or platform.machine()
