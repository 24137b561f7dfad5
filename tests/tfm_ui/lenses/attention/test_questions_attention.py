"""Questions of the Attention lens: answers are true, also of another model, and so is what is taken for granted.

Answers to the questions as they are asked are in tests/record/links/attention, to the letter.
"""

import math

import numpy as np
import pytest
import torch

from tfm_core import Transformer, causal_mask, recording
from tfm_core.training.examples import held_out
from tfm_ui.lenses.attention import questions
from tfm_ui.lenses.attention.change import ChangeOutput, ChangeWeights
from tfm_ui.lenses.attention.dictionary import Dictionary
from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.scale import Scale
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.trained import EXAMPLES
from tfm_ui.text import formats

OTHER = {"text": "to be or not to be", "num_heads": 8, "num_layers": 3, "d_model": 64, "seed": 3}
BOTH = pytest.mark.parametrize("other", [{}, OTHER], ids=["its own model", "another model"])


QUESTION = {question.name: question for question in QUESTIONS}


def states(name: str, other: dict | None = None, **page) -> tuple[ModelState, AttentionState]:
    question = QUESTION[name]
    return ModelState(**{**question.model, **(other or {})}), AttentionState(**{**question.controls, **page})


def asked(name: str, other: dict, **page) -> tuple[ModelState, AttentionState, str]:
    model, state = states(name, other, **page)
    return model, state, QUESTION[name].answer(model, state)


def weights_of(model: ModelState, layer: int) -> np.ndarray:
    """(head, query, key) of a layer, from 1, as the library computes them."""
    tokens = torch.tensor([model.source_tokens.ids])
    with torch.no_grad(), recording([f"layers.{layer - 1}.self_attention.weights"]) as trace:
        Transformer(model.config)(tokens, mask=causal_mask(tokens.shape[1]) if model.causal else None)
    return trace[f"layers.{layer - 1}.self_attention.weights"][0].numpy()


@BOTH
def test_the_history_of_a_weight_ends_in_the_weight(other):
    model, state, said = asked("Step by step", other)
    weight = weights_of(model, state.layer)[state.head - 1, state.query - 1, state.key - 1]
    assert said.endswith(f": {formats.weight(float(weight))}.")
    assert f"√{model.d_model // model.num_heads}" in said
    assert "the mask sets this weight to 0" in asked("Step by step", other, query=1, key=5)[2]


@BOTH
def test_rows_that_give_nearly_all_to_one_token_are_counted_with_and_without_the_division(other):
    model, state, said = asked("Not scaled", other)
    top = weights_of(model, state.layer)[state.head - 1].max(-1)[1:]
    without = Steps(model, state).steps.weights.max(-1).values[1:]
    assert said.startswith(f"Of the {len(top)} rows that have a choice, {(without > 0.98).sum()} give")
    assert f", and {(top > 0.98).sum()} with it" in said
    if not other:  # two thirds of the rows, as the question says, and none if it is divided
        assert 4 <= (without > 0.98).sum() <= 6
        assert (top > 0.98).sum() == 0


@BOTH
def test_the_lines_of_a_share_are_counted_row_by_row(other):
    model, state, said = asked("Half of the weight", other)
    needed, rows = 0, [np.sort(row[row > 0])[::-1] for head in weights_of(model, state.layer) for row in head]
    for row in rows:
        needed += int(np.searchsorted(np.cumsum(row.astype(float)), 0.5 * row.sum() * (1 - 1e-6)) + 1)
    count = sum(map(len, rows))
    assert said.startswith(f"{formats.count(needed)} of {formats.count(count)} lines")
    assert questions.share_of_lines(model, state) == pytest.approx(100 * needed / count)


@BOTH
def test_rollout_is_counted_beside_the_mean(other):
    model, state, said = asked("Rollout", other)
    rolled = np.eye(len(model.source_tokens.ids))
    for layer in range(1, state.layer + 1):
        rolled = (weights_of(model, layer).mean(0) + np.eye(len(rolled))) / 2 @ rolled
    rows = np.arange(len(rolled))
    alone = int((weights_of(model, state.layer).mean(0).argmax(-1) == rows).sum())
    assert said.startswith(f"In the rollout {(rolled.argmax(-1) == rows).sum()} of {len(rows)} rows")
    assert f"in this layer’s mean of the heads {alone}." in said


def test_what_a_head_takes_is_told_of_the_chosen_row_and_the_whole_head():
    assert (
        "with a favourite, the token with the largest weight is not the one that contributes most"
        in asked("Looks here, contributes there", OTHER)[2]
    )


def test_a_sink_is_named_only_where_there_is_one():
    assert asked("A sink", {}, layer=1, head=1)[2].startswith("No token is a sink here")


@BOTH
def test_the_tokens_that_moved_are_counted(other):
    model, state, said = asked("One weight", other)
    a, b = ChangeOutput(model, state).effect.probabilities
    moved = questions.tokens_moved(model, state)
    count = len(model.source_tokens.ids)
    assert said.startswith(f"At the end {moved} of {count} tokens have moved")
    assert moved == count - state.query + 1  # the changed row and all rows after it
    assert (a != b).any()
    assert asked("One weight", other, changes="")[2].startswith("A and B are the same")


def test_a_leak_ends_at_exactly_0():
    assert ChangeWeights(*states("A leak")).effect.leak.moved > 0.1
    for weight, leaks in (("0.5", True), ("0.01", True), ("0", False)):
        model, state, said = asked("A leak", {}, changes=f"weight 1.1 3>8 {weight}")
        assert said.startswith("A leak in B" if leaks else "Nothing leaks now")
        dragged = ChangeWeights(model, state)
        assert bool(dragged.effect.leak) is leaks
        assert bool(dragged.crosses()) is leaks
    assert asked("A leak", {"causal": False})[2].startswith("Nothing leaks now")


@pytest.mark.parametrize("keys", [16, 2])
def test_the_width_at_which_the_gradient_vanishes_is_drawn_again(keys):
    model, state, said = asked("Why √dₖ", {}, draw_keys=keys, draws=400)
    medians = {}
    for width in (2**power for power in range(9)):
        torch.manual_seed(width)
        scores = (torch.randn(4000, 1, width) * torch.randn(4000, keys, width)).sum(-1)
        weights = scores.softmax(-1)
        medians[width] = (weights * (1 - weights)).max(-1).values.median().item()
    below = [width for width, median in medians.items() if median < 0.025]
    first = questions.first_width(model, state)
    assert first in {below[0] // 2, below[0], below[0] * 2}  # other draws: within a step of the widths
    assert said.startswith(f"From dₖ = {first} on")


@BOTH
def test_the_spread_of_the_models_own_scores_is_its_variance(other):
    model, _, said = asked("Your own heads", other)
    tokens = torch.tensor([model.source_tokens.ids])
    sites = [f"layers.0.self_attention.{what}" for what in ("query", "key")]
    with torch.no_grad(), recording(sites) as trace:
        Transformer(model.config)(tokens, mask=causal_mask(tokens.shape[1]))
    query, key = (trace[site][0] for site in sites)
    visible = causal_mask(tokens.shape[1])
    width = model.config.head_dim
    ratios = [((q @ k.T)[visible].double().var(correction=0) / width).item() for q, k in zip(query, key, strict=True)]
    assert f"variance of dₖ = {width}." in said
    assert formats.weight(min(ratios)) in said
    assert formats.weight(max(ratios)) in said


@pytest.mark.parametrize("page", [{}, {"ask": "-1,0.4", "temperature": 0.5}])
def test_the_blend_adds_up(page):
    model, state, said = asked("A blend", {}, **page)
    answer = Dictionary(model, state).answer
    parts, total = said.split("rounded: ")[1].split(". Key")[0].split(" = ")
    assert sum(float(part.replace("−", "-")) for part in parts.split(" + ")) == pytest.approx(answer, abs=0.03)
    assert float(total) == pytest.approx(answer, abs=0.006)


def test_the_nearest_key_is_told_from_the_one_that_wins():
    assert asked("Longer keys win", {}, ask="1.8,0.1")[2].startswith("Here key B lies nearest and also has")


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_the_way_to_a_look_up_is_measured(temperature):
    _, _, said = asked("Nearly a look-up", {}, temperature=temperature)
    scores = [
        (0.8 * x + 0.5 * y) / (math.sqrt(2) * temperature) for x, y in ((1.2, 0.2), (0.1, 1.1), (-1.1, 0.3), (0.2, -1))
    ]
    weights = np.exp(scores) / np.exp(scores).sum()
    answer = weights @ [10, 20, 30, 40]
    assert f"the answer is {answer:.2f}, {abs(answer - 10):.2f} away" in said


def test_silencing_the_induction_head_loses_the_answers_that_hang_on_it():
    model, state, said = asked("Silence what was learned", {})
    answers_of = held_out(model.trained, EXAMPLES).answers[0]
    is_asked, right = answers_of != -100, []
    for edits in ({}, {"layers.1.self_attention.head_output": lambda x: x * 0}):
        with torch.no_grad(), recording([], edits):
            logits = Transformer(model.config).eval()(model.source_tokens.batch)[0]
        right.append(int((logits.argmax(-1) == answers_of)[is_asked].sum()))
    total = int(is_asked.sum())
    assert said.startswith(f"In A {right[0]} of {total} answers are right, in B {right[1]} of {total}.")
    assert right[0] == total > 5 * right[1]
    assert questions.right_in_b(model, state) == right[1]


def test_of_random_weights_and_of_other_texts_nobody_knows_what_is_lost():
    _, state, said = asked("Silence what was learned", {"weights": "random"})
    assert said.startswith("What is right is known of examples")
    _, _, replaced = asked("Silence what was learned", {}, changes="replace 3 a")
    assert replaced.startswith("What is right is known of examples")
    assert questions.right_in_b(ModelState(), state) == 0
    _, _, same = asked("Silence what was learned", {}, changes="")
    assert same.startswith("A and B are the same")


# what questions take for granted


def test_your_own_heads_are_as_wide_as_the_widest_draw():
    model, state = states("Your own heads")
    measured = Scale(model, state).measured
    at = measured.widths.index(model.config.head_dim)
    assert measured.widths[at] == 256
    assert measured.median_gradient["unscaled"][at] < measured.median_gradient["scaled"][at] / 20
    assert measured.median_gradient["unscaled"][0] == measured.median_gradient["scaled"][0]
