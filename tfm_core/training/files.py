"""A run as two files: safetensors for all tensors, JSON for the rest. Nothing in them is ever executed."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from tfm_core.training.config import TrainingConfig
from tfm_core.training.networks import network
from tfm_core.training.run import Point, Run

FORMAT = 1  # of these files
MOST_TEXT = 4_000_000  # characters of a run's JSON; a larger one is none of ours
MOST_NAME = 60  # characters of a name in a sentence
MOST_TOLD = 200  # characters of what a library says is wrong
GROUPS = ("weights", "maps", "optimizer")
REMEMBERED = ("exp_avg", "exp_avg_sq")  # what AdamW remembers of a parameter


class NotARun(ValueError):
    """Files are no run; the message says why, in a sentence."""


def as_tensors(run: Run, *, optimizer: bool = True) -> bytes:
    """All tensors of a run, as safetensors: "weights.<parameter>", "maps.<site>", "optimizer...", "losses", "said".

    Args:
        run: what is written.
        optimizer: whether it can be continued later.
    """
    tensors = {"losses": run.losses, "said": run.said.contiguous()}
    for group in GROUPS if optimizer else GROUPS[:2]:
        tensors |= {f"{group}.{name}": value.contiguous() for name, value in getattr(run, group).items()}
    return save(tensors)


def as_json(run: Run) -> str:
    """All but the tensors."""
    known = {
        "format": FORMAT,
        "name": run.config.name,
        "config": asdict(run.config),
        "vocabulary": list(run.config.about.vocabulary),
        "points": [asdict(point) for point in run.points],
        "snapshots": list(run.snapshots),
        "seconds": run.seconds,
        "stepping": run.stepping,
        "problem": run.problem,
        "made_with": run.made_with,
    }
    return json.dumps(known, indent=1)


def read(tensors: bytes, text: str) -> Run:
    """The run in these files.

    Raises:
        NotARun: for anything else, also for a run whose parts do not fit together.
    """
    if len(text) > MOST_TEXT:
        raise NotARun(f"expected a run's JSON of at most {MOST_TEXT:,} characters, got {len(text):,}")
    try:
        known = json.loads(text)
        if not isinstance(known, dict) or known.get("format") != FORMAT:
            got = known.get("format") if isinstance(known, dict) else known
            raise NotARun(f"format: expected {FORMAT}, got {str(got)[:80]!r}")
        config = TrainingConfig(**known["config"])
        loaded = load(tensors)
        groups = {group: _group(loaded, group) for group in GROUPS}
        run = Run(
            config=config,
            losses=loaded["losses"],
            said=loaded["said"],
            points=tuple(_point(point) for point in known["points"]),
            snapshots=tuple(int(step) for step in known["snapshots"]),
            seconds=float(known["seconds"]),
            stepping=float(known["stepping"]),
            problem=str(known["problem"])[:500],
            made_with=str(known["made_with"])[:100],
            **groups,
        )
    except NotARun:
        raise
    except SafetensorError as problem:
        raise NotARun(f"expected a safetensors file; {as_text(str(problem), MOST_TOLD)}") from problem
    except KeyError as problem:
        raise NotARun(f"expected {problem.args[0]!r} in the files of a run, got none") from problem
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
        raise NotARun(f"expected the files of a run; {as_text(str(problem), MOST_TOLD)}") from problem
    check_weights(config, run.weights, finite=not run.problem)  # of a run that diverged they may be anything
    _check_rest(run)
    return run


def check_weights(config: TrainingConfig, weights: Mapping[str, Tensor], *, finite: bool = True) -> None:
    """Refuse weights that are not those of this configuration.

    Args:
        config: which run's they should be.
        weights: parameter -> its value.
        finite: whether they must be finite numbers.

    Raises:
        NotARun: naming what was expected and what came.
    """
    check_shapes(config, {name: value.shape for name, value in weights.items()})
    for name, value in weights.items():
        if value.dtype != torch.float32:
            raise NotARun(f"{as_text(name)}: expected numbers of float32, got {value.dtype}")
        if finite and not bool(value.isfinite().all()):
            raise NotARun(f"{as_text(name)}: expected finite numbers, got NaN or infinity")


def check_shapes(config: TrainingConfig, shapes: Mapping[str, Any]) -> None:
    """Refuse tensors of other names or shapes than this configuration has.

    Args:
        config: which run's they should be.
        shapes: parameter -> its shape, of whoever wrote a file any value.

    Raises:
        NotARun: naming what was expected and what came.
    """
    expected = _shapes(replace(config, seed=0, file=""))
    for name in sorted(expected.keys() | shapes.keys()):
        shape = shapes.get(name)
        got = tuple(shape) if isinstance(shape, Sequence) else shape
        if expected.get(name) != got:
            raise NotARun(f"{as_text(name)}: expected shape {expected.get(name)}, got {as_text(str(got))}")


@lru_cache(maxsize=32)
def _shapes(config: TrainingConfig) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in network(config).named_parameters()}


def as_text(written: str, most: int = MOST_NAME) -> str:
    """What somebody else has written, as it may stand in a sentence: short, and without invisible characters.

    Args:
        written: any text.
        most: characters that are left of it.
    """
    plain = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in written[: most + 1])
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def _check_rest(run: Run) -> None:
    shapes = {f"{name}.{what}": value.shape for name, value in run.weights.items() for what in REMEMBERED}
    if run.optimizer and {name: value.shape for name, value in run.optimizer.items()} != shapes:
        raise NotARun(f"optimizer: expected {', '.join(REMEMBERED)} of each parameter in its shape, got others")
    if not run.points or run.losses.dim() != 1 or run.losses.dtype != torch.float32:
        raise NotARun(f"expected a curve of float32 losses with points, got {tuple(run.losses.shape)}")
    if run.said.dtype != torch.int64 or not len(run.said) == len(run.snapshots) > 0:
        raise NotARun(f"said: expected int64 for {len(run.snapshots)} snapshots, got {tuple(run.said.shape)}")
    if not run.problem and not all(math.isfinite(point.loss) for point in run.points):
        raise NotARun("expected finite losses of a run that did not diverge, got NaN or infinity")
    for name, maps in run.maps.items():
        if maps.dim() != 5 or len(maps) != len(run.snapshots):
            raise NotARun(f"{as_text(name)}: expected (snapshot, probe, head, query, key), got {tuple(maps.shape)}")


def _group(tensors: dict[str, Tensor], group: str) -> dict[str, Tensor]:
    return {name.removeprefix(f"{group}."): value for name, value in tensors.items() if name.startswith(f"{group}.")}


def _point(known: dict[str, Any]) -> Point:
    scores = tuple(tuple(tuple(float(head) for head in layer) for layer in pattern) for pattern in known["scores"])
    return Point(int(known["step"]), float(known["loss"]), float(known["accuracy"]), float(known["exact"]), scores)
