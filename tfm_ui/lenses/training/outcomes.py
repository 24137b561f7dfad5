"""The comparison that a link is about: what is kept of it, or has come out so far."""

from tfm_core.training.compare import ComparisonStep
from tfm_core.training.comparison import Comparison, Entry
from tfm_core.training.outcomes import outcome_store
from tfm_ui.jobs import sessions
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

JOB = "compare"
NAMES = {"lstm": "LSTM", "gru": "GRU", "rnn": "RNN"}


def comparison_of(task: str) -> Comparison | None:
    """The kept comparison of a task; while there is none, what has come out so far; None if there is nothing."""
    if kept := outcome_store().find(task):
        return kept
    step = sessions.latest(JOB, task)
    return step.comparison if isinstance(step, ComparisonStep) and step.comparison.contestants else None


def is_recurrent(entry: Entry) -> bool:
    """Whether it reads one token after the other."""
    return entry.config.network != "transformer"


def badge(model: ModelState, state: TrainingState) -> str:
    """The facts beside the tabs: how many networks are on screen. The sidebar's model is not on this page."""
    comparison = comparison_of(state.task)
    if comparison is None:
        return "○ Nothing is computed yet"
    runs = sum(len(entry.outcomes) for entry in comparison.entries)
    networks = formats.plural(len(comparison.contestants), "network")
    return f"◐ {networks} · {formats.plural(runs, 'run')} on {comparison.task}"
