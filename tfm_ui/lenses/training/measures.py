"""What lessons measure on the pages of the Training lens."""

from collections.abc import Callable, Mapping

from tfm_core.training.comparison import Comparison, Entry
from tfm_ui.lenses.training.compare.measures import MEASURES as COMPARED_BY
from tfm_ui.lenses.training.outcomes import comparison_of, is_recurrent
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState

LEVEL = "neither"


def pre_or_post(model: ModelState, state: TrainingState) -> str:
    """Which of two transformers that differ in the norm alone is ahead, by the measure on screen; "neither" if the
    seeds do not tell, or if nothing was computed."""
    comparison = comparison_of(state.task)
    both = _norms(comparison) if comparison else {}
    if len(both) < 2:
        return LEVEL
    ahead = COMPARED_BY[state.measure].ahead(both["pre"], both["post"])
    return {1: "pre-norm", -1: "post-norm"}.get(ahead, LEVEL)


def _norms(comparison: Comparison) -> dict[str, Entry]:
    """The norm -> the network of the comparison with it, of those that otherwise are as the first."""
    base = comparison.entries[0].config
    return {
        entry.config.norm: entry
        for entry in comparison.entries
        if entry.outcomes
        and all(
            getattr(entry.config, name) == getattr(base, name)
            for name in ("network", "positional", "num_layers", "num_heads")
        )
    }


def recurrent_right(model: ModelState, state: TrainingState) -> float:
    """The share of right answers of the best recurrent network of the task on screen, the median over its seeds."""
    return _best(state, recurrent=True)


def transformer_right(model: ModelState, state: TrainingState) -> float:
    """The share of right answers of the best transformer of the task on screen, the median over its seeds."""
    return _best(state, recurrent=False)


def _best(state: TrainingState, *, recurrent: bool) -> float:
    comparison = comparison_of(state.task)
    entries = comparison.contestants if comparison else ()
    return max((entry.median("accuracy") for entry in entries if is_recurrent(entry) is recurrent), default=0.0)


MEASURES: Mapping[str, Callable[[ModelState, TrainingState], float | str]] = {
    measure.__name__: measure for measure in (pre_or_post, recurrent_right, transformer_right)
}
