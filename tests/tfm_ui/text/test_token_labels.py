"""Labels tell tokens apart, and notes say how a text was read."""

import pytest

from tfm_core import Tokens, encode
from tfm_ui.text.token_labels import about_tokens, labels


@pytest.mark.parametrize(
    ("text", "tokenizer", "seq_len", "expected"),
    [
        ("the cat the", "word", 4, ["the", "cat", "the₂", "PAD"]),
        ("internationalisation", "word", 1, ["inter…tion"]),
        ("a\tb\n", "word", 4, ["a", "⇥", "b", "↵"]),
        ("a b", "character", 3, ["a", "·", "b"]),
        ("é", "byte", 2, ["<0xC3>", "<0xA9>"]),
        ("👩‍👩", "character", 3, ["👩", "ZWJ", "👩₂"]),
        ("👩‍👩 x", "word", 2, ["👩‍👩", "x"]),
        ("a a₂ a", "word", 3, ["a", "a₂", "a₃"]),
        ("internationally interxxxnally", "word", 2, ["inter…ally", "inter…ally₂"]),
        ("a\u202eb", "word", 1, ["a\\u202eb"]),
        ("שלום x", "word", 2, ["\u2068שלום\u2069", "x"]),
    ],
)
def test_labels_are_short_and_tell_repeats_apart(text, tokenizer, seq_len, expected):
    assert labels(encode(text, tokenizer, seq_len)) == expected


def test_white_space_is_made_visible_wherever_it_stands_in_a_token():
    assert labels(Tokens((" whale", "\n\n", " a\tb", " circumstances"), (1, 2, 3, 4), 0)) == [
        "·whale",
        "↵↵",
        "·a⇥b",
        "·circ…nces",
    ]


def test_the_reader_is_told_what_was_cut_and_padded():
    assert about_tokens(encode("a b c", seq_len=3)) == []
    assert about_tokens(encode("a, b!", seq_len=2)) == ["The text has 4 tokens; the first 2 are read."]
    assert about_tokens(encode("a, b!", seq_len=2), from_end=True) == ["The text has 4 tokens; the last 2 are read."]
    assert about_tokens(encode("a", seq_len=2)) == ["1 of 2 places holds padding (PAD)."]
    assert about_tokens(encode("a", seq_len=4)) == ["3 of 4 places hold padding (PAD)."]


def test_tokens_that_share_an_id_are_named_and_too_many_are_counted():
    twins = _collisions(5)
    (said,) = about_tokens(encode(" ".join(twins[0])))
    assert all(f"“{word}”" in said for word in twins[0])
    assert len(about_tokens(encode(" ".join(word for pair in twins[:3] for word in pair)))) == 3
    (said,) = about_tokens(encode(" ".join(word for pair in twins for word in pair)))
    assert said.endswith("for the same token; so do 4 more groups.")


def _collisions(number: int) -> list[tuple[str, str]]:
    """Pairs of words with one id: among more words than ids there must be some."""
    words: dict[int, str] = {}
    pairs = []
    for word in map("w{}".format, range(5000)):
        token_id = encode(word).ids[0]
        if token_id in words and len(pairs) < number:
            pairs.append((words.pop(token_id), word))
        words.setdefault(token_id, word)
    assert len(pairs) == number
    return pairs
