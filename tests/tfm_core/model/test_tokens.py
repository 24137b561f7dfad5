"""Tokens: stable ids, nothing lost that the tokenizer promises to keep."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_core import TOKENIZERS, collisions, encode

any_text = st.text(st.characters(exclude_categories=()))  # with lone surrogates
every_tokenizer = pytest.mark.parametrize("tokenizer", TOKENIZERS)

TEXTS = {
    "emoji": "a 👍🏽 👨‍👩‍👧 🏳️‍🌈 b",
    "combining marks": "e\u0301 n\u0303 नमस्ते ก็",
    "right to left": "שלום עולם مرحبا بالعالم",
    "tabs and newlines": "a\tb\nc\n\n\td",
    "no spaces": "我喜歡貓",
    "surrogate": "a \ud83d b",
}


@every_tokenizer
@given(any_text)
def test_ids_lie_above_the_reserved_ones_and_below_vocab_size(tokenizer, text):
    tokens = encode(text, tokenizer)
    assert len(tokens.ids) == len(tokens.pieces)
    assert all(4 <= i < TOKENIZERS[tokenizer].vocab_size for i in tokens.ids)
    assert (tokens.padding, tokens.dropped) == (0, 0)


@every_tokenizer
@given(any_text, any_text)
def test_an_id_depends_on_its_piece_alone(tokenizer, text, other):
    alone, among = encode(text, tokenizer), encode(f"{other} {text} {other}", tokenizer)
    known = dict(zip(among.pieces, among.ids, strict=True))
    assert all(known[piece] == i for piece, i in zip(alone.pieces, alone.ids, strict=True) if piece in known)
    if tokenizer != "byte":
        assert set(alone.pieces) <= set(known)


@pytest.mark.parametrize("tokenizer", ["character", "byte"])
@given(any_text)
@example("👨‍👩‍👧 e\u0301 שלום\t\r\n\x00 \ud83d\ude00 \udc00")
def test_characters_and_bytes_give_the_text_back_exactly(tokenizer, text):
    assert TOKENIZERS[tokenizer].join(encode(text, tokenizer).pieces) == text


@given(any_text)
def test_a_byte_s_id_is_its_value_and_no_two_collide(text):
    tokens = encode(text, "byte")
    assert bytes(i - 4 for i in tokens.ids) == text.encode("utf-8", "surrogatepass")
    assert collisions(tokens) == []


@given(any_text)
def test_words_lose_nothing_but_white_space(text):
    assert "".join("".join(encode(text).pieces).split()) == "".join(text.split())


@given(st.lists(st.sampled_from(["the", "cat", "naïve", "שלום", "👨‍👩‍👧", ",", "\n", "\t"])))
def test_words_joined_are_read_as_the_same_words(words):
    assert encode(TOKENIZERS["word"].join(words)).pieces == tuple(words)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the cat, the mat.", ["the", "cat", ",", "the", "mat", "."]),
        ("don't  well-known", ["don't", "well-known"]),
        (TEXTS["emoji"], ["a", "👍🏽", "👨‍👩‍👧", "🏳️‍🌈", "b"]),
        (TEXTS["combining marks"], ["e\u0301", "n\u0303", "नमस्ते", "ก็"]),
        (TEXTS["right to left"], ["שלום", "עולם", "مرحبا", "بالعالم"]),
        (TEXTS["tabs and newlines"], ["a", "\t", "b", "\n", "c", "\n", "\n", "\t", "d"]),
        ("", []),
        ("   ", []),
    ],
)
def test_how_words_are_cut(text, pieces):
    assert list(encode(text).pieces) == pieces


@every_tokenizer
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_script_survives(tokenizer, text):
    tokens = encode(text, tokenizer)
    again = encode(TOKENIZERS[tokenizer].join(tokens.pieces), tokenizer)
    assert again == tokens
    if tokenizer == "character":
        assert list(tokens.pieces) == list(text)


def test_ids_are_pinned_because_links_promise_the_same_picture_for_ever():
    assert encode("the cat 👍").ids == (778, 1316, 3316)
    assert encode("cat", "character").ids == (103, 101, 120)
    assert encode("é", "byte").ids == (4 + 0xC3, 4 + 0xA9)


@every_tokenizer
@given(text=any_text, seq_len=st.integers(1, 20))
def test_cutting_and_padding_account_for_every_piece(tokenizer, text, seq_len):
    full, cut = encode(text, tokenizer), encode(text, tokenizer, seq_len)
    assert len(cut.ids) == seq_len
    assert cut.pieces == full.pieces[:seq_len]
    assert len(cut.pieces) + cut.dropped == len(full.pieces)
    assert len(cut.pieces) + cut.padding == seq_len
    assert cut.ids == (full.ids + (0,) * seq_len)[:seq_len]


@every_tokenizer
@pytest.mark.parametrize("text", ["cat", ""])
def test_a_batch_of_one_is_int64(tokenizer, text):
    tokens = encode(text, tokenizer)
    assert tokens.batch.dtype == torch.int64
    assert tokens.batch.tolist() == [list(tokens.ids)]


def test_collisions_are_found_in_the_order_of_the_text():
    first, second = chr(100), chr(100 + 4092)
    third, fourth = chr(50), chr(50 + 2 * 4092)
    assert collisions(encode(f"{fourth}x{first}{third}y{second}{first}", "character")) == [
        (fourth, third),
        (first, second),
    ]
    assert collisions(encode("the cat the cat")) == []


def test_colliding_words_are_found():
    by_id = {}
    for n in range(4000):
        by_id.setdefault(encode(f"w{n}").ids[0], []).append(f"w{n}")
    pair = next(words for words in by_id.values() if len(words) == 2)
    assert collisions(encode(f"{pair[0]} and {pair[1]} and {pair[0]}")) == [tuple(pair)]


def test_alphabets_do_not_collide_with_each_other():
    letters = "".join(map(chr, range(4092))) + "\n"
    assert collisions(encode(letters, "character")) == []


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: encode("a", "bpe"), ["word, character, byte", "'bpe'"]),
        (lambda: encode("a", ["word"]), ["word, character, byte", "['word']"]),
        (lambda: encode("a", seq_len=2.5), ["seq_len", "whole number", "2.5"]),
        (lambda: encode("a", seq_len=0), ["seq_len", "at least 1", "0"]),
        (lambda: encode("a", seq_len=-3), ["seq_len", "at least 1", "-3"]),
    ],
    ids=["tokenizer", "no name", "half", "zero", "negative"],
)
def test_bad_requests_are_refused_in_words(call, parts):
    with pytest.raises(ValueError, match="expected") as error:
        call()
    assert all(part in str(error.value) for part in parts)


def test_a_character_cut_in_two_leaves_the_sign_for_that():
    assert TOKENIZERS["byte"].join(encode("aé", "byte", 2).pieces) == "a\ufffd"
