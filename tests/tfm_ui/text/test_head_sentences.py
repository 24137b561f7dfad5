"""Sentences about heads follow from the weights, and if several values tie for the largest, they say so."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import MODEL
from tfm_core.study.analysis import peaks
from tfm_ui.lenses.positions.model.maps import Maps
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.head_sentences import Rows
from tfm_ui.text.head_sentences import about_head as about_rows
from tfm_ui.text.head_sentences import about_heads as about_firsts
from tfm_ui.text.ties import one_of_ties, places_of_largest

LABELS = list("abcdef")
ALL = np.ones((6, 6), bool)
CAUSAL = np.tri(6, dtype=bool)


def about_head(weights: np.ndarray, visible: np.ndarray, queries, keys, **more) -> str:
    first, key, second = (part.numpy() for part in peaks(torch.from_numpy(weights)))
    return about_rows(Rows(first, key, second, visible.sum(1)), queries, keys, **more)


def about_heads(weights: np.ndarray, visible: np.ndarray) -> str:
    return about_firsts(weights.max(-1), visible.sum(1))


def rows(*tops: int) -> np.ndarray:
    """Weights whose row i is largest at tops[i]."""
    weights = np.full((len(tops), 6), 0.1, np.float32)
    weights[np.arange(len(tops)), tops] = 0.5
    return weights


@pytest.mark.parametrize(
    ("weights", "visible", "said"),
    [
        (rows(0, 0, 1, 2, 3, 4), CAUSAL, "Looks most at the previous token in 5 of 5 rows with a choice."),
        (rows(0, 1, 2, 3, 4, 5), ALL, "Looks most at itself in 6 of 6 rows."),
        (rows(1, 2, 3, 4, 5, 5), ALL, "Looks most at the next token in 5 of 6 rows."),
        (rows(0, 0, 0, 0, 3, 1), CAUSAL, "Looks most at the first token in 3 of 5 rows with a choice."),
        (rows(3, 3, 3, 3, 0, 3), ALL, "Favours one token: “d” gets the most weight in 5 of 6 rows."),
        (
            rows(3, 4, 1, 5, 2, 3),
            ALL,
            "No clear pattern: “d” gets the most weight in 2 of 6 rows, more often than",
        ),
        (rows(3, 4, 1, 5, 0, 2), ALL, "No clear pattern: no token gets the most weight in two rows."),
        (
            rows(0, 1, 2, 0, 3, 1),
            ALL,
            "No pattern in most rows: the commonest favourite of a row is its own token, in 3 of 6 rows.",
        ),
        (rows(5, 4, 3, 2, 1, 0), ALL, "Looks most at its mirror place, the last token from the first and so on, in 6"),
        (rows(4, 5, 0, 1, 2, 3), ALL, "Looks most at the token 2 places back in 4 of 6 rows."),
        (rows(0, 1), ALL[:2], "Too few rows for a pattern."),
        (np.full((6, 6), 1 / 6, np.float32), ALL, "No pattern: every row spreads its weight evenly"),
    ],
)
def test_a_heads_sentence_follows_its_weights(weights, visible, said):
    assert about_head(weights, visible, LABELS, LABELS).startswith(said)


def test_the_strongest_pair_is_named_with_its_weight_and_a_row_without_choice_does_not_count():
    weights = rows(0, 0, 1, 2, 3, 4)
    weights[0, 0], weights[4, 2] = 1.0, 0.75
    assert about_head(weights, CAUSAL, LABELS, LABELS).endswith("Strongest: “e” → “c”, 0.75.")


@pytest.mark.parametrize(
    ("tokens", "back", "said"),
    [
        (60, (2, 0, 3, 1), "Looks most at itself or a token at most 3 places away in 59 of 59 rows with a choice."),
        (60, (0, 3, 6, 9), "No clear pattern"),  # only half of the rows look so near
        (8, (2, 0, 3, 1), "No clear pattern"),  # in a text so short every token is near
    ],
)
def test_a_head_that_looks_at_near_tokens_is_told_from_one_whose_text_is_short(tokens, back, said):
    weights, names = np.full((tokens, tokens), 0.01, np.float32), [f"k{i}" for i in range(tokens)]
    for row in range(tokens):
        weights[row, max(0, row - back[row % len(back)])] = 0.5
    causal = np.tri(tokens, dtype=bool)
    assert about_head(weights, causal, names, names).startswith(said)
    assert "places away" not in about_head(weights, causal, names, names, same_text=False)


def test_equal_weights_make_neither_a_habit_nor_a_strongest_pair():
    weights = np.full((6, 6), 0.01, np.float32)
    weights[:, 1:3] = 0.48
    assert about_head(weights, ALL, LABELS, LABELS) == (
        "No clear pattern: no token gets the most weight in two rows; 6 rows have no clear favourite. "
        "The largest weight, 0.48, stands in 6 rows."
    )
    weights[:, 1:3] = 0.24
    weights[3, 1:3] = 0.48
    assert about_head(weights, ALL, LABELS, LABELS).endswith("stands in the row of “d”, more than once.")


def test_rows_that_share_their_largest_weight_are_told_beside_the_commonest_favourite():
    weights = rows(3, 3, 1, 5, 2, 0)
    weights[2, 4] = weights[5, 2] = 0.5
    said = "No clear pattern: “d” gets the most weight in 2 of 6 rows, more often than any other token; 2 rows have no"
    assert about_head(weights, ALL, LABELS, LABELS).startswith(said)


@pytest.mark.parametrize(("second", "said"), [(0.971, "Strongest: “a” → “d”, 0.98."), (0.976, "stands in 2 rows.")])
def test_rows_with_the_largest_weight_are_those_that_print_it(second, said):
    weights = rows(3, 4, 1, 5, 0, 2)
    weights[0, 3], weights[1, 4] = 0.979, second
    assert about_head(weights, ALL, LABELS, LABELS).endswith(said)


def test_the_small_weights_of_a_long_text_keep_two_digits_and_their_favourite():
    weights = np.full((300, 300), 1 / 330, np.float32)
    weights[:, 7] = 0.0042
    keys = [f"k{i}" for i in range(300)]
    sentence = about_head(weights, np.ones((300, 300), bool), keys, keys)
    assert sentence.startswith("Favours one token: “k7” gets the most weight in 300")
    weights[5, 9] = 0.0058
    sentence = about_head(weights, np.ones((300, 300), bool), keys, keys)
    assert sentence.endswith("Strongest: “k5” → “k9”, 0.0058.")


def test_heads_that_spread_evenly_have_no_sharpest():
    assert "No head is sharper than an even spread" in about_heads(np.full((2, 3, 6, 6), 1 / 6, np.float32), ALL)


def test_cross_attention_knows_no_previous_token():
    sentence = about_head(rows(0, 0, 1, 2, 3, 4)[1:], ALL[1:], list("vwxyz"), LABELS, same_text=False)
    assert "previous" not in sentence


def test_a_single_token_has_no_choice():
    assert "No token has a choice" in about_head(np.ones((1, 1), np.float32), np.ones((1, 1), bool), ["a"], ["a"])


def test_the_sharpest_head_is_found():
    weights = np.full((2, 3, 6, 6), 1 / 6, np.float32)
    weights[1, 2] = np.eye(6)
    assert about_heads(weights, ALL).startswith(
        "Sharpest: layer 2, head 3. The largest weight of its rows is 1.00 on average; with an even"
    )


def test_a_head_that_copies_looks_behind_the_earlier_place_of_each_token():
    ids, names = [7, 8, 9, 8, 7, 9], list("abcdef")
    weights = np.tri(6, dtype=np.float32) * 0.05
    for row, key in ((1, 0), (2, 0), (3, 2), (4, 1), (5, 3)):
        weights[row, key] = 0.9
    sentence = "Where a token stood before, looks most at what came after it, in 3 of 3 such rows."
    assert about_head(weights, CAUSAL, names, names, ids=ids).startswith(sentence)
    assert "stood before" not in about_head(weights, CAUSAL, names, names)
    assert "stood before" not in about_head(weights, CAUSAL, names, names, ids=range(6))
    assert "stood before" not in about_head(weights, CAUSAL, names, names, same_text=False, ids=ids)
    elsewhere = np.where(np.arange(6)[:, None] > 3, np.roll(weights, 1, 1), weights)
    assert "stood before" not in about_head(elsewhere * CAUSAL, CAUSAL, names, names, ids=ids)


def test_what_rounding_alone_tells_from_the_largest_ties_with_it():
    third = np.array([1 / 3, 0.2, 1 / 3 + 1e-7, np.nan], np.float32)
    assert third[0] != third[2]
    assert places_of_largest(third) == [0, 2]
    assert places_of_largest(np.array([[0.5, 0.4999], [0.1, 0.5]])) == [0, 3]
    assert places_of_largest(np.array([1e-6, 2e-6], np.float32), size=1.0) == [
        0,
        1,
    ]  # differences of numbers of that size
    assert places_of_largest(np.array([1e-6, 2e-6], np.float32)) == [1]
    assert places_of_largest(np.zeros(3)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("count", "what", "said"),
    [(1, "rows", ""), (2, "", " (one of 2 that tie)"), (12, "rows", " (one of 12 rows that tie)")],
)
def test_ties_are_counted_in_words(count, what, said):
    assert one_of_ties(count, what) == said


def test_a_row_of_two_keys_differs_by_as_much_at_both():
    model = ModelState(text="one two", seq_len=2)
    panel = Maps(model, PositionsState(a="sinusoidal", b="learned"))
    first, second = (panel.heads[name].weights[1] for name in ("sinusoidal", "learned"))
    np.testing.assert_allclose(*(np.abs(first - second)), atol=1e-6)
    assert "A and B differ most where “two” looks at “one” (one of 2 that tie): " in panel.sentence()
    longer = Maps(MODEL, PositionsState(a="sinusoidal", b="learned"))
    assert "that tie" not in longer.sentence()


def test_heads_that_are_equally_sharp_tie_for_the_sharpest():
    first = np.array([[[1, 0.6], [1, 0.9]], [[1, 0.9], [1, 0.7]]], np.float32)
    visible = np.array([1, 2])
    assert "Sharpest: layer 1, head 2 (one of 2 that tie). The largest weight" in about_firsts(first, visible)
    first[0, 1] = 0.8
    assert "Sharpest: layer 2, head 1. The largest weight" in about_firsts(first, visible)
