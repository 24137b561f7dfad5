"""A weight that a change puts where the mask hides: whether it is a leak, and how far it reaches."""

import pytest

from tfm_ui.lenses.attention.change.results import changed
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MODEL = ModelState(seed=5, positional="rope")


@pytest.mark.parametrize("raw", ["", " raw"])
def test_a_leak_is_measured_by_what_the_later_token_does_to_the_earlier(raw):
    shown, _, _ = changed(MODEL, AttentionState(changes=f"weight 1.2 3>8 0.5{raw}", head=2))
    both = shown.compared
    assert both.effect.leak is not None
    assert both.effect.leak.moved > 0.01
    assert shown.crosses() == [(1, 2, 7), (2, 2, 7)]
    sums, masked = shown.laws().items()
    assert sums[1] is not bool(raw)
    assert masked == ("masked weights of layer 1, head 2 are exactly 0 in B (1 not)", False)
    assert "“sat” sees “it”, which comes later" in shown.sentence()
    assert f"{formats.percent(both.effect.leak.moved)}" in shown.sentence()


def test_a_leak_of_a_silent_head_carries_nothing():
    shown, _, _ = changed(MODEL, AttentionState(changes="weight 1.2 3>8 0.5; silence 1.2", head=2))
    assert shown.compared.effect.leak.moved < 1e-6
    assert "moves the output at “sat” by nothing" in shown.about_leak()


@pytest.mark.parametrize(
    ("kind", "change", "leaks"),
    [
        ("encoder", "weight 1.1 1>3 0.5", False),
        ("decoder", "weight decoder 1.1 1>3 0.5", True),
        ("cross", "weight cross 1.1 1>3 0.5", False),
        ("encoder", "weight decoder 1.1 1>3 0.5", True),
    ],
)
def test_only_what_must_not_look_ahead_can_leak(kind, change, leaks):
    model = ModelState(architecture="encoder-decoder")
    shown, _, _ = changed(model, AttentionState(kind=kind, changes=change))
    assert bool(shown.compared.effect.leak) is leaks
    if leaks and kind == "decoder":
        assert shown.compared.effect.leak.moved > 0
    free, _, _ = changed(ModelState(causal=False), AttentionState(changes="weight 1.1 1>3 0.5"))
    assert not free.compared.effect.leak
