"""A row of tokens: what the model reads, and weights over words."""

import re
from pathlib import Path

import pytest

from tfm_core import Tokens, encode, lab_prompt
from tfm_ui.text import token_row
from tfm_ui.text.colours import WEIGHTS
from tfm_ui.text.token_row import MOST, Text

PAGE = Path(__file__).parents[3] / "assets/page/page.css"


def of(text: str, tokenizer: str = "word", seq_len: int | None = None) -> Text:
    return Text(encode(text, tokenizer, seq_len))


def chips(*texts: Text) -> list[str]:
    return [item[0] for item in token_row.read(texts) if not isinstance(item, str)]


def between(*texts: Text) -> list[str]:
    return [item for item in token_row.read(texts, "→") if isinstance(item, str)]


def test_a_text_stands_there_as_it_is_read_repeats_numbered_and_padding_where_it_stands():
    assert token_row.read([of("the cat the", seq_len=4)]) == ["Reads", ("the",), ("cat",), ("the₂",), ("PAD",)]
    before = Text(encode("the cat", "word", 4), padded_before=True)
    assert chips(before) == ["PAD", "PAD", "the", "cat"]
    assert between(of("a b"), of("c")) == ["Reads", "→"]
    assert token_row.read([]) == []


@pytest.mark.parametrize("length", [MOST - 1, MOST, MOST + 1, 512])
@pytest.mark.parametrize("words", [0, 3, 63, 65, 512])
@pytest.mark.parametrize("padded_before", [True, False])
def test_of_a_long_text_the_first_chips_are_drawn_and_the_others_counted(length, words, padded_before):
    text = Text(encode("w " * words, "word", length), padded_before)
    assert len(chips(text)) == min(length, MOST)
    assert between(text)[1:] == ([f"… and {length - MOST} more"] if length > MOST else [])
    pads = max(0, length - words)
    names = chips(of("w " * min(words, length)))
    assert chips(text) == (["PAD"] * pads + names if padded_before else names + ["PAD"] * pads)[:MOST]


def test_two_long_texts_share_the_chips():
    assert len(chips(of("a " * 100), of("b " * 100))) == MOST
    assert between(of("a " * 100), of("b " * 33)) == ["Reads", "… and 68 more", "→", "… and 1 more"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (of("the cat · sat"), ""),
        (of("a cat", "character"), "· = a space"),
        (of("a\tcat\n"), "↵ = a new line"),
        (Text(lab_prompt("The sea, and", 8)), "· = a space before the word"),
        (Text(Tokens((" sea", "  "), (1, 2), 0)), "· = a space"),
        (Text(Tokens((" sea", "\n\n"), (1, 2), 0)), "· = a space before the word, ↵ = a new line"),
    ],
)
def test_a_sign_for_white_space_is_explained_where_it_stands_and_nowhere_else(text, expected):
    assert token_row.signs([text]) == expected


def test_a_weight_is_a_bar_and_a_number_of_two_decimals():
    items = token_row.row(["the", "·cat"], [0.125, 1 / 3])
    assert items == [("the", "0.1250", "0.12"), ("·cat", "0.3333", "0.33")]
    assert '<b class="token weighed" style="--weight: 0.3333">·cat<small>0.33</small><i></i></b>' in (
        token_row.html_of(items)
    )
    with pytest.raises(ValueError, match="shorter"):
        token_row.row(["the", "cat"], [1.0])


def test_no_token_becomes_an_element():
    html = token_row.html_of(token_row.read([of('<img onerror="x"> &amp; <b>')]))
    assert set(re.findall("<[^>]*>", html)) == {"<span>", "</span>", '<b class="token">', "</b>"}
    assert html.count("&lt;") == 2


def test_the_bars_have_the_colours_of_weights_in_both_modes():
    scale = re.search(r"\.weighed i \{.*?linear-gradient\(90deg, (.*?)\) calc", PAGE.read_text(encoding="utf-8"))
    assert scale
    pairs = re.findall(r"light-dark\((#\w+), (#\w+)\)", scale[1])
    assert pairs == list(zip(WEIGHTS["light"], WEIGHTS["dark"], strict=True))
