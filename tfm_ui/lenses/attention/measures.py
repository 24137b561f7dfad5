"""What lessons measure on the pages of the Attention lens."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.change import ChangeOutput, ChangeWeights
from tfm_ui.lenses.attention.contribution import Contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def changes_made(model: ModelState, state: AttentionState) -> int:
    """How many changes are made in B, of those that the model allows."""
    return len(ChangeOutput(model, state).changes[1])


def contribution(model: ModelState, state: AttentionState) -> float:
    """The share of the lengths in the chosen row that comes from the chosen key."""
    panel = Contribution(model, state)
    return float(panel.shares[panel.row, _key(panel)])


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


def rows_with_favourite(model: ModelState, state: AttentionState) -> int:
    """How many rows have a token that they look at more than at any other, and a choice."""
    return len(Contribution(model, state).clear)


def sink_contributes(model: ModelState, state: AttentionState) -> float:
    """The share of the lengths that comes from the key with most of the weight, in percent; 0 if no row may choose."""
    panel = Contribution(model, state)
    return formats.points(float(panel.shares[panel.free, _favourite(panel)].mean())) if len(panel.free) else 0.0


def sink_gets(model: ModelState, state: AttentionState) -> float:
    """The weight of the key with most of it, in percent of all, over the rows with a choice; 0 if none has one."""
    panel = Contribution(model, state)
    return formats.points(float(panel.weights[panel.free, _favourite(panel)].mean())) if len(panel.free) else 0.0


def weight(model: ModelState, state: AttentionState) -> float:
    """The weight of the chosen query for the chosen key, as the model computes it."""
    panel = Contribution(model, state)
    return float(panel.weights[panel.row, _key(panel)])


def weight_changed(model: ModelState, state: AttentionState) -> float:
    """The largest difference between A and B among the weights of the head on screen."""
    panel = ChangeWeights(model, state)
    both = panel.there.all(0)
    return float(np.abs(np.where(both, panel.difference, 0)).max(initial=0))


def _key(panel: Contribution) -> int:
    """The chosen key, from 0."""
    return min(panel.state.key, panel.weights.shape[1]) - 1


def _favourite(panel: Contribution) -> int:
    """The key with most of the weight, from 0."""
    return int(panel.weights[panel.free].mean(0).argmax())


MEASURES: Mapping[str, Callable[[ModelState, AttentionState], float | str]] = {
    measure.__name__: measure
    for measure in (
        changes_made,
        contribution,
        output_moved,
        rollout_on_first,
        rows_apart,
        rows_with_favourite,
        sink_contributes,
        sink_gets,
        weight,
        weight_changed,
    )
}
