"""The view "change" in words and tables: leaks by their heads, laws, and what is set aside."""

import pytest

from tfm_ui.lenses.attention.change.results import changed
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()


def test_a_leak_elsewhere_is_named_by_its_head_and_others_are_counted():
    shown, _, _ = changed(MODEL, AttentionState(changes="weight 2.2 1>10 1; weight 1.3 3>8 0.8 raw"))
    assert "✕ A leak in B, layer 2, head 2: “the” sees “tired”, which comes later; 1 other weight of B leaks too." in (
        shown.about_leak()
    )
    assert shown.laws()["masked weights of layer 1, head 1 are exactly 0 in B"]


def test_what_means_nothing_is_set_aside_with_its_reason():
    shown, _, _ = changed(
        MODEL, AttentionState(changes="swap 2 2; drop 0; silence 0.0; drop 90; drop 91; drop 92; drop 93")
    )
    assert shown.setting.same
    said = shown.setting.aside
    assert "“swap 2 2”, as a token is swapped with another one." in said
    assert "“drop 0”, as tokens count from 1." in said
    assert "“silence 0.0”, as layers go from 1 to 2." in said
    assert "“drop 90”, “drop 91”, “drop 92” and 1 more, as the text has fewer tokens." in said


def test_the_example_that_the_view_opens_with_is_silently_left_out_where_it_does_not_fit():
    shown, _, _ = changed(ModelState(text="cat", seq_len=2), AttentionState())
    assert shown.setting.same
    assert shown.setting.aside == ""


@pytest.mark.parametrize(
    "model",
    [
        ModelState(text="hi", seq_len=2),
        ModelState(text="a a a a", seq_len=4, positional="none"),
        ModelState(text="@alice", seq_len=1024, num_layers=1),
        ModelState(architecture="encoder-decoder", text="one", target="eins", seq_len=3),
    ],
    ids=["one token", "equal tokens", "1024 tokens", "one token each"],
)
@pytest.mark.parametrize("changes", ["", "silence 1.1", "zero 1 1; drop 1; swap 1 2", "weight 1.1 1>1 0.3"])
def test_every_text_has_sentences_tables_and_laws(model, changes):
    weights, stream, output = changed(model, AttentionState(changes=changes))
    assert all([weights.sentence(), stream.sentence(), output.sentence()])
    assert all(weights.laws().values()) == (not changes.startswith("weight"))  # its row has no other key
    assert len(stream.table()) == len(stream.queries)
    assert weights.table().notna().all().all()
    assert not output.table().empty


def test_a_lone_weight_that_is_lowered_leaves_a_row_that_is_not_whole():
    shown, _, _ = changed(MODEL, AttentionState(changes="weight 1.1 1>1 0.3"))
    assert (
        "every row of layer 1, head 1 sums to 1 in B (“the” sums to 0.30, with no other key to make up for it)"
        in shown.laws()
    )
    assert (
        "every row of layer 1, head 1 sums to 1 in B"
        in changed(MODEL, AttentionState(changes="weight 1.1 5>1 0.3"))[0].laws()
    )
