"""Tokens: stable ids, nothing lost that the tokenizer promises to keep."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_core import TOKENIZERS, encode
from tfm_core.model.tokens import collisions

any_text = st.text(st.characters(exclude_categories=()))  # with lone surrogates
every_tokenizer = pytest.mark.parametrize("tokenizer", TOKENIZERS)

CUT = [
    ("the cat, the mat.", ["the", "cat", ",", "the", "mat", "."]),
    ("don't  well-known", ["don't", "well-known"]),
    ("a 👍🏽 👨‍👩‍👧 🏳️‍🌈 b", ["a", "👍🏽", "👨‍👩‍👧", "🏳️‍🌈", "b"]),
    ("e\u0301 n\u0303 नमस्ते ก็", ["e\u0301", "n\u0303", "नमस्ते", "ก็"]),
    ("שלום עולם مرحبا بالعالم", ["שלום", "עולם", "مرحبا", "بالعالم"]),
    ("a\tb\nc\n\n\td", ["a", "\t", "b", "\n", "c", "\n", "\n", "\t", "d"]),
    ("", []),
    ("   ", []),
    ("我喜歡貓", ["我喜歡貓"]),
]


@every_tokenizer
@given(any_text)
def test_ids_lie_above_the_reserved_ones_and_below_vocab_size(tokenizer, text):
    tokens = encode(text, tokenizer)
    assert len(tokens.ids) == len(tokens.pieces)
    assert all(4 <= i < TOKENIZERS[tokenizer].vocab_size for i in tokens.ids)
    assert (tokens.padding, tokens.dropped) == (0, 0)
    assert tokens.batch.dtype == torch.int64
    assert tokens.batch.tolist() == [list(tokens.ids)]


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


@given(st.lists(st.sampled_from([piece for _, pieces in CUT for piece in pieces])))
def test_words_joined_are_read_as_the_same_words(words):
    assert encode(TOKENIZERS["word"].join(words)).pieces == tuple(words)


@pytest.mark.parametrize(("text", "pieces"), CUT)
def test_how_words_are_cut(text, pieces):
    assert list(encode(text).pieces) == pieces


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


def test_collisions_are_found_in_the_order_of_the_text():
    first, second = chr(100), chr(100 + 4092)
    third, fourth = chr(50), chr(50 + 2 * 4092)
    assert collisions(encode(f"{fourth}x{first}{third}y{second}{first}", "character")) == [
        (fourth, third),
        (first, second),
    ]
    assert collisions(encode("the cat the cat")) == []


def test_alphabets_do_not_collide_with_each_other():
    letters = "".join(map(chr, range(4092))) + "\n"
    assert collisions(encode(letters, "character")) == []


def test_a_character_cut_in_two_leaves_the_sign_for_that():
    assert TOKENIZERS["byte"].join(encode("aé", "byte", 2).pieces) == "a\ufffd"
