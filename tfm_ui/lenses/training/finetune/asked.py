"""What lessons measure on the page of the view "finetune": shares are medians over the seeds."""

from collections.abc import Callable, Sequence

from tfm_core.training.compare.finetuning.labelled import BODIES
from tfm_core.training.compare.finetuning.lora import low_rank_parameters
from tfm_core.training.compare.finetuning.ways import WAYS
from tfm_ui.lenses.training.finetune.compared import Finetune
from tfm_ui.lenses.training.finetune.results import tuning_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState


def tuned_right(model: ModelState, state: TrainingState) -> float:
    """The share of held-out labels that the chosen way has right; 0 where nothing was computed."""
    panel = Finetune(model, state)
    return panel.middle(state.way) if panel.is_shown else 0.0


def tuned_from_nothing(model: ModelState, state: TrainingState) -> float:
    """The same of the network that begins at random, with as many examples; 0 where nothing was computed."""
    panel = Finetune(model, state)
    return panel.middle("nothing") if panel.is_shown else 0.0


def tuned_as_a_whole(model: ModelState, state: TrainingState) -> float:
    """The same of the whole model, with as many examples; 0 where nothing was computed."""
    panel = Finetune(model, state)
    return panel.middle("whole") if panel.is_shown else 0.0


def tuned_bag(model: ModelState, state: TrainingState) -> float:
    """The same of naive Bayes, with as many examples; 0 where nothing was computed."""
    panel = Finetune(model, state)
    return panel.grid.bag(state.shots) if panel.is_shown else 0.0


def tuned_parameters(model: ModelState, state: TrainingState) -> int:
    """How many parameters the chosen way trains; 0 where nothing was computed."""
    panel = Finetune(model, state)
    return panel.grid.of(state.way, state.shots)[0].trained if panel.is_shown else 0


def tuned_share(model: ModelState, state: TrainingState) -> float:
    """The share of all parameters that the chosen way trains; 0 where nothing was computed."""
    panel = Finetune(model, state)
    return tuned_parameters(model, state) / panel.grid.parameters if panel.is_shown else 0.0


def tuned_low_rank(model: ModelState, state: TrainingState) -> int:
    """How many numbers LoRA's thin matrices have in all layers, of the rank of the chosen way; 0 without any."""
    rank = WAYS[state.way].rank
    return low_rank_parameters(BODIES[tuning_of(state).body].config, rank) if rank else 0


ASKED: Sequence[Callable[[ModelState, TrainingState], float | str]] = (
    tuned_as_a_whole,
    tuned_bag,
    tuned_from_nothing,
    tuned_low_rank,
    tuned_parameters,
    tuned_right,
    tuned_share,
)
