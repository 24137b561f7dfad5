"""Compositions: what they say, and what a link may hold."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import MASKS, causal_mask, encode, global_mask, padding_mask, window_mask
from tfm_ui.lenses.masks.composition import HIGH, MOST_TERMS, Composition, bracketed, combined, parse, written

TOKENS = encode("one two three", seq_len=5).batch
FIELD = Composition("Mask")


def mask(text):
    return combined(parse(text)[0], TOKENS, TOKENS)


def test_the_first_words_act_before_the_last():
    window, everywhere, causal = window_mask(5, window=2), global_mask(5, tokens=(0,)), causal_mask(5)
    assert torch.equal(mask("window 2 or global 1 and causal"), (window | everywhere) & causal)
    assert torch.equal(mask("causal and window 2 or global 1"), (causal & window) | everywhere)
    assert torch.equal(mask("padding"), padding_mask(TOKENS)[0, 0].expand(5, 5))
    assert mask("").all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("causal", "causal"),
        ("causal and padding and window 3", "causal and padding and window 3"),
        ("window 3 or global 1 5 and causal and padding", "(window 3 or global 1 5) and causal and padding"),
        ("causal and window 3 or global 1 and padding", "((causal and window 3) or global 1) and padding"),
    ],
)
def test_brackets_say_what_acts_on_what(text, said):
    assert bracketed(parse(text)[0]) == said
    assert FIELD.read(text, "padding") == (text, "")


@pytest.mark.parametrize(
    ("asked", "value", "reason"),
    [
        ("Causal AND  padding", "causal and padding", ""),
        ("window", "window 3", ""),
        ("causal 0", "causal", ""),
        ("global 1,4", "global 1 4", ""),
        ("window 0", "window 1", "window: from 1 to 1024"),
        ("window 99999999999999999999", f"window {HIGH}", "window: from 1 to 1024"),
        ("global 0", "global 1", "tokens: from 1 to 1024"),
        ("window 2 3", "window 2", "window takes fewer numbers"),
        ("padding 3", "padding", "padding takes fewer numbers"),
        ("causl and padding", "padding", "“causl” is no mask"),
        ("nonsense", "prefix 2", "“nonsense” is no mask"),
        ("🦊", "prefix 2", "“🦊” is no mask"),
        ("window -3", "prefix 2", "“window -3” is no mask"),
        ("window ٣", "prefix 2", "is no mask"),
        ("or or and", "prefix 2", ""),
        ("and causal", "causal", ""),
        (" and ".join(["causal"] * 20), " and ".join(["causal"] * MOST_TERMS), "it holds 8 masks"),
    ],
)
def test_what_can_be_is_taken_and_the_rest_is_named(asked, value, reason):
    read, why = FIELD.read(asked, "prefix 2")
    assert read == value
    assert reason in why
    assert bool(reason) == bool(why)
    assert FIELD.read(read, "") == (read, "")


@given(st.text(max_size=60) | st.lists(st.sampled_from([*MASKS, "and", "or", "3", "900"]), max_size=30).map(" ".join))
def test_whatever_is_asked_for_is_a_composition_of_limited_length(text):
    value, _ = FIELD.read(text, "padding")
    terms, wrong = parse(value)
    assert not wrong
    assert written(terms) == value
    assert len(value) <= FIELD.max_chars
    assert combined(terms, TOKENS, TOKENS).shape == (5, 5)
