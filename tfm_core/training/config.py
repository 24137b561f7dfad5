"""What a run of training is: one frozen value, which is its name, its cache key and its part of a link at once.

>>> config = read_name("reverse,seed=3,learning_rate=0.02")
>>> config.task, config.seed, config.num_layers
('reverse', 3, 1)
>>> config.name
'reverse,seed=3,learning_rate=0.02'
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Any

from tfm_core.model.choices import check_choice
from tfm_core.model.classifier import POOLINGS
from tfm_core.model.config import TransformerConfig
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import Task

NETWORKS = ("transformer", "lstm", "gru", "rnn")
SCHEDULES = ("falling", "constant")
BOUNDS: dict[str, tuple[float, float]] = {
    "d_model": (1, 256),
    "num_heads": (1, 16),
    "num_layers": (1, 6),
    "seed": (0, 9999),
    "steps": (1, 20_000),
    "batch_size": (1, 1024),
    "warmup": (0, 10_000),
    "learning_rate": (1e-6, 10.0),
    "dropout": (0.0, 0.9),
    "weight_decay": (0.0, 10.0),
    "beta2": (0.0, 0.99999),
    "clip": (0.0, 1000.0),
}
WHOLE = ("d_model", "num_heads", "num_layers", "seed", "steps", "batch_size", "warmup")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """A task, the network that learns it, and how. `of_task` makes one with the defaults of its task.

    Attributes:
        task: a key of `TASKS`.
        network: one of `NETWORKS`; the recurrent ones are torch's own.
        d_model, num_heads, num_layers: as in `TransformerConfig`; the feed-forward network has 4 d_model hidden units.
        positional, norm: of a transformer.
        pooling: what a classifier of whole sequences reads its answer from, one of `POOLINGS`; means nothing elsewhere.
        learning_rate: of AdamW (Loshchilov and Hutter 2019), after the warm-up.
        warmup: steps in which the rate rises from 0 to `learning_rate`.
        batch_size: examples of a step.
        dropout: share of units set to zero at each step.
        weight_decay: of AdamW.
        activation: of the transformer's feed-forward network.
        schedule: one of `SCHEDULES`: whether the rate falls later, or stays.
        beta2: of AdamW: how slowly it forgets squared gradients.
        clip: the norm to which longer gradients are cut; 0 for none.
        steps: how many.
        seed: of the first weights and of the examples.
        file: of weights that somebody has loaded, 32 digits of their hash, in old links twelve; it cannot be trained.

    Raises:
        ValueError: naming the field, what was expected and what came.

    Examples:
        >>> from tfm_core import TrainingConfig
        >>> config = TrainingConfig(task="reverse", steps=100, seed=3)
        >>> config.transformer.d_model, config.about.architecture
        (16, 'encoder')
    """

    task: str
    network: str = "transformer"
    d_model: int = 16
    num_heads: int = 1
    num_layers: int = 1
    positional: str = "learned"
    norm: str = "pre"
    pooling: str = "mean"
    learning_rate: float = 1e-2
    warmup: int = 50
    batch_size: int = 64
    dropout: float = 0.0
    weight_decay: float = 0.01
    activation: str = "gelu"
    schedule: str = "falling"
    beta2: float = 0.98  # Vaswani et al. 2017, section 5.3
    clip: float = 1.0  # Pascanu et al. 2013
    steps: int = 400
    seed: int = 0
    file: str = ""

    def __post_init__(self) -> None:
        check_choice("task", self.task, TASKS)
        check_choice("network", self.network, NETWORKS)
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("pooling", self.pooling, POOLINGS if self.about.classes else POOLINGS[:1])
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            kinds = (int,) if name in WHOLE else (int, float)
            if type(value) not in kinds or not low <= value <= high:
                kind = "a whole number" if name in WHOLE else "a number"
                raise ValueError(f"{name}: expected {kind} from {low:g} to {high:g}, got {value!r}")
        if type(self.file) is not str or not re.fullmatch("[0-9a-f]{32}|[0-9a-f]{12}|", self.file):
            raise ValueError(f"file: expected 32 or twelve hexadecimal digits or nothing, got {self.file!r}")
        _ = self.transformer  # refuses what no transformer can be
        self._check_recurrent()

    def _check_recurrent(self) -> None:
        if self.network == "transformer":
            return
        if self.about.architecture == "encoder-decoder":
            raise ValueError(
                f"network: expected a transformer for the encoder-decoder of {self.task!r}, got {self.network!r}"
            )
        if self.about.architecture == "encoder" and self.d_model % 2:
            raise ValueError(f"d_model: expected an even number, as half of it reads from each end; got {self.d_model}")

    @property
    def about(self) -> Task:
        """The task itself."""
        return TASKS[self.task]

    @property
    def transformer(self) -> TransformerConfig:
        """The configuration of the transformer that is trained, with its first, random weights."""
        task = self.about
        return TransformerConfig(
            vocab_size=task.vocab_size,
            architecture=task.architecture,
            d_model=self.d_model,
            num_heads=self.num_heads,
            num_layers=self.num_layers,
            max_len=task.length,  # learned positions beyond it would be random for ever
            positional=self.positional,
            norm=self.norm,
            activation=self.activation,
            dropout=self.dropout,
            seed=self.seed,
            head="none" if task.spans else "logits",  # a span is told by two vectors beside it, see `SpanReader`
        )

    @property
    def name(self) -> str:
        """The task, and what differs from its defaults: `read_name` brings the configuration back."""
        default = of_task(self.task)
        changed = [field.name for field in fields(self) if getattr(self, field.name) != getattr(default, field.name)]
        return ",".join([self.task, *(f"{name}={_text(getattr(self, name))}" for name in changed)])


def of_task(task: str, **changes: Any) -> TrainingConfig:
    """The configuration with which a task is learned if nothing else is said, and changes to it.

    Raises:
        ValueError: as `TrainingConfig`.
    """
    check_choice("task", task, TASKS)
    return TrainingConfig(task=task, **{**TASKS[task].defaults, **changes})


def read_name(name: str) -> TrainingConfig:
    """The configuration that a name stands for.

    Raises:
        ValueError: if it stands for none.
    """
    task, *changes = name.split(",")
    config = of_task(task)
    kinds = {field.name: type(getattr(config, field.name)) for field in fields(config)}
    values: dict[str, Any] = {}
    for change in changes:
        field, is_given, text = change.partition("=")
        if not is_given or field not in kinds or field == "task":
            known = ", ".join(field for field in kinds if field != "task")
            raise ValueError(f"name of a run: expected changes of {known}, such as seed=3; got {change!r}")
        try:
            values[field] = kinds[field](text)
        except ValueError:
            raise ValueError(f"{field}: expected a number, got {text!r}") from None
    return replace(config, **values)


def _text(value: object) -> str:
    """A value as the shortest text that gives the same value back."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
