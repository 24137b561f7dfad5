"""Tokenizers of others: the ids that `transformers` gives, pieces of which no two are alike, and hostile files."""

import base64
import json
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from tokenizers import Regex, models, normalizers, pre_tokenizers

from tests.examples import shared_by
from tests.tfm_core.pretrained.made_tokenizers import (
    ANY_TEXT,
    BYTES,
    ENDS,
    FAMILIES,
    HARD,
    VOCAB,
    bert,
    clip,
    file_of,
    gpt2,
    llama_2,
    qwen_2,
    xlm_roberta,
)
from tfm_core.model.tokens import Tokenizer, encode
from tfm_core.pretrained import tokenizer
from tfm_core.pretrained.tokenizer import (
    PATTERNS,
    as_tokenizer,
    load,
    prefix_and_suffix,
    read,
    special_pieces,
)


@cache
def ours(family: Callable[[], tokenizers.Tokenizer]) -> Tokenizer:
    return load(file_of(family), VOCAB)


@cache
def theirs(family: Callable[[], tokenizers.Tokenizer]) -> Callable[[str], list[int]]:
    from transformers import PreTrainedTokenizerFast

    made = PreTrainedTokenizerFast(tokenizer_file=str(file_of(family)))
    return lambda text: made(text)["input_ids"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_ids_are_those_of_transformers(family, text):
    assert list(encode(text, ours(family)).ids) == theirs(family)(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_of_any_text_are_those_of_transformers(family):
    @shared_by(len(FAMILIES))
    @given(ANY_TEXT)
    def same(text: str) -> None:
        assert list(encode(text, ours(family)).ids) == theirs(family)(text)

    same()


@pytest.mark.parametrize("family", FAMILIES)
def test_no_two_ids_are_written_alike(family):
    pieces, merges = ours(family).pieces, read(file_of(family))
    assert len(set(pieces)) == len(pieces) == VOCAB
    assert all(pieces)
    assert pieces[-1] == f"<id {VOCAB - 1}>"
    assert special_pieces(merges) <= set(pieces)
    assert all(pieces[merges.token_to_id(sign)] == sign for sign in special_pieces(merges))


@pytest.mark.parametrize("family", FAMILIES)
def test_special_tokens_around_a_text_are_counted(family):
    before, after = ENDS.get(family, (0, 0))
    assert prefix_and_suffix(read(file_of(family))) == (before, after)
    pieces = ours(family).split("The sea")
    assert set(pieces[:before] + pieces[len(pieces) - after :]) <= special_pieces(read(file_of(family)))
    assert not special_pieces(read(file_of(family))) & set(pieces[before : len(pieces) - after])


@pytest.mark.parametrize("family", BYTES)
@pytest.mark.parametrize("text", [text for name, text in HARD.items() if "signs" not in name])
def test_tokens_of_bytes_give_the_text_back(family, text):
    if family is qwen_2:
        text = normalizers.NFC().normalize_str(text)
    assert ours(family).join(ours(family).split(text)) == text


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (bert, "the whale [MASK] swam on."),
        (llama_2, "The whale swam on, 你好\n  and \0 on"),
        (xlm_roberta, "The whale swam on"),
    ],
)
def test_other_tokens_give_what_the_library_decodes(family, text):
    merges = read(file_of(family))
    decoded = merges.decode(merges.encode(text).ids, skip_special_tokens=True)
    assert ours(family).join(ours(family).split(text)) == decoded == text.replace("[MASK] ", "")


def test_words_that_say_where_they_end_give_spaces():
    assert ours(clip).join(ours(clip).split("The whale  swam on.")) == "the whale swam on . "


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800 the"])
def test_half_a_surrogate_pair_is_read_as_the_sign_for_it(family, text):
    read_as = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    assert ours(family).split(text) == ours(family).split(read_as)


@pytest.mark.parametrize("family", BYTES)
def test_tokens_of_bytes_are_written_as_text(family):
    text = "The whales, and 12 seas.\n\tThey're blue: é"
    before, _ = ENDS.get(family, (0, 0))
    assert "".join(ours(family).split(text)[before:]).replace("<0xC3><0xA9>", "é").startswith(text[:-1])


@pytest.mark.parametrize("family", [bert, llama_2, xlm_roberta])
def test_other_tokens_are_written_as_in_the_file(family):
    text = "The whales, and 12 seas."
    assert ours(family).split(text) == read(file_of(family)).encode(text).tokens


def test_cut_characters_are_written_as_bytes():
    assert ours(gpt2).split("𐍈")[0].startswith("<0xF0>")
    assert ours(llama_2).split("𐍈")[1:] == ["▁", "<0xF0>", "<0x90>", "<0x8D>", "<0x88>"]


def test_a_piece_that_there_is_not_has_no_id():
    with pytest.raises(KeyError):
        ours(gpt2).id_of("no such piece")


def test_of_two_that_are_written_alike_the_later_says_its_id():
    vocab = {"Ġa": 0, "a": 1, "â": 2, "<id 9>": 3, "": 4}
    merges = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[]))
    merges.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    merges.add_tokens([" a", "<0xE2>"])
    merges.add_special_tokens(["<id 4>"])
    made = as_tokenizer(merges, 10)
    assert made.pieces == (
        *(" a", "a", "<0xE2>", "<id 9>", "<id 4><id 4>"),
        *(" a<id 5>", "<0xE2><id 6>", "<id 4>", "<id 8>", "<id 9><id 9>"),
    )
    assert made.join([" a<id 5>", "a", "<id 4>", "<id 8>"]) == " aa"


def test_dropout_is_switched_off():
    merges = tokenizers.Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "ab": 2}, merges=[("a", "b")], dropout=0.9))
    assert [as_tokenizer(merges, 3).split("ab") for _ in range(20)] == [["ab"]] * 20


# regular expressions

RUNS = [" ", "a", "A", "1", "\n", "\r\n", " \n", "!", "\u0301", "é", "你", "'s", "aA", "a1 ", "?!\n"]
LONG = 20_000  # characters: what reads them in quadratic time takes seconds, and hours of text that was made for it


def seconds(pattern: str, text: str) -> float:
    merges = tokenizers.Tokenizer(models.BPE())
    merges.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    begin = time.process_time()
    merges.encode(text)
    return time.process_time() - begin


@pytest.mark.parametrize("pattern", sorted(PATTERNS))
def test_known_regular_expressions_read_any_text_in_linear_time(pattern):
    assert max(seconds(pattern, run * (LONG // len(run)) + end) for run in RUNS for end in ("", "a", "!")) < 0.5


def test_an_expression_in_quadratic_time_would_be_noticed():
    assert seconds(r"\s+$", " " * LONG + "a") > 0.5


def test_a_panic_of_the_library_is_told(tmp_path):
    path = written(tmp_path, pre_tokenizer=split("(a+)+$"))
    with pytest.raises(
        ValueError, match=r"tokenizer\.json: expected a tokenizer that reads any text; got .*retry-limit"
    ):
        load(path, 10, trusted=True).split("a" * 40 + "b")


# hostile files


def written(folder: Path, **changed: Any) -> Path:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    path = folder / "tokenizer.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model} | changed), encoding="utf-8")
    return path


def split(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def added(content: object, number: object = 3) -> dict[str, Any]:
    rest = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized", "special"], False)
    return {"id": number, "content": content, **rest}


def bpe(vocab: object, merges: object = (), **rest: Any) -> dict[str, Any]:
    return {"model": {"type": "BPE", "vocab": vocab, "merges": merges, **rest}}


def replace(before: object, after: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": before, "content": after}


def steps(*normalizers_: dict[str, Any]) -> dict[str, Any]:
    return {"normalizer": {"type": "Sequence", "normalizers": list(normalizers_)}}


def table(content: bytes) -> dict[str, Any]:
    return {"normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(content).decode()}}


def template(*single: dict[str, Any], ids: tuple[int, ...] = (0,)) -> dict[str, Any]:
    pair = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}]
    signs = {"x": {"id": "x", "ids": ids, "tokens": ["a"] * len(ids)}}
    return {
        "post_processor": {
            "type": "TemplateProcessing",
            "single": list(single),
            "pair": pair,
            "special_tokens": signs,
        }
    }


TEXT, SIGN = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "x", "type_id": 0}}
DEEP: dict[str, Any] = {"type": "Sequence", "normalizers": []}
for _ in range(200):
    DEEP = {"type": "Sequence", "normalizers": [DEEP]}

HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "regular expression": ({"pre_tokenizer": split("(a+)+$")}, "Regex: expected a regular expression that a known"),
    "its own in a normalizer": (steps(replace({"Regex": "(a|a)*c"}, "")), "Regex: expected a regular expression"),
    "its own in a decoder": ({"decoder": replace({"Regex": "(a|a)*c"}, "")}, "Regex: expected a regular expression"),
    "no model": ({"model": None}, "expected an object with a model"),
    "model of another type": ({"model": {"type": "Markov", "vocab": {}}}, "expected a tokenizer of the tokenizers"),
    "vocabulary of another type": (bpe("abc"), "expected a vocabulary; got 'abc'"),
    "vocabulary of numbers": (bpe([[1, 2]]), "expected a vocabulary; got"),
    "id of another type": (bpe({"a": "0"}), "expected a tokenizer of the tokenizers library"),
    "id that is no whole number": (bpe({"a": 0.5}), "expected a tokenizer of the tokenizers library"),
    "negative id": (bpe({"a": 0, "b": -1}), "expected a tokenizer of the tokenizers library; got .*-1"),
    "id beyond the model": (bpe({"a": 0, "b": 10}), "expected ids below 10, as the model has them; got 10"),
    "id beyond 31 bits": (bpe({"a": 0, "b": 2**32 - 1}), "expected ids below 10.*; got 4294967295"),
    "id beyond 32 bits": (bpe({"a": 0, "b": 2**40}), "expected a tokenizer of the tokenizers library"),
    "doubled id": (bpe({"a": 0, "b": 0}), "expected one token of each id; got several of id 0"),
    "merge without its token": (bpe({"a": 0, "b": 1}, [["a", "b"]]), "expected a tokenizer of the tokenizers"),
    "merge of unknown tokens": (bpe({"a": 0}, [["x", "y"]]), "expected a tokenizer of the tokenizers"),
    "merge of another type": (bpe({"a": 0}, [3]), "expected a tokenizer of the tokenizers"),
    "prefix that is too long": (
        bpe({"a": 0, "b": 1, "ab": 2}, [["a", "b"]], continuing_subword_prefix="#" * 9),
        "expected a tokenizer of the tokenizers library",
    ),
    "long token": (bpe({"a": 0, "b" * 5000: 1}), "expected tokens of at most 1,000 characters; got 5,000"),
    "long token with a score": (
        {"model": {"type": "Unigram", "vocab": [["a" * 101, -1.0]], "unk_id": 0}},
        "expected tokens of at most 100 characters; got 101",
    ),
    "long words": (
        {"model": {"type": "WordPiece", "vocab": {"a": 0}, "unk_token": "a", "max_input_chars_per_word": 10**9}},
        "expected max_input_chars_per_word of at most 200; got 1000000000",
    ),
    "Unigram without unknown": (
        {"model": {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 5}},
        "expected a tokenizer of the tokenizers library",
    ),
    "added tokens of another type": ({"added_tokens": {"a": 1}}, "expected a list of added tokens; got"),
    "added token of another type": ({"added_tokens": [added(5)]}, "expected a list of added tokens; got"),
    "added token with another id": ({"added_tokens": [added("<x>", 7)]}, "expected id 3 of '<x>'; got 7"),
    "added token without an id": ({"added_tokens": [added("<x>", None)]}, "expected a tokenizer of the tokenizers"),
    "long added token": ({"added_tokens": [added("x" * 10**6)]}, "expected added tokens of at most 1,000 characters"),
    "much in added tokens": (
        {"added_tokens": [added("x" * 1000, at) for at in range(3, 1200)]},
        "expected at most 1,000,000 characters of added tokens; got 1,197,000",
    ),
    "many added tokens": (
        {"added_tokens": [added("x", 3)] * 30_000},
        "expected at most 20,000 added tokens; got 30,000",
    ),
    "table in no base64": (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "é"}},
        "expected precompiled_charsmap in base64",
    ),
    "table without a tree": (table(b""), "expected a tokenizer of the tokenizers library"),
    "table with a short tree": (table(b"\xff\xff\xff\x7fabc"), "expected a tokenizer of the tokenizers library"),
    "table that makes much of a character": (
        table(b"\0\4\0\0" + bytes(1024) + b"a" * 5000 + b"\0"),
        "expected a precompiled_charsmap with texts of at most 64 bytes; got 5,000",
    ),
    "two letters of each": (
        steps(*[replace({"String": "a"}, "aa")] * 40),
        "expected a text no longer than 'a', which it replaces; got 'aa'",
    ),
    "letters of nothing": (steps(replace({"String": ""}, "a")), "expected a text no longer than '', which it"),
    "letters of a space": (steps(replace({"Regex": r"\s+"}, "aa")), "expected a text no longer than 'x'"),
    "bytes of bytes": (steps(*[{"type": "ByteLevel"}] * 30), "expected ByteLevel at most once; got it 30 times"),
    "characters of characters": (steps({"type": "NFKC"}, {"type": "NFKD"}), "expected NFKC or NFKD at most once"),
    "many steps": (
        steps(*[{"type": "Strip", "strip_left": True, "strip_right": True}] * 10**4),
        "expected at most 2,0",
    ),
    "long text in a step": (
        {"decoder": {"type": "WordPiece", "prefix": "#" * 2000, "cleanup": True}},
        "prefix: expected at most 1,000 characters; got 2,000",
    ),
    "deep steps": ({"normalizer": DEEP}, "expected a tokenizer of the tokenizers library; got .*recursion"),
    "template without a text": (template(SIGN), "expected a template with one place for the text; got 0"),
    "template with two texts": (template(TEXT, SIGN, TEXT), "expected a template with one place for the text; got 2"),
    "template with another text": (
        template({"Sequence": {"id": "B", "type_id": 0}}),
        "expected a template of one text and special tokens",
    ),
    "template with an unknown sign": (
        template(TEXT, {"SpecialToken": {"id": "y", "type_id": 0}}),
        "expected a template of one text and special tokens",
    ),
    "template that is long": (template(*[SIGN] * 20, TEXT), "expected at most 16 special tokens around a text; got 20"),
    "template beyond the model": (template(SIGN, TEXT, ids=(99,)), "expected ids below 10.*; got 99"),
}


@pytest.mark.parametrize(("changed", "sentence"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(tmp_path, changed, sentence):
    with pytest.raises(ValueError, match=sentence) as told:
        load(written(tmp_path, **changed), 10)
    assert str(told.value).startswith(("tokenizer.json: ", "tokenizer: "))
    assert len(str(told.value)) < 300


@pytest.mark.parametrize("content", [b"\0\4\0\0" + bytes([byte]) * 1024 + b"abc\0" for byte in (1, 77, 255)])
def test_a_table_of_garbage_reads_a_text_or_is_refused(tmp_path, content):
    with suppress(ValueError):  # a panic is none
        load(written(tmp_path, **table(content)), 10).split("ab é ﷺ \0")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "expected JSON"),
        (b"\xff\xfe\0garbage", "expected JSON"),
        (b"PK\3\4", "expected JSON"),
        (b"[1, 2]", r"expected an object with a model; got '\[1, 2\]'"),
        (b"null", "expected an object with a model"),
        (b'{"model": {"vocab": {}', "expected JSON"),
        (b"[" * 100_000, "expected JSON"),
        (b'{"a":' * 100_000, "expected JSON"),
        (
            b'{"model": {"type": "BPE", "vocab": {"\\ud800": 0}, "merges": []}}',
            "expected a tokenizer of the tokenizers",
        ),
        (
            b'{"model": {"type": "Unigram", "vocab": [["a", NaN]], "unk_id": 0}}',
            "expected a tokenizer of the tokenizers",
        ),
        (b"[[],[]]" + b",[]" * 2_000_000, "expected at most 3,000,000 values; got 4,000,004"),
    ],
)
def test_what_is_no_tokenizer_is_refused(tmp_path, content, sentence):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"^tokenizer.json: {sentence}"):
        load(path, 10)


def test_a_large_file_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "tokenizer.json"
    with path.open("wb") as file:
        file.truncate(tokenizer.LARGEST_FILE + 1)
    monkeypatch.setattr(Path, "open", None)
    with pytest.raises(ValueError, match=r"tokenizer\.json: expected at most 50,000,000 bytes; got 50,000,001"):
        load(path, 10)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"tokenizer\.json: expected a file; got .*No such file"):
        load(tmp_path / "tokenizer.json", 10)


def test_gaps_between_ids_are_ids_without_a_token(tmp_path):
    assert load(written(tmp_path, **bpe({"a": 1, "b": 3})), 5).pieces == ("<id 0>", "a", "<id 2>", "b", "<id 4>")


def test_of_two_entries_by_one_name_the_library_gets_the_one_that_was_checked(tmp_path):
    path = written(tmp_path)
    first = json.dumps({"pre_tokenizer": split("(a+)+$")})[:-1]
    path.write_text(f'{first}, "pre_tokenizer": null, {path.read_text()[1:]}')
    assert read(path).pre_tokenizer is None
