"""The facts beside the tabs: which weights are on screen."""

from tfm_ui.lenses.training.runs import is_under_way, run_of, shown_config
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.state.model_state import ModelState


def task_alone(model: ModelState, state: TrainingState) -> str:
    """What the networks of this lens read."""
    return "Examples of the task are read here, and not the text in the sidebar."


def of_run(model: ModelState, state: TrainingState) -> str:
    """Random, or trained, and on what. The sidebar's model is not on this page."""
    config = shown_config(state)
    run = run_of(config)
    if is_under_way(config):
        return f"◐ Being trained on {config.task} · seed {config.seed} · {config.num_layers} × {config.num_heads}"
    if run is None or (not run.done and not config.file):
        return "○ Random weights: not trained yet"
    size = f"{config.num_layers} × {config.num_heads}"
    whole = "Trained" if run.is_complete else "Partly trained"
    return f"◐ {whole} on {config.task} · seed {config.seed} · {size}"
