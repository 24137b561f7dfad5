"""Schemes and batches beside the `tokenizers` library's own padding and truncation; typed signs stay text."""

from functools import cache

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from tfm_core.language import wordpiece
from tfm_core.language.cutting import BY_BYTES, BY_CHARACTERS, BY_WORDS, Scheme, batch_of, of_library, words_in
from tfm_core.language.histories import after_merges
from tfm_core.language.lab_gpt import TOKENIZER, lab_tokenizer
from tfm_core.model.tokens import encode
from tfm_core.pretrained.offered import OFFERED, registered_model

SIGNS = ("[CLS]", "[SEP]", "[PAD]", "[MASK]", "<|start|>", "<|pad|>", "<|im_start|>", "<|endoftext|>", "##s")
PROSE = "The whale swam. The sea was cold, and the whales were old; café. They swim colder and older seas. " * 3
TYPED = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=40),
    st.lists(st.sampled_from([*SIGNS, " ", "the", "whale", "สวัสดี", "مرحبا", "👨‍👩‍👧", "e\u0301", "水"])).map("".join),
)
TEXT = st.lists(st.sampled_from(["the", "whale", "swam", "colder", "sea", "x", "é"]), max_size=9).map(" ".join)


def signs_of(text: str) -> str:
    """The signs that stand for a text's bytes in the library."""
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return "".join(word for word, _ in byte_level.pre_tokenize_str(text))


@cache
def lab_gpt() -> Scheme:
    mine = lab_tokenizer()
    merges = tokenizers.Tokenizer.from_file(str(TOKENIZER))
    return of_library(merges, name="Lab GPT", pieces=mine.pieces, join=mine.join, pad_id=0)


@cache
def small_pieces() -> Scheme:
    """WordPiece, learned from a few sentences."""
    merges = wordpiece.train([PROSE], 80)
    mine = wordpiece.as_tokenizer(merges)
    return of_library(merges, name="WordPiece", pieces=mine.pieces, join=mine.join, pad_id=0)


def of_model(name: str) -> Scheme:
    model = registered_model(name)
    pad = model.config.pad_id
    return of_library(model.merges, name=name, pieces=model.tokenizer.pieces, join=model.tokenizer.join, pad_id=pad)


@cache
def schemes() -> list[Scheme]:
    there = [of_model(name) for name, model in OFFERED.items() if model.is_there]
    return [BY_WORDS, BY_CHARACTERS, BY_BYTES, lab_gpt(), small_pieces(), *there]


@given(TYPED)
@example("[CLS] <|start|> <|im_start|>")
@example("".join(SIGNS))
def test_what_is_typed_is_never_a_special_token(text: str) -> None:
    """But for the unknown token, which stands for what the vocabulary lacks."""
    for scheme in schemes():
        cut = scheme.cut(text)
        special = {number for number, name in scheme.special.items() if name != "[UNK]"}
        assert not special & set(cut.ids), scheme.name
        assert len(cut.pieces) == len(cut.ids) == len(cut.spans)
        assert all(0 <= begin <= end <= len(text) for begin, end in cut.spans)


@given(TYPED.map(lambda text: text.encode("utf-8", "replace").decode()))
@example("[CLS] <|start|> 👨‍👩‍👧 e\u0301 สวัสดี مرحبا")
def test_schemes_that_lose_nothing_give_the_text_back(text: str) -> None:
    for scheme in schemes():
        if scheme.name in ("words", "WordPiece", "minilm"):
            continue
        if scheme.name == "smollm2" and any(byte not in scheme.model["vocab"] for byte in signs_of(text)):
            continue  # it has no token for some bytes
        assert scheme.join(scheme.cut(text).pieces) == text, scheme.name


@given(TYPED.map(lambda text: text.encode("utf-8", "replace").decode()))
def test_ids_are_those_that_our_models_read(text: str) -> None:
    for scheme, kind in ((BY_WORDS, "word"), (BY_CHARACTERS, "character"), (BY_BYTES, "byte")):
        assert scheme.cut(text).ids == encode(text, kind).ids
    assert lab_gpt().cut(text).ids == encode(text, lab_tokenizer()).ids


@given(TYPED)
@example("revolutionized whales 👨‍👩‍👧")
def test_a_history_ends_in_the_tokens_that_the_library_gives(text: str) -> None:
    for scheme in schemes():
        cut = scheme.cut(text)
        for at in range(len(cut.ids)):
            history = scheme.history(text, at)
            if history is None:
                assert scheme.merges is None
                continue
            token = scheme.merges.id_to_token(cut.ids[at])
            assert history.parts[history.at] == token
            if scheme.ranks:
                assert tuple(after_merges(history.signs, history.merges)) == history.parts
                start, end = history.span
                assert "".join(history.signs[start:end]) == token


@given(st.lists(TEXT, min_size=1, max_size=3), st.integers(3, 14))
def test_a_batch_is_the_librarys(texts: list[str], most: int) -> None:
    for scheme in (lab_gpt(), small_pieces()):
        theirs = tokenizers.Tokenizer.from_str(scheme.merges.to_str())
        theirs.enable_padding(pad_id=scheme.pad_id, pad_token=scheme.pad)
        theirs.enable_truncation(most)
        ours = batch_of(scheme, [(text,) for text in texts], most)
        for row, row_of_theirs, text in zip(ours, theirs.encode_batch(texts), texts, strict=True):
            assert list(row.ids) == row_of_theirs.ids
            assert list(row.mask) == row_of_theirs.attention_mask
            assert list(row.types) == row_of_theirs.type_ids
            assert sum(row.special) == sum(row_of_theirs.special_tokens_mask)
            kept = tuple(piece for piece, special in zip(row.pieces, row.special, strict=True) if not special)
            assert kept + row.cut[0] == scheme.cut(text).pieces


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=2), st.integers(4, 20))
def test_pairs_in_a_row_are_the_librarys(pairs: list[tuple[str, str]], most: int) -> None:
    scheme = small_pieces()
    theirs = tokenizers.Tokenizer.from_str(scheme.merges.to_str())
    theirs.enable_padding(pad_id=scheme.pad_id, pad_token=scheme.pad)
    theirs.enable_truncation(most, strategy="longest_first")
    for row, row_of_theirs in zip(batch_of(scheme, pairs, most), theirs.encode_batch(pairs), strict=True):
        assert list(row.ids) == row_of_theirs.ids
        assert list(row.mask) == row_of_theirs.attention_mask
        assert list(row.types) == row_of_theirs.type_ids


def test_a_batch_of_words_is_padded_and_cut() -> None:
    long, short = batch_of(BY_WORDS, [("a b c d",), ("a",)], 3)
    assert long.cut == (("d",),)
    assert short.pieces == ("a", "PAD", "PAD")
    assert short.mask == (1, 0, 0)
    assert long.ids[0] == short.ids[0]


def test_left_at_its_defaults_the_library_takes_typed_names_for_special_tokens() -> None:
    """The trap which these schemes avoid."""
    for scheme, name in ((lab_gpt(), "<|start|>"), (small_pieces(), "[CLS]")):
        (number,) = scheme.by_default(name)
        assert scheme.special[number] == name
        assert len(scheme.cut(name).ids) > 1
    assert BY_WORDS.by_default("[CLS]") == ()


def test_what_makes_no_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="expected more than 2 special tokens, got 2"):
        batch_of(small_pieces(), [("a",)], 2)
    with pytest.raises(ValueError, match="expected 1 text, got 2"):
        batch_of(BY_WORDS, [("a", "b")], 9)
    with pytest.raises(ValueError, match="expected 1 text or 2, got 3"):
        batch_of(small_pieces(), [("a", "b", "c")], 9)


def test_a_template_of_bert_is_read_in_both_forms() -> None:
    """Older files name the class "BertProcessing"; both give one row."""
    merges = wordpiece.train([PROSE], 80)
    mine = wordpiece.as_tokenizer(merges)
    merges.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    older = of_library(merges, name="older", pieces=mine.pieces, join=mine.join, pad_id=0)
    assert (older.single, older.pair) == (small_pieces().single, small_pieces().pair)
    assert older.has_types
    assert not lab_gpt().has_types


def test_words_are_counted_where_scripts_write_spaces() -> None:
    assert words_in("It’s a whale, isn’t it? 3 whales!") == 7
    assert words_in("الطفل يشرب الماء.") == 3
    assert words_in("水很冷。") == words_in("น้ำเย็น") == 0
