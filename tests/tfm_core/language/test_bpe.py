"""Byte-level BPE: any text comes back byte for byte, and each token is written in its own way."""

import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_core.language.bpe import SPECIAL, START, as_bytes, as_piece, train
from tfm_core.language.lab_gpt import TOKENIZER, lab_tokenizer
from tfm_core.model.tokens import encode

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)  # with half surrogate pairs, too
LIBRARY = tokenizers.Tokenizer.from_file(str(TOKENIZER))


@given(ANY_TEXT)
def test_any_text_comes_back(text: str) -> None:
    tokens = encode(text, lab_tokenizer())
    assert lab_tokenizer().join(tokens.pieces) == text
    assert all(lab_tokenizer().pieces[number] == piece for number, piece in zip(tokens.ids, tokens.pieces, strict=True))


@given(st.binary(max_size=30))
@example("\ud800".encode("utf-8", "surrogatepass"))  # half a surrogate pair, which a text may hold
def test_any_bytes_come_back_from_their_pieces(content: bytes) -> None:
    assert as_bytes(as_piece(content)) == content or as_piece(content).startswith("<0x")
    single = [as_piece(bytes([byte])) for byte in content]
    assert b"".join(map(as_bytes, single)) == content
    try:
        text = content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = content.decode("utf-8", "replace")
    assert ascii(lab_tokenizer().join(single)) == ascii(text)  # a report with half a pair could not be sent


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=60))
def test_ids_are_those_of_the_library(text: str) -> None:
    ours = encode(text, lab_tokenizer()).ids
    if not any(sign in text for sign in SPECIAL):
        assert list(ours) == LIBRARY.encode(text).ids


def test_no_two_tokens_are_written_alike() -> None:
    pieces = lab_tokenizer().pieces
    assert len(set(pieces)) == len(pieces) == lab_tokenizer().vocab_size == 2048
    assert pieces[: len(SPECIAL)] == SPECIAL


def test_the_signs_of_a_special_token_are_letters_in_a_text() -> None:
    tokens = encode(f"a {START} b", lab_tokenizer())
    assert min(tokens.ids) >= len(SPECIAL)
    assert lab_tokenizer().join(tokens.pieces) == f"a {START} b"


def test_a_special_token_stands_for_no_text() -> None:
    assert lab_tokenizer().join([START, "The", " sea"]) == "The sea"


def test_a_character_that_is_cut_in_two_is_shown_as_bytes() -> None:
    pieces = encode("é", lab_tokenizer()).pieces
    assert pieces == ("<0xC3>", "<0xA9>")
    assert lab_tokenizer().join(pieces) == "é"
    assert lab_tokenizer().join(pieces[:1]) == "\ufffd"


def test_what_looks_like_a_byte_is_text() -> None:
    text = "<0xC3>"
    tokens = encode(text, lab_tokenizer())
    assert text not in tokens.pieces
    assert lab_tokenizer().join(tokens.pieces) == text


def test_training_learns_the_most_frequent_pair() -> None:
    made = train(["ababababab"] * 3, vocab_size=256 + len(SPECIAL) + 1)
    assert made.encode("ab").tokens == ["ab"]
    assert made.id_to_token(0) == SPECIAL[0]
