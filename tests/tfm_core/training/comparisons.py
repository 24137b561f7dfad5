"""Comparisons made by hand."""

from collections.abc import Mapping, Sequence

from tfm_core.training.comparison import Comparison, Entry, Outcome
from tfm_core.training.config import TrainingConfig, of_task
from tfm_core.training.lengths import is_defined, lengths_of

CHANGES: dict[str, dict[str, object]] = {
    "learned": {},
    "rope": {"positional": "rope"},
    "post": {"norm": "post"},
    "layers": {"num_layers": 2},
    "1 head": {"num_heads": 1},
    "2 heads": {"num_heads": 2},
    "lstm": {"network": "lstm"},
    "slow lstm": {"network": "lstm", "learning_rate": 0.003},
    "gru": {"network": "gru"},
}


def outcome(config: TrainingConfig, seed: int, accuracy: float, **more) -> Outcome:
    """A run with this share of right answers, at all lengths where it is defined."""
    known = {
        "exact": accuracy / 2,
        "loss": 1 - accuracy,
        "seconds": 1.0,
        "solved": 100 if accuracy >= 0.99 else None,
        "patterns": (0.5,) * len(config.about.patterns) if config.network == "transformer" else (),
        "by_length": tuple(accuracy if is_defined(config, length) else None for length in lengths_of(config)),
        "problem": "",
    }
    return Outcome(seed=seed, accuracy=accuracy, **(known | more))


def comparison(rights: Mapping[str, Sequence[float]], task: str = "reverse", **more) -> Comparison:
    """A comparison in which these of `CHANGES` have these shares of right answers, a number for each seed."""
    entries = []
    for name, accuracies in rights.items():
        config = of_task(task, **CHANGES[name])
        outcomes = tuple(outcome(config, seed, accuracy, **more) for seed, accuracy in enumerate(accuracies))
        entries.append(Entry(config, 1000, outcomes))
    base = entries[0].config
    lengths = lengths_of(base)
    return Comparison(task, tuple(entries), lengths, (0.1,) * len(lengths), (0, 1, 2), "torch of a test")
