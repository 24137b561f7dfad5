"""The run that a link describes: its configuration, whether this server trains it, and what there is of it."""

from dataclasses import replace
from functools import cache

from tfm_core import TrainingConfig, run_store
from tfm_core.training.config import of_task
from tfm_core.training.networks import network, parameters
from tfm_core.training.run import Progress, Run
from tfm_core.training.train import untrained
from tfm_ui.jobs import sessions
from tfm_ui.lenses.training.state import AUTO, TrainingState
from tfm_ui.live.cache import cached, never

JOB = "train"
LONGEST = 120.0  # estimated seconds of a run
# Seconds, measured on one core: of a step however small the model is, for each layer, and of a multiply-add.
BASE, LAYER, OPERATION = 0.35e-3, 0.75e-3, 3.7e-11
# Field of the lens -> field of the configuration.
FIELDS = {
    "layers": "num_layers",
    "heads": "num_heads",
    "width": "d_model",
    "positional": "positional",
    "norm": "norm",
    "pooling": "pooling",
    "rate": "learning_rate",
    "warmup": "warmup",
    "batch": "batch_size",
    "dropout": "dropout",
    "decay": "weight_decay",
    "steps": "steps",
}


def config_of(state: TrainingState) -> TrainingConfig:
    """What the controls ask for; "auto" is the task's own value.

    Raises:
        ValueError: for what no transformer can be; the message names expected and got.
    """
    asked = {FIELDS[name]: value for name in FIELDS if (value := getattr(state, name)) != AUTO}
    if not state.has_classes:
        asked.pop("pooling", None)
    return of_task(state.task, seed=state.seed, **asked)


def shown_config(state: TrainingState) -> TrainingConfig:
    """What the controls ask for; where that cannot be, the task as it is: a picture stays, and `why_not` says why."""
    try:
        return config_of(state)
    except ValueError:
        return of_task(state.task, seed=state.seed)


def why_not(state: TrainingState) -> str:
    """Why this is not trained here, in a sentence; "" if it is."""
    try:
        config = config_of(state)
    except ValueError as problem:
        return f"{problem}."
    if (seconds := estimate(config)) > LONGEST:
        return (
            f"This would take about {seconds:.0f} s, and {LONGEST:.0f} s is the most that a run may take here. Fewer "
            "steps, layers or examples fit; without the app there is no limit: "
            f"python -m tfm_core.training {config.name}"
        )
    return ""


def size_of(config: TrainingConfig) -> int:
    """How many parameters are trained."""
    return _size_of(replace(config, seed=0))  # whatever the seed


@cache
def _size_of(config: TrainingConfig) -> int:
    return parameters(network(config))


def estimate(config: TrainingConfig) -> float:
    """How many seconds the run takes on one core, roughly: each weight is used forward, and twice backward."""
    stacks = 2 if config.about.architecture == "encoder-decoder" else 1
    tokens, layers = config.batch_size * config.about.length, config.num_layers * stacks
    matrices = 12 * config.d_model**2 * layers * (1 + stacks / 6) + config.about.outcomes * config.d_model
    scores = 2 * config.about.length * config.d_model * layers
    return config.steps * (BASE + LAYER * layers + 3 * tokens * (matrices + scores) * OPERATION)


def run_of(config: TrainingConfig) -> Run | None:
    """What there is of a run: as it stands while it is under way, else as it was kept; None if there is nothing."""
    step = sessions.latest(JOB, config)
    return step.run if isinstance(step, Progress) else run_store().find(config)


def shown_run(config: TrainingConfig) -> Run:
    """What there is of a run; where there is nothing, its first weights."""
    return run_of(config) or _untrained(config)


@cached(heavy=never)
def _untrained(config: TrainingConfig) -> Run:
    return untrained(config)


def is_under_way(config: TrainingConfig) -> bool:
    """Whether the server is training it, or will."""
    return sessions.is_under_way(JOB, config)
