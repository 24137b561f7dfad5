"""Runs and grids of fine-tuning as two files: JSON, and safetensors for the maps. Nothing in them is ever executed."""

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tfm_core.training.compare.finetuning.looks import Heads, Looks
from tfm_core.training.compare.finetuning.outcome import NAME, Bag, Grid, Tuned, TunedPoint, Tuning, shape_of_maps
from tfm_core.training.folder import JSON, SHIPPED, TENSORS, Folder, Parts

FORMAT = 1
FOLDER = SHIPPED / NAME  # of grids that come with the app
MOST_BYTES = 1_000_000  # of each file; a larger one is none of ours
DIGITS = 5
T = TypeVar("T")


class NotTuned(ValueError):
    """Files are no run, or no grid, of fine-tuning; the message says why, in a sentence."""


def as_parts(what: Tuned | Grid) -> Parts:
    """The files of a run or a grid."""
    runs = what.runs if isinstance(what, Grid) else (what,)
    known = asdict(what) if isinstance(what, Tuned) else {**vars(what), "bags": [asdict(bag) for bag in what.bags]}
    if isinstance(what, Grid):
        known["runs"] = [asdict(run) for run in runs]
    for run in known["runs"] if isinstance(what, Grid) else [known]:
        del run["maps"]
    maps = {f"{run.tuning.name}.{when}": value for run in runs for when, value in run.maps.items()}
    text = json.dumps({"format": FORMAT, **_rounded(known)}, separators=(",", ":"))
    return {JSON: text.encode(), TENSORS: save({name: value.contiguous() for name, value in maps.items()})}


def read_run(parts: Parts) -> Tuned:
    """The run in these files.

    Raises:
        NotTuned: for anything else.
    """
    return _read(parts, _run)


def read_grid(parts: Parts) -> Grid:
    """The grid in these files.

    Raises:
        NotTuned: for anything else.
    """

    def grid(known: Mapping[str, Any], maps: Mapping[str, Tensor]) -> Grid:
        return Grid(
            task=str(known["task"]),
            body=str(known["body"]),
            runs=tuple(_run(run, maps) for run in known["runs"]),
            bags=tuple(Bag(int(bag["examples"]), int(bag["seed"]), _share(bag["accuracy"])) for bag in known["bags"]),
            most_frequent=_share(known["most_frequent"]),
            tested=int(known["tested"]),
            parameters=int(known["parameters"]),
            seconds=float(known["seconds"]),
        )

    made = _read(parts, grid)
    if not made.runs or any((run.tuning.task, run.tuning.body) != (made.task, made.body) for run in made.runs):
        raise NotTuned(f"runs: expected some that learn {made.task!r}, got others or none")
    return made


@lru_cache(8)
def shipped_grid(task: str, folder: Path = FOLDER) -> Grid | None:
    """The grid of a task that comes with the app; None if there is none."""
    with suppress(ValueError):
        return read_grid(Folder(folder).read(f"{NAME}-{task}"))
    return None


def keep_grid(grid: Grid, folder: Path = FOLDER) -> None:
    """Keep a grid, in place of an earlier one of its task.

    Raises:
        OSError: if it cannot be written.
    """
    Folder(folder).write(f"{NAME}-{grid.task}", as_parts(grid))
    shipped_grid.cache_clear()


def _read(parts: Parts, made: Callable[[Mapping[str, Any], Mapping[str, Tensor]], T]) -> T:
    if any(len(part) > MOST_BYTES for part in parts.values()):
        raise NotTuned(f"expected files of at most {MOST_BYTES:,} bytes, got larger ones")
    try:
        known = json.loads(parts[JSON])
        if not isinstance(known, dict) or known.get("format") != FORMAT:
            raise NotTuned(f"format: expected {FORMAT}, got another or none")
        return made(known, load(parts[TENSORS]))
    except NotTuned:
        raise
    except KeyError as problem:
        raise NotTuned(f"expected {problem.args[0]!r} in files of fine-tuning, got none") from problem
    except (SafetensorError, ValueError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        raise NotTuned(f"expected files of fine-tuning; {str(problem)[:200]}") from problem


def _run(known: Mapping[str, Any], maps: Mapping[str, Tensor]) -> Tuned:
    tuning = Tuning(**known["tuning"])
    its_maps = {when: maps[name] for when in ("before", "after") if (name := f"{tuning.name}.{when}") in maps}
    shape = shape_of_maps(tuning)
    for value in its_maps.values():
        if value.shape != shape or value.dtype != torch.float16 or not bool(value.isfinite().all()):
            raise NotTuned(f"maps: expected finite float16 {tuple(shape)}, got {tuple(value.shape)}, {value.dtype}")
    sizes = shape[0], shape[1]
    return Tuned(
        tuning=tuning,
        trained=int(known["trained"]),
        seconds=float(known["seconds"]),
        curve=tuple(
            TunedPoint(
                int(point["step"]),
                None if point["loss"] is None else float(point["loss"]),
                _share(point["accuracy"]),
            )
            for point in known["curve"][:100]
        ),
        accuracy=_share(known["accuracy"]),
        before=_looks(known["before"], sizes),
        after=_looks(known["after"], sizes),
        moved=_heads(known["moved"], sizes),
        maps=its_maps,
        made_with=str(known["made_with"])[:100],
    )


def _looks(known: Mapping[str, Any], sizes: tuple[int, int]) -> Looks:
    return Looks(**{field: _heads(known[field], sizes) for field in ("first", "last", "previous")})


def _heads(known: Any, sizes: tuple[int, int]) -> Heads:
    layers, heads = sizes
    if len(known) != layers or any(len(row) != heads for row in known):
        raise NotTuned(f"heads: expected {layers} rows of {heads}, got others")
    return tuple(tuple(_share(value) for value in row) for row in known)


def _share(known: Any) -> float:
    """A number from 0 to 1."""
    value = float(known)
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise NotTuned(f"expected a share from 0 to 1, got {value}")
    return value


def _rounded(known: Any) -> Any:
    if isinstance(known, dict):
        return {name: _rounded(value) for name, value in known.items()}
    if isinstance(known, list | tuple):
        return [_rounded(value) for value in known]
    return round(known, DIGITS) if isinstance(known, float) else known
