"""What lessons measure on the pages of the Attention lens."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.change import ChangeOutput, ChangeWeights
from tfm_ui.lenses.attention.contribution import Contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState


def changes_made(model: ModelState, state: AttentionState) -> int:
    """How many changes are made in B, of those that the model allows."""
    return len(ChangeOutput(model, state).changes[1])


def output_moved(model: ModelState, state: AttentionState) -> float:
    """How much of the next token's probability is elsewhere in B than in A, in percent; 0 of a model without logits."""
    if not model.gives_logits:
        return 0.0
    a, b = ChangeOutput(model, state).effect.probabilities.astype(np.float64)
    return 50 * float(np.abs(b - a).sum())


def rollout_on_first(model: ModelState, state: AttentionState) -> int:
    """In how many rows that have a choice the rollout over all layers has its largest number at the first token."""
    arcs = Arcs(model, replace(state, lines="rollout", layer=model.num_layers))
    choice = arcs.visible[: arcs.read].sum(-1) > 1
    return int((arcs.lines.keys[0, : arcs.read, 0] == 0)[choice].sum()) if arcs.how == "rollout" else 0


def rows_apart(model: ModelState, state: AttentionState) -> int:
    """In how many rows the token with the largest weight is not the one that contributes most."""
    return len(Contribution(model, state).differing)


def weight_changed(model: ModelState, state: AttentionState) -> float:
    """The largest difference between A and B among the weights of the head on screen."""
    panel = ChangeWeights(model, state)
    both = panel.there.all(0)
    return float(np.abs(np.where(both, panel.difference, 0)).max(initial=0))


MEASURES: Mapping[str, Callable[[ModelState, AttentionState], float | str]] = {
    measure.__name__: measure
    for measure in (
        changes_made,
        output_moved,
        rollout_on_first,
        rows_apart,
        weight_changed,
    )
}
