"""The table of `data_and_size.py`, read: what is kept of each run, and where it is found."""

import json
import math
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from tfm_core.training.folder import SHIPPED, default_folder

NAME = "data-and-size"
MOST_BYTES = 200_000  # of the file
RUNS = 16  # of a whole table


class NotATable(ValueError):
    """A file is no table of sizes; the message says why, in a sentence."""


@dataclass(frozen=True)
class SizeRun:
    """A run of Lab GPT's recipe.

    Attributes:
        d_model: the width of the model.
        parameters: all numbers that are trained.
        layer_parameters: those of the layers alone, without embeddings.
        tokens: of prose that it could read.
        steps: how many.
        read: tokens that it has read, with repetitions.
        loss: the lowest on held-out prose, nats a token.
        best_step: the step of that loss.
        training_loss: the mean of the last steps, nats a token.
        bits_per_byte: of the lowest loss.
        seconds: how long it took.
        curve: step, training loss and held-out loss.
    """

    d_model: int
    parameters: int
    layer_parameters: int
    tokens: int
    steps: int
    read: int
    loss: float
    best_step: int
    training_loss: float
    bits_per_byte: float
    seconds: float
    curve: tuple[tuple[int, float, float], ...]

    @property
    def nats_per_bit(self) -> float:
        """Nats a token for each bit a byte: the same for all runs, as they read the same held-out prose."""
        return self.loss / self.bits_per_byte

    @property
    def still_falling(self) -> float:
        """Nats by which the held-out loss fell between the last two points of the curve; negative if it rose."""
        return self.curve[-2][2] - self.curve[-1][2] if len(self.curve) > 1 else math.nan


def read(text: str) -> tuple[SizeRun, ...]:
    """The runs of a table, small models first.

    Raises:
        NotATable: if the text is none.
    """
    try:
        rows = json.loads(text)
        runs = [_run(row) for row in rows]
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as problem:
        raise NotATable(f"expected a table of sizes, got something else: {problem!r}") from problem
    if not runs:
        raise NotATable("expected a table of sizes, got one without runs")
    return tuple(sorted(runs, key=lambda run: (run.parameters, run.tokens)))


def _run(row: dict[str, Any]) -> SizeRun:
    values = {field.name: row[field.name] for field in fields(SizeRun)}
    values["curve"] = tuple((int(step), float(training), float(loss)) for step, training, loss in row["curve"])
    for name, value in values.items():
        if name != "curve" and not (isinstance(value, int | float) and math.isfinite(value) and value > 0):
            raise NotATable(f"{name}: expected a positive number, got {value!r}")
    return SizeRun(**values)


def find(shipped: Path = SHIPPED, kept: Path | None = None) -> tuple[SizeRun, ...]:
    """The table that was computed here if it is whole, else the one that comes with the app; nothing without either.

    Args:
        shipped: the folder of what comes with the app.
        kept: the folder of what was computed here; that of the runs, by default.
    """
    here = _in(kept or default_folder())
    return here if len(here) >= RUNS else _in(shipped) or here


def _in(folder: Path) -> tuple[SizeRun, ...]:
    path = folder / f"{NAME}.json"
    try:
        stamp = path.stat()
    except OSError:
        return ()
    return _read(path, stamp.st_mtime_ns, stamp.st_size) if stamp.st_size <= MOST_BYTES else ()


@lru_cache(maxsize=4)  # the file is read again when it has changed
def _read(path: Path, changed: int, size: int) -> tuple[SizeRun, ...]:
    try:
        return read(path.read_text("utf-8"))
    except (OSError, ValueError):
        return ()
