"""The table of all runs of `depth.py`: how it is kept as JSON, where it is found, and what it says."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache, cached_property, lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import torch

from tfm_core.training.compare.depth import Cell, DepthRecipe, DepthRun, cells
from tfm_core.training.folder import JSON, SHIPPED, Folder
from tfm_core.training.shelf import Shelf

NAME = "depth"
FORMAT = 1  # of the file
DIGITS = 4  # of each number in the file
MOST_BYTES = 400_000  # of the file; a larger one is none of ours
WHAT = "Trained depths"  # as a sentence begins


class NotATable(ValueError):
    """A file is no table of depths; the message says why, in a sentence."""


@dataclass(frozen=True)
class Group:
    """The runs that differ in their seeds alone.

    Attributes:
        runs: one for each seed.
        guessing: the loss of guessing, nats.
    """

    runs: tuple[DepthRun, ...]
    guessing: float

    @property
    def failed(self) -> int:
        """How many cannot be told from guessing."""
        return sum(run.failed(self.guessing) for run in self.runs)

    @property
    def learned(self) -> int:
        """How many have learned the task."""
        return sum(run.learned for run in self.runs)

    @property
    def fails(self) -> bool:
        """Whether most seeds cannot be told from guessing: that is what it means that training fails."""
        return 2 * self.failed > len(self.runs)

    @property
    def accuracy(self) -> float:
        """The median over the seeds; a run that ended early counts as 0."""
        return median(run.accuracy if math.isfinite(run.accuracy) else 0.0 for run in self.runs)

    def gradient(self, step: int, *, matrices: bool = False) -> list[float]:
        """The median over the seeds of each layer's gradient at a step; empty if no run came so far.

        Args:
            step: one of those that were looked at.
            matrices: of each layer's last matrix, rather than of all of its parameters.
        """
        tables = (run.matrices if matrices else run.gradients for run in self.runs)
        rows = [table[step] for table in tables if step in table]
        return [median(column) for column in zip(*rows, strict=True)]


@dataclass(frozen=True)
class DepthTable:
    """All runs that have ended.

    Attributes:
        recipe: what they share.
        runs: in any order.
        made_with: the version of torch.
    """

    recipe: DepthRecipe
    runs: tuple[DepthRun, ...] = ()
    made_with: str = ""

    @cached_property
    def guessing(self) -> float:
        """The loss of guessing, nats."""
        return self.recipe.guessing

    @cached_property
    def groups(self) -> dict[tuple[str, int, int], Group]:
        """Wiring, layers and warm-up -> its runs, in the order of `cells`."""
        kept: dict[tuple[str, int, int], list[DepthRun]] = {}
        for run in sorted(self.runs, key=lambda run: run.cell):
            kept.setdefault((run.cell.wiring, run.cell.layers, run.cell.warmup), []).append(run)
        return {name: Group(tuple(runs), self.guessing) for name, runs in kept.items()}

    @property
    def layers(self) -> list[int]:
        """The depths."""
        return sorted({run.cell.layers for run in self.runs})

    @property
    def warmups(self) -> list[int]:
        """The steps of warm-up, 0 for none."""
        return sorted({run.cell.warmup for run in self.runs})

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return sorted({run.cell.seed for run in self.runs})

    @property
    def wirings(self) -> list[str]:
        """The wirings, in the order in which they were trained first."""
        return list(dict.fromkeys(run.cell.wiring for run in self.runs))

    @property
    def seconds(self) -> float:
        """How long all of it took."""
        return sum(run.seconds for run in self.runs)

    @property
    def is_complete(self) -> bool:
        """Whether all runs have ended."""
        return {run.cell for run in self.runs} >= set(cells())

    def fails_at(self, wiring: str, warmup: int) -> int | None:
        """The smallest depth at which training fails; None if it fails at none."""
        found_at = (depth for depth in self.layers if self._group(wiring, depth, warmup, "fails"))
        return next(found_at, None)

    def learns_up_to(self, wiring: str, warmup: int) -> int | None:
        """The largest depth up to which every seed learns the task; None if not even the smallest one does."""
        last = None
        for depth in self.layers:
            group = self.groups.get((wiring, depth, warmup))
            if group is None or group.learned < len(group.runs):
                break
            last = depth
        return last

    def _group(self, wiring: str, layers: int, warmup: int, what: str) -> bool:
        group = self.groups.get((wiring, layers, warmup))
        return group is not None and bool(getattr(group, what))


def as_json(table: DepthTable) -> str:
    """The table as text, a line for each run; what is not finite is null, "inf" or "-inf"."""
    head = {"format": FORMAT, "recipe": asdict(table.recipe), "made_with": table.made_with}
    rows = ",\n".join(json.dumps(_plain(asdict(run)), separators=(",", ":")) for run in table.runs)
    return f'{json.dumps(head)[:-1]}, "runs": [\n{rows}\n]}}\n'


def read(text: str) -> DepthTable:
    """The table that a text is.

    Raises:
        NotATable: if it is none.
    """
    try:
        known = json.loads(text)
        if known["format"] != FORMAT:
            raise NotATable(f"format: expected {FORMAT}, got {known['format']!r}")
        recipe = dict(known["recipe"])
        recipe["looked_at"] = tuple(map(int, recipe["looked_at"]))
        runs = tuple(_run(row) for row in known["runs"])
        return DepthTable(DepthRecipe(**recipe), runs, str(known["made_with"])[:100])
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as problem:
        if isinstance(problem, NotATable):
            raise
        raise NotATable(f"expected a table of depths, got something else: {problem!r}") from problem


def _run(row: Mapping[str, Any]) -> DepthRun:
    names = [field.name for field in fields(DepthRun)]
    if set(row) != set(names):
        raise NotATable(f"run: expected {', '.join(names)}; got {', '.join(map(str, row))[:200]}")
    by_step = {
        name: {int(step): tuple(map(_number, each)) for step, each in row[name].items()}
        for name in ("gradients", "matrices")
    }
    return DepthRun(
        cell=Cell(**row["cell"]),
        parameters=int(row["parameters"]),
        losses=tuple(map(_number, row["losses"])),
        points=tuple((int(step), _number(loss), _number(accuracy)) for step, loss, accuracy in row["points"]),
        **by_step,
        loss=_number(row["loss"]),
        error=_number(row["error"]),
        accuracy=_number(row["accuracy"]),
        ended=int(row["ended"]),
        seconds=_number(row["seconds"]),
    )


def _number(known: float | str | None) -> float:
    return math.nan if known is None else float(known)


def _plain(known: Any) -> Any:
    """Numbers with a few digits; those that JSON has no word for in words."""
    if isinstance(known, dict):
        return {str(name): _plain(value) for name, value in known.items()}
    if isinstance(known, list | tuple):
        return [_plain(value) for value in known]
    if not isinstance(known, float):
        return known
    if math.isnan(known):
        return None
    return float(f"{known:.{DIGITS}g}") if math.isfinite(known) else str(known)


class Depths:
    """Where the table is kept: beside the runs, else the one that comes with the app.

    Attributes:
        shelf: where it is kept.
        shipped: a folder, from which it is read if it is not on the shelf.
    """

    def __init__(self, folder: Folder | None = None, *, shipped: Path = SHIPPED) -> None:
        """Open it.

        Args:
            folder: where it is kept; that of the runs, by default.
            shipped: a folder, from which it is read if it is not on the shelf.
        """
        self.shelf, self.shipped = Shelf(WHAT, folder), shipped

    def kept(self) -> DepthTable | None:
        """What is on the shelf, whole or not; None if there is nothing that can be read."""
        for parts in self.shelf.contents(NAME):
            if table := _table_in(parts):
                return table
        return None

    def find(self) -> DepthTable | None:
        """The table that was computed here if it is whole, else the one that comes with the app."""
        kept = self.kept()
        if kept and kept.is_complete:
            return kept
        return _table_in(Folder(self.shipped).read(NAME)) or kept

    def keep(self, table: DepthTable) -> None:
        """Keep a table in place of an earlier one."""
        self.shelf.write(NAME, {JSON: as_json(table).encode()})


def _table_in(parts: Mapping[str, bytes]) -> DepthTable | None:
    content = parts.get(JSON, b"")
    return _read_once(content) if content and len(content) <= MOST_BYTES else None


@lru_cache(maxsize=2)  # the shelf's and the shipped one: reading takes 10 ms, and a page asks several times
def _read_once(content: bytes) -> DepthTable | None:
    with suppress(ValueError):
        return read(content.decode())
    return None


@cache
def depth_store() -> Depths:
    """The table of this process."""
    return Depths()


def with_runs(table: DepthTable | None, recipe: DepthRecipe, runs: Sequence[DepthRun]) -> DepthTable:
    """The table with more runs; another recipe begins anew."""
    before = table.runs if table and table.recipe == recipe else ()
    return DepthTable(recipe, (*before, *runs), f"torch {torch.__version__}")
