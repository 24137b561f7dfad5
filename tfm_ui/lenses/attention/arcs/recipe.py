"""What the arcs show as a few lines of plain Python."""

from tfm_ui.lenses.attention.arcs.numbers import ArcsView
from tfm_ui.live.recipe import recipe, script
from tfm_ui.state.model_state import ModelState

FUNCTIONS = {"mean": "mean_over_heads", "max": "max_over_heads", "rollout": "attention_rollout"}


def recipe_of(seen: ArcsView, model: ModelState, head: int) -> str:
    """A script that leaves what is shown in `weights`, (query, key): of the aggregate, or of this head, from 0."""
    if seen.lines == "heads":
        return recipe(model, seen.place, head)
    name, weights = FUNCTIONS[seen.lines], f'trace["{seen.place}"][0]'
    if seen.lines == "rollout":
        site = seen.place.replace(f"layers.{seen.layer}.", "layers.{layer}.")
        weights = f'trace[f"{site}"][0] for layer in range({seen.layer + 1})'
    line = f"weights = {name}({weights})  # (query, key)"
    return script(model, line, imports=[f"from tfm_core.study.aggregates import {name}"])
