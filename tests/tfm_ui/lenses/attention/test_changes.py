"""The text that stands for changes: whatever a link says of them, something sensible comes of it."""

from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import encode
from tfm_core.model.tokens import Tokenizer
from tfm_ui.lenses.attention.changes import (
    Changes,
    Drop,
    OfAttention,
    Replace,
    Silence,
    Swap,
    Weight,
    Zero,
    changed_ids,
    first_token,
    how_many,
    order,
    parse,
    sort_out,
    with_change,
    written,
)
from tfm_ui.state.model_state import ModelState

number = st.integers(1, 12)
kind, text = st.sampled_from(OfAttention.places.split("|")), st.sampled_from(["source", "target"])
CHANGE = st.one_of(
    st.builds(Silence, kind, number, number),
    st.builds(Zero, kind, number, st.integers(0, 12), number),
    st.builds(
        Weight, kind, number, number, number, number, st.integers(0, 1000).map(lambda n: n / 1000), st.booleans()
    ),
    st.builds(Drop, text, number),
    st.builds(Swap, text, number, number),
    st.builds(Replace, text, number, st.sampled_from(["dog", "Raw", "5>3", "1.2", "שלום", "🦊", "<b>"])),
)
CHANGES = st.lists(CHANGE, max_size=6, unique=True)


@given(changes=CHANGES)
def test_changes_come_back_from_their_text(changes):
    assert parse(written(changes)) == (changes, [])


def test_the_words_of_the_docstring():
    assert parse("silence 1.2;zero 1 3; zero  cross 1.2 3; WEIGHT 1.2 5>3 0.9; weight 1.2 5>3 .25 raw; drop target 4")[
        0
    ] == [
        Silence("encoder", 1, 2),
        Zero("encoder", 1, 0, 3),
        Zero("cross", 1, 2, 3),
        Weight("encoder", 1, 2, 5, 3, 0.9, True),
        Weight("encoder", 1, 2, 5, 3, 0.25, False),
        Drop("target", 4),
    ]


@given(raw=st.text(max_size=60) | st.text("silencezero weightdropswap 0123456789.>;", max_size=60))
def test_any_text_is_read_and_what_was_read_needs_no_correction(raw):
    field = Changes("Changes", 40)
    value, _ = field.read(raw, "")
    assert len(quote_plus(value)) <= 40
    assert field.read(value, "") == (value, "")


@pytest.mark.parametrize(
    ("raw", "value", "reason"),
    [
        ("silence 1", "", "“silence 1” is no change"),
        ("drop 1; explode; swap 2 3", "drop 1; swap 2 3", "“explode” is no change"),
        ("weight 1.1 2>1 7", "", "is no change, expected such as silence 1.2"),
        ("drop 1; drop 1", "drop 1", ""),
        ("drop ١", "", "is no change"),  # a digit, but none of ours
    ],
)
def test_what_is_no_change_is_said(raw, value, reason):
    got, why = Changes("Changes").read(raw, "")
    assert got == value
    assert reason in why


def test_too_many_changes_are_cut_between_two():
    value, reason = Changes("Changes", 20).read("silence 1.1; silence 1.2; drop 1", "")
    assert (value, reason) == ("silence 1.1", "a link holds 20 characters of changes; what is beyond is left out")


@given(changes=CHANGES, tokens=st.tuples(*[st.integers(1, 5)] * 2), layers=st.integers(1, 3), both=st.booleans())
def test_what_is_left_can_be_done(changes, tokens, layers, both):
    source, target = ("a " * count for count in tokens)
    architecture = "encoder-decoder" if both else "encoder"
    model = ModelState(text=source, target=target, num_layers=layers, num_heads=4, architecture=architecture)
    possible, aside = sort_out(changes, model)
    assert set(possible) | set(aside) == set(changes)
    assert all(aside.values())
    for text in ("source", "target"):
        size = how_many(model, text)
        left = order(possible, text, size)
        dropped = {change.token - 1 for change in possible if isinstance(change, Drop) and change.text == text}
        assert sorted(left) == [token for token in range(size) if token not in dropped]
        assert left or not size
    assert sort_out(possible, model) == (possible, {})


def test_why_changes_are_set_aside():
    changes, _ = parse("silence 3.1; silence 1.5; zero 1 9; silence cross 1.1; drop 2; swap 2 3; drop 1; drop 3")
    possible, aside = sort_out(changes, ModelState(text="a b c", num_layers=2, num_heads=4))
    assert written(possible) == "drop 2; drop 1"
    assert list(aside.values()) == [
        "one token must be left",
        "layers go from 1 to 2",
        "heads go from 1 to 4",
        "the text has fewer tokens",
        "only an encoder-decoder has that",
        "its token is dropped",
    ]


def test_tokens_are_counted_as_the_text_is_written():
    changes, _ = parse("swap 1 3; drop 2; swap 1 4; swap target 1 2")
    assert order(changes, "source", 5) == [2, 3, 0, 4]
    assert order(changes, "target", 3) == [1, 0, 2]


def test_of_one_cell_the_last_weight_counts():
    changes = parse("weight 1.1 2>1 0.5; drop 3")[0]
    again = with_change(changes, Weight("encoder", 1, 1, 2, 1, 0.7, False))
    assert written(again) == "drop 3; weight 1.1 2>1 0.7 raw"
    twice = with_change(parse("replace 3 dog; replace 2 hen")[0], Replace("source", 3, "cow"))
    assert written(twice) == "replace 2 hen; replace 3 cow"
    assert written(with_change(again, Drop("source", 3))) == "weight 1.1 2>1 0.7 raw; drop 3"


def _around(before: list[str], after: list[str]) -> Tokenizer:
    """A tokenizer that puts special tokens before each text and after it, as BERT's does."""
    vocabulary = ["<pad>", *before, *after, "a", "cat", "dog"]
    return Tokenizer(
        vocab_size=len(vocabulary),
        split=lambda text: [*before, *text.split(), *after],
        id_of=vocabulary.index,
        join=" ".join,
    )


@pytest.mark.parametrize(("before", "after"), [([], []), (["[CLS]"], ["[SEP]"]), (["<s>", "<s2>"], []), ([], ["</s>"])])
def test_a_replaced_token_is_none_of_the_special_ones_around_a_text(before, after):
    tokenizer = _around(before, after)
    assert first_token("dog cat", tokenizer) == ("dog", tokenizer.id_of("dog"))
    text = encode("a cat", tokenizer)
    place = len(before) + 1
    ids = changed_ids(text, tokenizer, {place: "dog"}, range(len(text.ids)))
    assert ids[0].tolist() == encode("a dog", tokenizer).batch[0].tolist()
