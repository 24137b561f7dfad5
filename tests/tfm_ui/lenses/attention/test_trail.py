"""Trails and sources in a link: what they stand for, and what is no trail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_ui.lenses.attention.trail import ROOM, At, SourceCode, Trail, cells, written

NUMBERS = st.integers(1, 999)
HEADS = st.builds(At, st.sampled_from(["encoder", "decoder", "cross"]), *[NUMBERS] * 4, st.sampled_from("qkv"))
LOGITS = st.builds(At, st.just("logit"), *[NUMBERS] * 4, st.just("l"))


@given(st.lists(HEADS | LOGITS, max_size=6))
def test_a_trail_comes_back_from_its_link_as_far_as_there_is_room(trail):
    text = written(trail)
    assert len(text) <= ROOM
    kept = cells(text)
    assert kept == trail[len(trail) - len(kept) :]
    assert Trail("").read(text, "") == (text, "")


@pytest.mark.parametrize(
    "raw", ["garbage", "2.1.6.5", "l2.1.6.6k", "2.1.6.5l", "2.1.6.5k;", "<b>-2.1.6.5x", "٣.1.6.5k"]
)
def test_what_is_no_trail_is_left_out_with_a_reason(raw):
    text, reason = Trail("").read(raw, "")
    assert text == ""
    assert "expected cells such as 2.1.6.5k" in reason


@pytest.mark.parametrize("code", ["", "1.4", "12x16", "3n", "embedding", "biases@0", "e1.4@5", "position@12"])
def test_sources_and_nodes_are_read(code):
    assert SourceCode("").read(code, "default") == (code, "")


@pytest.mark.parametrize("code", ["1", "1.4@", "n1", "<script>", "1.4 ", "1.٤", "1.4@5@6"])
def test_what_is_no_source_becomes_the_default_with_a_reason(code):
    assert SourceCode("").read(code, "")[0] == ""
    assert SourceCode("").read(code, "")[1]
