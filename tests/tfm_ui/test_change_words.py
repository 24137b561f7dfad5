"""The view "change" in words: leaks by their heads, and what is set aside."""

from tfm_ui.attention_lens.change import view
from tfm_ui.attention_lens.state import AttentionState
from tfm_ui.model_state import ModelState

MODEL = ModelState()


def test_a_leak_elsewhere_is_named_by_its_head_and_others_are_counted():
    shown = view(MODEL, AttentionState(changes="weight 2.2 1>10 1; weight 1.3 3>8 0.8 raw"))
    assert "✕ A leak in B, layer 2, head 2: “the” sees “tired”, which comes later; 1 other weight of B leaks too." in (
        shown.about_leak()
    )
    assert shown.laws()["masked weights of layer 1, head 1 are exactly 0 in B"]


def test_what_means_nothing_is_set_aside_with_its_reason():
    shown = view(MODEL, AttentionState(changes="swap 2 2; drop 0; silence 0.0; drop 90; drop 91; drop 92; drop 93"))
    assert shown.same
    said = shown.aside
    assert "“swap 2 2”, as a token is swapped with another one." in said
    assert "“drop 0”, as tokens count from 1." in said
    assert "“silence 0.0”, as layers go from 1 to 2." in said
    assert "“drop 90”, “drop 91”, “drop 92” and 1 more, as the text has fewer tokens." in said


def test_the_example_that_the_view_opens_with_is_silently_left_out_where_it_does_not_fit():
    shown = view(ModelState(text="cat", seq_len=2), AttentionState())
    assert shown.same
    assert shown.aside == ""
