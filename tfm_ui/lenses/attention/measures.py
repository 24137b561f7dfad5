"""What lessons measure on the pages of the Attention lens."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps

import numpy as np
from numpy.typing import NDArray

from tfm_core import ScaleExperiment
from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.change import ChangeOutput, ChangeWeights
from tfm_ui.lenses.attention.contribution import Contribution
from tfm_ui.lenses.attention.dictionary import Dictionary
from tfm_ui.lenses.attention.logit import Logit
from tfm_ui.lenses.attention.scale import Scale
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.lenses.attention.why.graph_check import GraphCheck
from tfm_ui.lenses.attention.why.parts import why_no_logit
from tfm_ui.lenses.attention.why.score import Why
from tfm_ui.lenses.attention.why.without import held_out_in
from tfm_ui.live import passes
from tfm_ui.live.not_here import why_not_run
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

SAME = 1e-6  # numbers that differ by less are the same but for rounding
Measure = Callable[[ModelState, AttentionState], float | str]


def _drawn(model: ModelState, state: AttentionState) -> tuple[ScaleExperiment, int]:
    """The experiment of the view "scale", and the place of the model's dₖ among its widths."""
    measured = Scale(model, state).measured
    return measured, measured.widths.index(model.config.head_dim)


def _has_switches(panel: Arcs) -> bool:
    """Whether the row on screen is one of the view "steps", where switches act on it."""
    return panel.state.view == "steps" and not panel.model.array


def _likeliest(model: ModelState, state: AttentionState) -> tuple[float, float]:
    """The probabilities, in A and in B, of the next token that is likeliest in A, in percent."""
    if not model.gives_logits:
        return 0.0, 0.0
    a, b = ChangeOutput(model, state).effect.probabilities
    best = int(a.argmax())
    return 100 * float(a[best]), 100 * float(b[best])


def _of_side(model: ModelState, state: AttentionState, side: int) -> float:
    """The weight in the chosen cell, in A (0) or in B (1), as the model goes on with it."""
    panel = ChangeWeights(model, state)
    at = panel.locked_cell
    return float(panel.weights[(side, *at)]) if at and panel.there[(side, *at)] else 0.0


def _query(panel: Arcs) -> int:
    """The row on screen, from 0: in the view "arcs" the first query that is selected, else that of the chosen cell."""
    state = panel.state
    selected = state.tokens.partition(" ")[0] if state.view == "arcs" else ""
    number = int(selected[1:]) if selected.startswith("q") else state.query
    return min(number, len(panel.visible)) - 1


def _row(model: ModelState, state: AttentionState) -> NDArray[np.float32]:
    """The weights of the row on screen, float32 (key); of several heads on screen, the first one's."""
    panel = Arcs(model, state)
    if _has_switches(panel):
        steps = Steps(model, state)
        return np.asarray(steps.steps.weights[steps.at.query].numpy())
    shown = state.heads.partition(" ")[0] if state.view == "arcs" else ""
    head = int(shown) - 1 if shown else panel.head
    weights: NDArray[np.float32] = passes.run(model).attention[panel.kind].exact(panel.layer, head)
    return np.asarray(weights[_query(panel)])


def allowed(model: ModelState, state: AttentionState) -> int:
    """How many cells the mask allows, in the rows of tokens."""
    panel = Arcs(model, state)
    return int(panel.visible[: panel.read].sum())


def answer(model: ModelState, state: AttentionState) -> float:
    """The answer of the soft dictionary: the sum of weight times value."""
    return Dictionary(model, state).answer


def cell_in_a(model: ModelState, state: AttentionState) -> float:
    """The weight of the chosen query for the chosen key in A; 0 where one of them is dropped."""
    return _of_side(model, state, 0)


def cell_in_b(model: ModelState, state: AttentionState) -> float:
    """The weight of the chosen query for the chosen key in B; 0 where one of them is dropped."""
    return _of_side(model, state, 1)


def cell_output(model: ModelState, state: AttentionState) -> float:
    """The number in the chosen dimension of what the head gives the chosen query, before W_O."""
    panel = Steps(model, state)
    return float(panel.steps.output[panel.at.query, panel.at.dim])


def cell_product(model: ModelState, state: AttentionState) -> float:
    """The product of the chosen query’s and the chosen key’s number in the chosen dimension: a term of their score."""
    panel = Steps(model, state)
    query, key = panel.steps.query[panel.at.query], panel.steps.key[panel.at.key]
    return float(query[panel.at.dim] * key[panel.at.dim])


def cell_scaled(model: ModelState, state: AttentionState) -> float:
    """The score of the chosen query and key after the division by √dₖ and the temperature, as the switches have it."""
    panel = Steps(model, state)
    return float(panel.steps.scaled_scores[panel.at.query, panel.at.key])


def cell_score(model: ModelState, state: AttentionState) -> float:
    """The plain dot product q·k of the chosen query and key."""
    panel = Steps(model, state)
    return float(panel.steps.scores[panel.at.query, panel.at.key])


def cell_weight(model: ModelState, state: AttentionState) -> float:
    """The weight of the chosen query for the chosen key, as the switches have it."""
    panel = Steps(model, state)
    return float(panel.steps.weights[panel.at.query, panel.at.key])


def changes_made(model: ModelState, state: AttentionState) -> int:
    """How many changes are made in B, of those that the model allows."""
    return len(ChangeOutput(model, state).changes[1])


def dictionary_gradient(model: ModelState, state: AttentionState) -> float:
    """The largest |∂ weight / ∂ score| of the soft dictionary: of a softmax at most 0.25."""
    weights = Dictionary(model, state).weights
    return float((weights * (1 - weights)).max())


def dictionary_largest(model: ModelState, state: AttentionState) -> float:
    """The largest weight in the soft dictionary."""
    return float(Dictionary(model, state).weights.max())


def drawn_deviation(model: ModelState, state: AttentionState) -> float:
    """The standard deviation of q·k over the draws of the experiment, at the dₖ of the model."""
    measured, at = _drawn(model, state)
    return math.sqrt(float(measured.variance[at]))


def drawn_entropy(model: ModelState, state: AttentionState) -> float:
    """The entropy of the softmax without √dₖ, as a share of the most possible, at the dₖ of the model."""
    measured, at = _drawn(model, state)
    return float(measured.entropy["unscaled"][at]) / math.log(measured.keys)


def drawn_entropy_scaled(model: ModelState, state: AttentionState) -> float:
    """The entropy of the softmax with √dₖ, as a share of the most possible, at the dₖ of the model."""
    measured, at = _drawn(model, state)
    return float(measured.entropy["scaled"][at]) / math.log(measured.keys)


def drawn_gradient(model: ModelState, state: AttentionState) -> float:
    """The largest gradient of the softmax without √dₖ, the median over the draws, at the dₖ of the model."""
    measured, at = _drawn(model, state)
    return float(measured.median_gradient["unscaled"][at])


def drawn_gradient_scaled(model: ModelState, state: AttentionState) -> float:
    """The largest gradient of the softmax with √dₖ, the median over the draws, at the dₖ of the model."""
    measured, at = _drawn(model, state)
    return float(measured.median_gradient["scaled"][at])


def drawn_growth(model: ModelState, state: AttentionState) -> float:
    """How many times as large the standard deviation of q·k is at four times the dₖ of the model; 0 if not measured."""
    measured, at = _drawn(model, state)
    if 4 * measured.widths[at] not in measured.widths:
        return 0.0
    wide = measured.widths.index(4 * measured.widths[at])
    return math.sqrt(float(measured.variance[wide] / measured.variance[at]))


def head_numbers(model: ModelState, state: AttentionState) -> int:
    """How many numbers one head gives before W_O: tokens × dₖ."""
    return math.prod(Steps(model, state).steps.output.shape)


def largest_deviation(model: ModelState, state: AttentionState) -> float:
    """The largest standard deviation of q·k among the model's heads of the layer; 0 where no two pairs may look."""
    return math.sqrt(max(Scale(model, state).variances, default=0.0))


def graph_correlation(model: ModelState, state: AttentionState) -> float:
    """The correlation of what the largest edges of the graph foretell with what cutting them does."""
    return 0.0 if why_no_logit(model) else GraphCheck(model, state).correlation or 0.0


def graph_nodes(model: ModelState, state: AttentionState) -> int:
    """How many nodes the graph of the pass has."""
    return 0 if why_no_logit(model) else len(GraphCheck(model, state).graph.nodes)


def lead_layer(model: ModelState, state: AttentionState) -> int:
    """The layer in which the source wrote that makes most of the locked key’s lead over the next; 0 if it is none."""
    return Why(model, state).lead_layer


def lead_source(model: ModelState, state: AttentionState) -> str:
    """The source of the locked key that makes most of its lead over the next; "" if there is no other key."""
    return Why(model, state).lead_source


def logit_lead(model: ModelState, state: AttentionState) -> float:
    """The logit of the chosen next token, minus that of the other; 0 of a model without such logits."""
    return 0.0 if why_no_logit(model) else float(Logit(model, state).values.sum())


def likeliest_in_a(model: ModelState, state: AttentionState) -> float:
    """The probability of the next token that is likeliest in A, in percent; 0 of a model without logits."""
    return _likeliest(model, state)[0]


def likeliest_in_b(model: ModelState, state: AttentionState) -> float:
    """The probability in B of the next token that is likeliest in A, in percent; 0 of a model without logits."""
    return _likeliest(model, state)[1]


def output_moved(model: ModelState, state: AttentionState) -> float:
    """How much of the next token's probability is elsewhere in B than in A, in percent; 0 of a model without logits."""
    if not model.gives_logits:
        return 0.0
    a, b = ChangeOutput(model, state).effect.probabilities.astype(np.float64)
    return 50 * float(np.abs(b - a).sum())


def rollout_on_first(model: ModelState, state: AttentionState) -> int:
    """The number of rows with a choice in which the rollout over all layers is largest at the first token."""
    arcs = Arcs(model, replace(state, lines="rollout", layer=model.num_layers))
    choice = arcs.visible[: arcs.read].sum(-1) > 1
    return int((arcs.lines.keys[0, : arcs.read, 0] == 0)[choice].sum()) if arcs.how == "rollout" else 0


def row_favourite(model: ModelState, state: AttentionState) -> str:
    """The token that the row on screen gives most of its weight; "" if it may look at none."""
    row = _row(model, state)
    return Arcs(model, state).keys[int(row.argmax())] if row.any() else ""


def row_gradient(model: ModelState, state: AttentionState) -> float:
    """The largest |∂ weight / ∂ score| of the row on screen: of a softmax at most 0.25."""
    row = _row(model, state)
    return float((row * (1 - row)).max(initial=0))


def row_largest(model: ModelState, state: AttentionState) -> float:
    """The largest weight of the row on screen."""
    return float(_row(model, state).max(initial=0))


def row_left_by_mask(model: ModelState, state: AttentionState) -> float:
    """What the weights of the row on screen sum to over the keys that the model’s mask allows, with the mask or not."""
    panel = Steps(model, state)
    at = panel.at.query
    return float(panel.steps.weights[at][panel.inside.visible[at]].sum())


def row_query(model: ModelState, state: AttentionState) -> str:
    """The token that asks in the row on screen."""
    panel = Arcs(model, state)
    return panel.queries[_query(panel)]


def row_sees(model: ModelState, state: AttentionState) -> int:
    """How many keys the query of the row on screen may look at."""
    panel = Arcs(model, state)
    row = panel.visible[_query(panel)]
    return len(row) if _has_switches(panel) and not state.masked else int(row.sum())


def row_sum(model: ModelState, state: AttentionState) -> float:
    """What the weights of the row on screen sum to."""
    return float(_row(model, state).sum(dtype=np.float64))


def rows_apart(model: ModelState, state: AttentionState) -> int:
    """The number of rows in which the token with the largest weight is not the one that contributes most."""
    return len(Contribution(model, state).differing)


def smallest_deviation(model: ModelState, state: AttentionState) -> float:
    """The smallest standard deviation of q·k among the model's heads of the layer; 0 where no two pairs may look."""
    return math.sqrt(min(Scale(model, state).variances, default=0.0))


def stands_out(model: ModelState, state: AttentionState) -> str:
    """Whether one source of the locked key stands out in its lead over the next key: "yes" or "no"."""
    return "yes" if Why(model, state).stands_out else "no"


def unmoved_by_mask(model: ModelState, state: AttentionState) -> str:
    """The tokens to which the head gives the same with the mask and without it, in their order; "" if none."""
    given, free = (Steps(model, replace(state, masked=masked)) for masked in (True, False))
    moved = (given.steps.output - free.steps.output).abs().amax(-1)[: given.read] > SAME
    return formats.listed([name for name, moves in zip(given.queries, moved.tolist(), strict=False) if not moves])


def weight_left(model: ModelState, state: AttentionState) -> float:
    """The weight of the locked key without the source that is held out, silenced in the model."""
    return held_out_in(model, state).weight_left


def weight_changed(model: ModelState, state: AttentionState) -> float:
    """The largest difference between A and B among the weights of the head on screen."""
    panel = ChangeWeights(model, state)
    both = panel.there.all(0)
    return float(np.abs(np.where(both, panel.difference, 0)).max(initial=0))


def _where_it_can(measure: Measure, *, files: bool) -> Measure:
    """A measure that is 0, or "", of a model that cannot be run; and, unless it has `files`, of weights out of one.

    The soft dictionary is shown whatever the model is, so that the page has names for all of them.
    """
    nothing: float | str = "" if measure.__annotations__["return"] is str else 0

    @wraps(measure)
    def where_it_can(model: ModelState, state: AttentionState) -> float | str:
        cannot = why_not_run(model) or (model.array and not files)
        return nothing if cannot else measure(model, state)

    return where_it_can


OF_NO_MODEL = (answer, dictionary_gradient, dictionary_largest)
OF_FILES_TOO = (
    allowed,
    rollout_on_first,
    row_favourite,
    row_gradient,
    row_largest,
    row_query,
    row_sees,
    row_sum,
)
OF_MODELS = (
    cell_in_a,
    cell_in_b,
    cell_output,
    cell_product,
    cell_scaled,
    cell_score,
    cell_weight,
    changes_made,
    drawn_deviation,
    drawn_entropy,
    drawn_entropy_scaled,
    drawn_gradient,
    drawn_gradient_scaled,
    drawn_growth,
    graph_correlation,
    graph_nodes,
    head_numbers,
    largest_deviation,
    lead_layer,
    lead_source,
    likeliest_in_a,
    likeliest_in_b,
    logit_lead,
    output_moved,
    row_left_by_mask,
    rows_apart,
    smallest_deviation,
    stands_out,
    unmoved_by_mask,
    weight_changed,
    weight_left,
)
MEASURES: Mapping[str, Measure] = dict(
    sorted(
        {
            **{measure.__name__: measure for measure in OF_NO_MODEL},
            **{measure.__name__: _where_it_can(measure, files=True) for measure in OF_FILES_TOO},
            **{measure.__name__: _where_it_can(measure, files=False) for measure in OF_MODELS},
        }.items()
    )
)
