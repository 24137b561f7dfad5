"""If several values tie for the largest, sentences say so."""

import numpy as np
import pytest

from tests.tfm_ui.lenses.positions.position_toys import MODEL
from tfm_ui.lenses.positions.model.maps import Maps
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import head_sentences
from tfm_ui.text.ties import one_of_ties, places_of_largest


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
    shown = Maps(model, PositionsState(a="sinusoidal", b="learned"))
    first, second = (shown.heads[name].weights[1] for name in ("sinusoidal", "learned"))
    np.testing.assert_allclose(*(np.abs(first - second)), atol=1e-6)
    assert "A and B differ most where “two” looks at “one” (one of 2 that tie): " in shown.sentence()
    longer = Maps(MODEL, PositionsState(a="sinusoidal", b="learned"))
    assert "that tie" not in longer.sentence()


def test_heads_that_are_equally_sharp_tie_for_the_sharpest():
    first = np.array([[[1, 0.6], [1, 0.9]], [[1, 0.9], [1, 0.7]]], np.float32)
    visible = np.array([1, 2])
    assert "Sharpest: layer 1, head 2 (one of 2 that tie). The largest weight" in head_sentences.about_heads(
        first, visible
    )
    first[0, 1] = 0.8
    assert "Sharpest: layer 2, head 1. The largest weight" in head_sentences.about_heads(first, visible)
