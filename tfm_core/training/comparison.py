"""What has come out of a comparison of networks, and the same as JSON."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from tfm_core.training.config import TrainingConfig
from tfm_core.training.run import Run

FORMAT = 1  # of the file
SOLVED = 0.99  # share of right answers


class NotAComparison(ValueError):
    """A file is no comparison; the message says why, in a sentence."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What has become of a network with one seed.

    Attributes:
        seed: of the first weights and of the examples.
        accuracy: share of right answers on held-out examples, at the end.
        exact: share of held-out examples all of whose answers are right.
        loss: on held-out examples, nats.
        seconds: that the run took, evaluations included.
        solved: the first step of the curve with at least `SOLVED` of the answers right; None if there is none.
        patterns: for each pattern of the task, how far the best head looks where it should; empty without attention.
        by_length: share of right answers at each of the comparison's lengths; None where it is not defined.
        problem: why it ended early; "" if it did not.
    """

    seed: int
    accuracy: float
    exact: float
    loss: float
    seconds: float
    solved: int | None
    patterns: tuple[float, ...]
    by_length: tuple[float | None, ...]
    problem: str


@dataclass(frozen=True)
class Entry:
    """A network, and what has become of it with each seed.

    Attributes:
        config: what was trained, at the first seed.
        parameters: how many it has.
        outcomes: one for each seed, as far as there are any.
    """

    config: TrainingConfig
    parameters: int
    outcomes: tuple[Outcome, ...]

    def at_length(self, place: int) -> float | None:
        """The median share of right answers at one of the comparison's lengths; None where it is not defined."""
        known = [share for outcome in self.outcomes if (share := outcome.by_length[place]) is not None]
        return median(known) if known else None

    def median(self, what: str) -> float:
        """The median over the seeds of a field of `Outcome`; infinity stands for None."""
        values = (getattr(outcome, what) for outcome in self.outcomes)
        return median(math.inf if value is None else value for value in values)


@dataclass(frozen=True)
class Comparison:
    """All of it.

    Attributes:
        task: that was learned.
        entries: the networks; the first one is what the others are changed from.
        lengths: at which they were tried, the trained one first.
        guessing: what is right at each of them for somebody who always gives the most frequent answer.
        seeds: that are meant to be tried.
        made_with: the version of torch.
    """

    task: str
    entries: tuple[Entry, ...]
    lengths: tuple[int, ...]
    guessing: tuple[float, ...]
    seeds: tuple[int, ...]
    made_with: str

    @property
    def base(self) -> TrainingConfig:
        """What the others are changed from."""
        return self.entries[0].config

    @property
    def is_complete(self) -> bool:
        """Whether every network was trained with every seed."""
        return all(len(entry.outcomes) == len(self.seeds) for entry in self.entries)

    @property
    def seconds(self) -> float:
        """The seconds that all runs together took."""
        return sum(outcome.seconds for entry in self.entries for outcome in entry.outcomes)

    @property
    def by_scheme(self) -> Mapping[str, Entry]:
        """Positional scheme -> the transformer that differs from the first one in it alone."""
        base = self.base
        return {
            entry.config.positional: entry
            for entry in self.entries
            if entry.outcomes and replace(entry.config, positional=base.positional, d_model=base.d_model) == base
        }

    @property
    def contestants(self) -> tuple[Entry, ...]:
        """All transformers, and of each recurrent network the learning rate with the best median."""
        best: dict[tuple[object, ...], Entry] = {}
        for entry in self.entries:
            config = entry.config
            key = (config,) if config.network == "transformer" else (config.network,)
            if entry.outcomes and (key not in best or _merit(entry) > _merit(best[key])):
                best[key] = entry
        return tuple(best.values())


def _merit(entry: Entry) -> tuple[float, float]:
    return entry.median("accuracy"), -entry.median("loss")


def outcome_of(run: Run, by_length: tuple[float | None, ...]) -> Outcome:
    """What has become of a run.

    Args:
        run: that has ended.
        by_length: of `lengths.by_length`.
    """
    last = run.last
    return Outcome(
        seed=run.config.seed,
        accuracy=last.accuracy,
        exact=last.exact,
        loss=last.loss,
        seconds=run.seconds,
        solved=next((point.step for point in run.points if point.accuracy >= SOLVED), None),
        patterns=tuple(max(max(layer) for layer in pattern) for pattern in last.scores),
        by_length=by_length,
        problem=run.problem,
    )


def as_json(comparison: Comparison) -> str:
    """The file; numbers that are not finite, of a run that diverged, are null in it."""
    known = {"format": FORMAT, **asdict(comparison)}
    return json.dumps(_without_infinity(known), indent=1, allow_nan=False)


def read(text: str) -> Comparison:
    """The comparison in a file.

    Raises:
        NotAComparison: for anything else.
    """
    try:
        known = json.loads(text)
        if not isinstance(known, dict) or known.get("format") != FORMAT:
            raise NotAComparison(f"expected a comparison of format {FORMAT}, got {text[:40]!r}")
        comparison = Comparison(
            task=str(known["task"]),
            entries=tuple(_entry(entry) for entry in known["entries"]),
            lengths=tuple(int(length) for length in known["lengths"]),
            guessing=tuple(float(share) for share in known["guessing"]),
            seeds=tuple(int(seed) for seed in known["seeds"]),
            made_with=str(known["made_with"])[:100],
        )
    except NotAComparison:
        raise
    except KeyError as problem:
        raise NotAComparison(f"expected {problem.args[0]!r} in a comparison, got none") from problem
    except (ValueError, TypeError, AttributeError, RecursionError) as problem:
        raise NotAComparison(f"expected a comparison; {problem}") from problem
    _check(comparison)
    return comparison


def _check(comparison: Comparison) -> None:
    if not comparison.entries or any(entry.config.task != comparison.task for entry in comparison.entries):
        raise NotAComparison(f"entries: expected networks that learn {comparison.task!r}, got others or none")
    count = len(comparison.lengths)
    rows = [comparison.guessing, *(outcome.by_length for entry in comparison.entries for outcome in entry.outcomes)]
    if not count or any(len(row) != count for row in rows):
        raise NotAComparison(f"lengths: expected a share for each of {count}, got {[len(row) for row in rows][:8]}")


def _entry(known: Mapping[str, Any]) -> Entry:
    outcomes = tuple(_outcome(outcome) for outcome in known["outcomes"])
    return Entry(TrainingConfig(**known["config"]), int(known["parameters"]), outcomes)


def _outcome(known: Mapping[str, Any]) -> Outcome:
    return Outcome(
        seed=int(known["seed"]),
        accuracy=float(known["accuracy"]),
        exact=float(known["exact"]),
        loss=math.inf if known["loss"] is None else float(known["loss"]),
        seconds=float(known["seconds"]),
        solved=None if known["solved"] is None else int(known["solved"]),
        patterns=tuple(math.nan if score is None else float(score) for score in known["patterns"]),
        by_length=tuple(None if share is None else float(share) for share in known["by_length"]),
        problem=str(known["problem"])[:500],
    )


def _without_infinity(known: Any) -> Any:
    if isinstance(known, dict):
        return {name: _without_infinity(value) for name, value in known.items()}
    if isinstance(known, list | tuple):
        return [_without_infinity(value) for value in known]
    return None if isinstance(known, float) and not math.isfinite(known) else known
