"""How words become tokens, step by step, beside the `tokenizers` library: the pieces, and the order of merges."""

import json

import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.language.histories import after_merges, longest_match, merge_history, merges_within, pieces_of

WORDS = st.lists(st.text("abcdé", min_size=1, max_size=12), min_size=1, max_size=20)
WORD = st.text("abcdé", min_size=1, max_size=24)


def learned(words: list[str], size: int) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The vocabulary and the merges that the library learns from these words."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=size, initial_alphabet=list("abcdé"), show_progress=False)
    made.train_from_iterator([" ".join(words)], trainer)
    model = json.loads(made.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def cut_by_library(vocab: dict[str, int], merges: list[tuple[str, str]], word: str) -> list[str]:
    model = tokenizers.models.BPE(vocab=vocab, merges=merges)
    return [token.value for token in model.tokenize(word)]


@given(WORDS, WORD, st.integers(8, 60))
def test_merges_end_in_the_pieces_of_the_library_and_stand_in_its_order(words, word, size) -> None:
    """The library with the first merges alone stops where our history stands after those of their numbers."""
    vocab, merges = learned(words, size)
    history = merge_history(word, {pair: rank for rank, pair in enumerate(merges)})
    assert after_merges(word, history) == cut_by_library(vocab, merges, word)
    ranks = [merge.rank for merge in history]
    if ranks != sorted(ranks):
        return  # a piece that is made in two ways may be merged on by an older merge
    for known in range(len(merges) + 1):
        done = [merge for merge in history if merge.rank < known]
        assert after_merges(word, done) == cut_by_library(vocab, merges[:known], word)


@given(st.lists(st.sampled_from(["ab", "bc", "abc", "bcd", "cd", "aa", "aaa"]), unique=True), WORD)
def test_any_list_of_merges_ends_as_in_the_library(made, word) -> None:
    """Merges that nobody has learned, in any order: a piece may come about in several ways."""
    known = [*"abcdé"]
    merges = []
    for piece in made:
        for split in range(1, len(piece)):
            if piece[:split] in known and piece[split:] in known:
                merges.append((piece[:split], piece[split:]))
                known += [] if piece in known else [piece]
    vocab = {piece: number for number, piece in enumerate(known)}
    history = merge_history(word, {pair: rank for rank, pair in enumerate(merges)})
    assert after_merges(word, history) == cut_by_library(vocab, merges, word)


def test_of_equal_pairs_the_left_one_is_merged_first() -> None:
    assert [(merge.start, merge.end) for merge in merge_history("aaaa", {("a", "a"): 0})] == [(0, 2), (2, 4)]
    assert after_merges("aaa", merge_history("aaa", {("a", "a"): 0})) == ["aa", "a"]


def test_a_piece_has_those_merges_that_lie_within_it() -> None:
    history = merge_history("lower", {("l", "o"): 0, ("e", "r"): 1, ("lo", "w"): 2})
    assert [merge.made for merge in merges_within(history, 0, 3)] == ["lo", "low"]
    assert [merge.made for merge in merges_within(history, 3, 5)] == ["er"]
    assert merge_history("", {}) == ()
    assert after_merges("", ()) == []


@given(st.sets(st.text("abcé", min_size=1, max_size=5)), st.sets(st.text("abcé", min_size=1, max_size=4)), WORD)
def test_the_longest_match_is_the_librarys(starts, inner, word) -> None:
    vocabulary = starts | {f"##{piece}" for piece in inner}
    numbers = {piece: number for number, piece in enumerate(["[UNK]", *sorted(vocabulary)])}
    model = tokenizers.models.WordPiece(vocab=numbers, unk_token="[UNK]", max_input_chars_per_word=20)
    matches = longest_match(word, vocabulary, longest=20)
    assert pieces_of(matches) == [token.value for token in model.tokenize(word)]
    for match in matches:
        assert not set(match.tried[:-1]) & vocabulary
        lengths = [len(candidate) for candidate in match.tried]
        assert lengths == sorted(lengths, reverse=True)
