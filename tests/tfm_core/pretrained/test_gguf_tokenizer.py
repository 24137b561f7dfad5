"""Tokenizers of GGUF files: each family's ids, of the tokens and merges that such a file has."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from tokenizers import normalizers

from tests.examples import shared_by
from tests.tfm_core.pretrained.made_tokenizers import (
    ANY_TEXT,
    HARD,
    VOCAB,
    gpt2,
    llama_3,
    qwen_2,
    smollm,
)
from tfm_core.model.tokens import Tokenizer, encode
from tfm_core.pretrained.gguf_tokenizer import PRE, of_gguf
from tfm_core.pretrained.tokenizer import as_tokenizer, prefix_and_suffix, special_pieces

NORMAL, CONTROL, USER_DEFINED = 1, 3, 4
FAMILIES = {"gpt-2": gpt2, "default": gpt2, "smollm": smollm, "llama-bpe": llama_3, "qwen2": qwen_2}


@cache
def original(family: Callable[[], tokenizers.Tokenizer]) -> tokenizers.Tokenizer:
    """The family's tokenizer with a token that a user has defined and, of Llama 3, with whole words first."""
    data = json.loads(family().to_str())
    data["model"]["ignore_merges"] = family is llama_3
    made = tokenizers.Tokenizer.from_str(json.dumps(data))
    made.add_tokens([tokenizers.AddedToken("<think> it", normalized=False)])
    return made


def fields_of(pre: str) -> dict[str, Any]:
    """What a GGUF file says of the family's tokenizer."""
    made = original(FAMILIES[pre])
    names = sorted(made.get_vocab(), key=made.token_to_id)
    added = made.get_added_tokens_decoder()
    kinds = [
        NORMAL if number not in added else CONTROL if added[number].special else USER_DEFINED
        for number in range(len(names))
    ]
    fields = {
        "model": "gpt2",
        "pre": pre,
        "tokens": names,
        "merges": [" ".join(pair) for pair in json.loads(made.to_str())["model"]["merges"]],
        "token_type": kinds,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "add_bos_token": FAMILIES[pre] is llama_3,
    }
    return {"general.architecture": "llama"} | {f"tokenizer.ggml.{name}": field for name, field in fields.items()}


@cache
def ours(pre: str) -> Tokenizer:
    return as_tokenizer(of_gguf(fields_of(pre)), VOCAB)


@pytest.mark.parametrize("pre", FAMILIES)
@pytest.mark.parametrize("text", [*HARD.values(), "I <think> it is<think> it"], ids=[*HARD, "user's"])
def test_ids_are_those_of_the_original(pre, text):
    assert list(encode(text, ours(pre)).ids) == original(FAMILIES[pre]).encode(text).ids


@pytest.mark.parametrize("pre", FAMILIES)
def test_ids_of_any_text_are_those_of_the_original(pre):
    @shared_by(len(FAMILIES))
    @given(ANY_TEXT)
    def same(text: str) -> None:
        assert list(encode(text, ours(pre)).ids) == original(FAMILIES[pre]).encode(text).ids

    same()


@pytest.mark.parametrize("pre", FAMILIES)
def test_texts_come_back(pre):
    for text in HARD.values():
        signs = special_pieces(of_gguf(fields_of(pre)))
        if not any(sign in text for sign in signs):
            same = normalizers.NFC().normalize_str(text) if pre == "qwen2" else text
            assert ours(pre).join(ours(pre).split(text)) == same


@pytest.mark.parametrize("pre", FAMILIES)
def test_special_tokens_are_those_that_the_file_calls_so(pre):
    made = of_gguf(fields_of(pre))
    assert special_pieces(made) == special_pieces(original(FAMILIES[pre]))
    assert "<think> it" in ours(pre).pieces


@pytest.mark.parametrize(
    ("changed", "around"),
    [
        ({}, (1, 0)),
        ({"add_bos_token": None}, (1, 0)),
        ({"add_bos_token": False}, (0, 0)),
        ({"add_eos_token": True}, (1, 1)),
        ({"add_bos_token": False, "add_eos_token": True}, (0, 1)),
    ],
)
def test_a_text_begins_and_ends_as_the_file_says(changed, around):
    fields = fields_of("llama-bpe") | {f"tokenizer.ggml.{name}": flag for name, flag in changed.items()}
    made = of_gguf({name: field for name, field in fields.items() if field is not None})
    assert prefix_and_suffix(made) == around
    sign = "<|begin_of_text|>"
    assert as_tokenizer(made, VOCAB).split("") == [sign] * sum(around)


def test_a_colon_in_the_first_token_means_nothing():
    tokens = ["a:1", "$A", "b"]
    fields = {"model": "gpt2", "tokens": tokens, "merges": [], "token_type": [3, 3, 1], "add_bos_token": True}
    fields |= {"bos_token_id": 1, "eos_token_id": 0, "add_eos_token": True}
    made = of_gguf({f"tokenizer.ggml.{name}": field for name, field in fields.items()})
    assert as_tokenizer(made, 3).split("b") == ["$A", "b", "a:1"]


def test_each_family_is_tried():
    assert {PRE[name] for name in FAMILIES} == set(PRE.values())


BESIDE = r"\(a tokenizer.json beside the file is read instead\)"


@pytest.mark.parametrize(
    ("name", "field", "sentence"),
    [
        ("model", "llama", f"expected 'gpt2'; got 'llama' {BESIDE}"),
        ("model", None, "expected 'gpt2'; got None"),
        ("model", ["gpt2"], "expected 'gpt2'; got"),
        ("pre", "jais", f"expected one of default, gpt-2, smollm, llama-bpe, .*; got 'jais' {BESIDE}"),
        ("pre", "x" * 10**6, "expected one of default, .*; got 'xxx"),
        ("pre", ["qwen2"], "expected one of default, "),
        ("tokens", None, "expected a list of texts; got None"),
        ("tokens", "abc", "expected a list of texts; got 'abc'"),
        ("tokens", [b"a"], "expected a list of texts; got"),
        ("tokens", ["a", "b", "a"], "expected each token once; got 'a' twice"),
        ("tokens", ["a", "b" * 5000], "expected tokens of at most 1,000 characters; got 5,000"),
        ("merges", None, "expected a list of texts; got None"),
        ("merges", ["ab"], "expected two tokens and a space; got 'ab'"),
        ("merges", ["a b c"], "expected two tokens and a space; got 'a b c'"),
        ("merges", ["a  b"], "expected two tokens and a space; got 'a  b'"),
        ("merges", ["xyz qrs"], "expected tokens and merges that go together; got"),
        ("merges", ["a b"] * 1_000_001, "expected at most 1,000,000; got 1,000,001"),
        ("token_type", [1], "expected a list of [0-9]+ numbers; got"),
        ("token_type", 3, "expected a list of [0-9]+ numbers; got 3"),
        ("bos_token_id", 10**9, "expected an id below [0-9]+; got 1000000000"),
        ("bos_token_id", -1, "expected an id below [0-9]+; got -1"),
        ("bos_token_id", True, "expected an id below [0-9]+; got True"),
        ("bos_token_id", None, "expected an id below [0-9]+; got None"),
        ("add_bos_token", "yes", "expected true or false; got 'yes'"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(name, field, sentence):
    with pytest.raises(ValueError, match=sentence) as told:
        of_gguf(fields_of("llama-bpe") | {f"tokenizer.ggml.{name}": field})
    assert str(told.value).startswith("GGUF: ")
    assert len(str(told.value)) < 400


def test_many_tokens_that_users_defined_are_refused():
    tokens = [f"<{number}>" for number in range(30_000)]
    fields = {"model": "gpt2", "tokens": tokens, "merges": [], "token_type": [USER_DEFINED] * len(tokens)}
    with pytest.raises(ValueError, match="GGUF: expected at most 20,000 added tokens; got 30,000"):
        of_gguf({f"tokenizer.ggml.{name}": field for name, field in fields.items()})


def test_merges_that_lead_to_no_token_are_refused():
    fields = {"model": "gpt2", "tokens": ["a", "b"], "merges": ["a b"]}
    with pytest.raises(ValueError, match="GGUF: expected tokens and merges that go together"):
        of_gguf({f"tokenizer.ggml.{name}": field for name, field in fields.items()})
