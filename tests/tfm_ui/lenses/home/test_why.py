"""The head in which Home looks for a reason is that of a naive loop, and its row is the model's own."""

import numpy as np
import pytest

from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.lenses.heads.all_weights import heads_of, weights_of
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lenses.home.why import BY_CHANCE, MOST, NO_REASON, Why, chosen, shown
from tfm_ui.state import array_files, lab_gpt
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

WORDS = " ".join(f"w{i % 40}" for i in range(300))
MODELS = [
    ModelState(**lab_gpt.ON_PROSE),
    ModelState(**lab_gpt.ON_NAMES),
    ModelState(),
    ModelState(weights="induction"),
    ModelState(positional="rope", causal=False, text="the cat sat on the mat", seq_len=11),  # with padding
    ModelState(positional="alibi", architecture="decoder", num_heads=16, num_layers=3, norm="post"),
    ModelState(positional="t5", architecture="encoder-decoder", target="die graue Katze war sehr müde"),
    ModelState(text=WORDS, seq_len=290, positional="learned"),
    ModelState(text="one two"),
    ModelState(text="alone"),
]


def why(model: ModelState) -> Why:
    return Why(model, LensState())


def naive(weights: np.ndarray, last: int) -> tuple[int, int, int]:
    """The first place of the largest weight of the last token on one before it, the first one left aside."""
    best, place = -1.0, (0, 0, 0)
    keys = [key for key in range(last) if key > 0] or [0]
    for layer in range(weights.shape[0]):
        for head in range(weights.shape[1]):
            for key in keys:
                if weights[layer, head, last, key] > best:
                    best, place = weights[layer, head, last, key], (layer, head, key)
    return place


@pytest.mark.parametrize("model", MODELS)
def test_the_head_is_the_one_that_a_naive_loop_picks_and_its_row_the_models_own(model):
    panel, kind = why(model), "decoder" if model.is_encoder_decoder else "self"
    weights = weights_of(heads_of(model, kind))
    last = len((model.target_tokens if model.is_encoder_decoder else model.source_tokens).pieces) - 1
    layer, head, key = naive(weights, last)
    assert panel.ties[0] == (layer, head, key)
    np.testing.assert_allclose(panel.weights, weights[layer, head, last, : last + 1], atol=1e-6)
    assert (panel.head.layer, panel.head.head) == (layer, head)
    assert all(panel.laws().values())
    assert panel.laws()
    assert f"layer {layer + 1}, head {head + 1}" in panel.title
    sentence = panel.sentence()
    if last:
        assert f"“{panel.head.queries[key]}” gets {formats.weight(weights[layer, head, last, key])} of" in sentence
        assert NO_REASON in sentence
    assert (BY_CHANCE in sentence) == (model.is_random and last > 0)
    count = sum(int(weights[a, b, last].argmax()) == 0 for a in range(len(weights)) for b in range(weights.shape[1]))
    assert (f"{count} head" in sentence.partition("give")[2]) == (count > 0 and last > 1)


def test_a_text_without_a_token_in_between_is_told_otherwise():
    assert why(ModelState(text="alone")).sentence().startswith("“alone” is the only token")
    assert "most at the only earlier token: “one” gets" in why(ModelState(text="one two")).sentence()


def test_of_weights_that_tie_the_first_is_taken_and_the_others_are_counted():
    rows = np.zeros((2, 3, 5), np.float32)
    rows[:, :, 0], rows[1, 2, 3], rows[0, 1, 2] = 0.7, 0.2, 0.2
    assert chosen(rows, 4) == [(0, 1, 2), (1, 2, 3)]
    assert chosen(rows, 1) == [(layer, head, 0) for layer in range(2) for head in range(3)]


@pytest.mark.parametrize(("last", "key"), [(0, 0), (3, 1), (MOST - 1, 5), (299, 150), (299, 298)])
def test_of_a_long_text_the_first_token_that_of_the_weight_and_the_last_ones_are_drawn(last, key):
    places = shown(last, key)
    assert {0, key, *range(max(0, last - MOST + 1), last + 1)} == {*places}
    assert len(places) <= MOST + 2
    assert places == sorted(places)


@pytest.mark.parametrize("model", MODELS)
def test_the_row_holds_the_tokens_with_their_weights_and_counts_what_is_left_out(model):
    panel = why(model)
    chips = [item for item in panel.word_row if not isinstance(item, str)]
    left_out = [int(item.split()[1]) for item in panel.word_row if isinstance(item, str)]
    places = shown(panel.last, panel.ties[0][2])
    assert [name for name, *_ in chips] == [panel.head.queries[at] for at in places]
    assert [weight for _, weight, _ in chips] == [f"{panel.weights[at]:.4f}" for at in places]
    assert len(chips) + sum(left_out) == panel.last + 1


def test_a_file_of_weights_has_such_a_row_too():
    array_files.forget()
    weights = softmaxed(3, 2, 4, 6, 6, causal=True)
    with empty_store(array_files):
        panel = why(given(weights, item=1))
        assert panel.ties[0] == naive(weights[:, 1], 5)
        layer, head, _ = panel.ties[0]
        np.testing.assert_allclose(panel.weights, weights[layer, 1, head, 5], atol=1e-6)
        assert BY_CHANCE not in panel.sentence()
        assert panel.recipe()
        nothing = weights.copy()
        nothing[..., 1:] = 0
        nothing[..., 0] = 1
        assert why(given(nothing)).sentence().startswith("No head gives a single earlier token")
