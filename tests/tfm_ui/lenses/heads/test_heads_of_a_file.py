"""The Heads lens and "Word to word" on weights out of a file: what they show and say is what NumPy computes of them."""

import re

import numpy as np
import pytest

from tests.tfm_ui.given_weights import given, npy, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_core.study.attention_arrays import as_attention
from tfm_ui.lenses import lens
from tfm_ui.lenses.attention.arcs import Arcs
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.heads.panels import NO_SHARES, Head, Heads, Numbers
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.page import header
from tfm_ui.page.questions import asked
from tfm_ui.state import array_files
from tfm_ui.state.arrays import WEIGHTS_ALONE
from tfm_ui.text.head_sentences import NO_WEIGHT

TOKENS = "[CLS] the cat sat on the mat [SEP]".split()
STATE = HeadsState(layer=2, head=3)


@pytest.fixture(autouse=True)
def kept():
    array_files.forget()
    with empty_store(array_files):
        yield


def rolled_out(weights: np.ndarray) -> np.ndarray:
    """Abnar and Zuidema's equations, by NumPy alone: (layer, head, query, key) to (query, key)."""
    rollout = np.eye(weights.shape[-1])
    for layer in weights.astype(np.float64):
        mixed = layer.mean(0) + np.eye(len(rollout))
        rollout = mixed / mixed.sum(-1, keepdims=True) @ rollout
    return rollout


@pytest.mark.parametrize("causal", [True, False])
def test_one_head_is_shown_as_it_stands_in_the_file(causal):
    weights = softmaxed(3, 4, 8, 8, causal=causal)
    panel = Head(given(weights, TOKENS), STATE)
    told, cells = panel.picture()
    shown = np.where(cells < 0, 0, cells)
    np.testing.assert_array_equal(shown, weights[1, 2])
    assert (told["queries"], told["formula"]) == (["[CLS]", "the", "cat", "sat", "on", "the₂", "mat", "[SEP]"],
                                                  "the file’s number")  # fmt: skip
    assert ((cells < 0) == (np.triu(np.ones((8, 8)), 1) * causal > 0)).all()
    assert all(panel.laws().values())
    assert "softmax" not in panel.how_to_read + str(panel.sources)


def test_numbers_are_those_of_numpy():
    weights = softmaxed(3, 4, 8, 8).astype(np.float64)
    table = Numbers(given(softmaxed(3, 4, 8, 8), TOKENS), STATE).table()
    distance = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    expected = {
        "entropy": -(weights * np.log(weights)).sum(-1).mean(-1),
        "distance": (weights * distance).sum(-1).mean(-1),
        "first": 100 * weights[..., 0].mean(-1),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(table[name], values.ravel(), rtol=1e-4)


@pytest.mark.parametrize("how", ["heads", "mean", "max", "rollout"])
@pytest.mark.parametrize(("length", "causal"), [(8, False), (8, True), (120, False)])
def test_lines_are_those_of_numpy(how, length, causal):
    weights = softmaxed(3, 4, length, length, causal=causal)
    panel = Arcs(given(weights), AttentionState(view="arcs", lines=how, layer=2))
    expected = {
        "heads": weights[1],
        "mean": weights[1].mean(0)[None],
        "max": weights[1].max(0)[None],
        "rollout": rolled_out(weights[:2])[None],
    }[how]
    falling = -np.sort(-expected)[..., : panel.lines.weights.shape[-1]]
    np.testing.assert_allclose(np.maximum(panel.lines.weights, 0), falling, rtol=1e-4, atol=1e-6)
    assert all(panel.laws().values())


@pytest.mark.parametrize("how", ["heads", "mean", "max", "rollout"])
def test_scripts_compute_the_same_from_the_file(how, tmp_path, monkeypatch):
    weights = softmaxed(3, 2, 4, 8, 8)
    model = given(weights, item=1)
    (tmp_path / "attentions.npy").write_bytes(npy(weights))
    monkeypatch.chdir(tmp_path)
    panel = Arcs(model, AttentionState(view="arcs", lines=how, layer=2, heads="3"))
    computed = ran(panel.recipe())
    expected = {
        "heads": weights[1, 1, 2],
        "mean": weights[1, 1].mean(0),
        "max": weights[1, 1].max(0),
        "rollout": rolled_out(weights[:2, 1]),
    }[how]
    np.testing.assert_allclose(computed, expected, rtol=1e-5)
    np.testing.assert_array_equal(ran(Head(model, STATE).recipe()), weights[1, 1, 2])


def ran(recipe: str) -> np.ndarray:
    names: dict[str, object] = {}
    exec(re.sub(r"torch\.set_num_threads.*", "", recipe), names)
    return np.asarray(names["weights"])


# what is said of rows that are not shares of 1


def test_rows_that_do_not_sum_to_1_are_told_and_nothing_is_said_of_even_spreads():
    even = np.full((2, 2, 6, 6), 0.7 / 6, np.float32)  # less than 1 / 6 each, so that no test of evenness may be asked
    even[1, 1, 3, 2] = 0.5
    model = given(even)
    heads, head, numbers = Heads(model, STATE), Head(model, HeadsState()), Numbers(model, STATE)
    assert heads.sentence() == "The largest number, 0.50, is in layer 2, head 2. Rows of this file do not sum to 1."
    assert "evenly" not in head.sentence()
    assert numbers.sentence() == NO_SHARES
    assert [*head.laws().values()] == [False]
    lines = Arcs(model, AttentionState(view="arcs", layer=1))
    assert "evenly" not in lines.sentence()
    assert not all(lines.laws().values())
    facts = header.all_facts(model, None)
    assert "rows do not sum to 1" in facts["Reading"]


def test_halves_sum_to_1_by_what_rounding_explains():
    halves = as_attention(softmaxed(2, 2, 40, 40).astype(np.float16))
    laws = Head(given(halves), HeadsState()).laws()
    assert [*laws.values()] == [True]
    assert float((halves.weights.sum(-1) - 1).abs().max()) > 1e-5  # which is what our own weights keep to


def test_a_head_of_zeros_and_rows_of_zeros_are_no_habit():
    weights = softmaxed(1, 2, 6, 6)
    weights[0, 0] = 0
    weights[0, 1, 2:5] = 0
    model = given(weights)
    assert Head(model, HeadsState(head=1)).sentence() == NO_WEIGHT
    assert "of 3 rows" in Head(model, HeadsState(head=2)).sentence()


# the header, and questions


def test_the_header_names_the_file_and_no_model():
    model = given(softmaxed(3, 2, 4, 8, 8), item=1)
    assert header.label(model) == "Attention weights from a file · 3 × 4"
    facts = header.all_facts(model, None)
    assert facts["Weights"] == f"attention weights out of the file attentions.npy. {WEIGHTS_ALONE}"
    assert facts["Size"] == "3 layers × 4 heads"
    assert facts["Sentence"] == "2 of the 2 in the file"
    assert "Each row sums to 1" in facts["Reading"]
    assert not {"Parameters", "Architecture", "Computed in"} & facts.keys()


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads", [1, 4, 16])
def test_no_question_takes_the_file_for_a_model(heads, causal):
    model = given(softmaxed(2, heads, 8, 8, causal=causal), TOKENS)
    arcs = AttentionState(view="arcs", lines="rollout", layer=2)
    for name, state in {"heads": HeadsState(), "attention": arcs, "home": lens("home").state()}.items():
        of_view = [each for each in lens(name).questions if each.view(type(state)) == getattr(state, "view", "")]
        assert of_view
        assert not any(question.is_true(model, state) for question in of_view)
        assert asked(lens(name).questions, state, model) in of_view


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 8, 8)])
@pytest.mark.parametrize("question", lens("heads").questions, ids=lambda question: question.name)
def test_answers_need_no_model(question, shape):
    answer = question.answer(given(softmaxed(*shape)), HeadsState())
    assert answer.endswith(".")
    for made_up in ("slope", "drawn at random", "come from training", "by 2 numbers", "positions"):
        assert made_up not in answer
    if question.predict:
        question.predict.measured(given(softmaxed(*shape)), HeadsState())
