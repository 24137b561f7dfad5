"""What lessons measure in the Training lens, of comparisons made by hand."""

import pytest

from tests.tfm_core.training.comparisons import comparison
from tests.tfm_ui.lenses.training.asking import MODEL
from tfm_ui.lenses.training import measures
from tfm_ui.lenses.training.compare.lengths import Lengths
from tfm_ui.lenses.training.state import TrainingState

STATE = TrainingState(view="compare")
GOOD, BAD, MIXED = [0.98, 0.99, 0.97], [0.5, 0.52, 0.51], [0.4, 0.97, 0.99]


@pytest.fixture
def compared(monkeypatch):
    """Put a comparison with these shares in the place of what is kept; without any, nothing was computed."""

    def put(rights, **more):
        made = comparison(rights, **more) if rights else None
        monkeypatch.setattr(measures, "comparison_of", lambda task: made)
        return made

    return put


@pytest.mark.parametrize(
    ("pre", "post", "ahead"),
    [(GOOD, BAD, "pre-norm"), (BAD, GOOD, "post-norm"), (GOOD, GOOD, "neither"), (MIXED, GOOD, "neither")],
)
def test_a_norm_is_ahead_only_where_its_seeds_show_it(compared, pre, post, ahead):
    compared({"learned": pre, "rope": BAD, "layers": BAD, "post": post, "lstm": GOOD})
    assert measures.pre_or_post(MODEL, STATE) == ahead


@pytest.mark.parametrize(
    ("single", "double", "ahead"),
    [(BAD, GOOD, "two heads"), (GOOD, BAD, "one head"), (GOOD, GOOD, "neither"), (MIXED, GOOD, "neither")],
)
def test_more_heads_are_ahead_only_where_their_seeds_show_it(compared, single, double, ahead):
    compared({"2 heads": double, "1 head": single, "post": GOOD, "layers": GOOD, "rope": BAD, "lstm": GOOD})
    assert measures.one_or_two_heads(MODEL, STATE) == ahead
    assert measures.one_head_right(MODEL, STATE) == pytest.approx(sorted(single)[1])
    assert measures.two_heads_right(MODEL, STATE) == pytest.approx(sorted(double)[1])


def test_other_networks_are_not_taken_for_the_other_norm(compared):
    compared({"learned": GOOD, "rope": BAD, "layers": BAD, "lstm": BAD})
    assert measures.pre_or_post(MODEL, STATE) == "neither"


def test_of_each_kind_the_best_median_counts(compared):
    compared({"learned": [0.7, 0.8, 0.9], "rope": BAD, "lstm": [0.1, 0.6, 0.99], "gru": [0.2] * 3})
    assert measures.transformer_right(MODEL, STATE) == pytest.approx(0.8)
    assert measures.recurrent_right(MODEL, STATE) == pytest.approx(0.6)


def test_where_nothing_was_computed_nobody_is_ahead(compared):
    compared({})
    nobody = {
        "one_head_right": 0,
        "one_or_two_heads": "neither",
        "pre_or_post": "neither",
        "recurrent_right": 0,
        "transformer_right": 0,
        "two_heads_right": 0,
    }
    assert {name: measures.MEASURES[name](MODEL, STATE) for name in nobody} == nobody


def test_who_goes_on_is_the_best_of_those_that_are_defined_there():
    panel = Lengths(MODEL, STATE)
    panel.comparison = comparison({"learned": GOOD, "rope": BAD, "lstm": GOOD})
    assert panel.best() == "rope"  # the learned table ends, and a recurrent network is no scheme
