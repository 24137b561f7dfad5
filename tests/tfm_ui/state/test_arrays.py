"""Attention weights out of a file in the model's state: how they are named and kept, and what they fix."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
import torch
from safetensors.torch import save

from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_core import TransformerConfig
from tfm_core.study.attention_arrays import as_attention
from tfm_ui.live.passes import missing_weights
from tfm_ui.settings import SETTINGS
from tfm_ui.state import array_files, arrays
from tfm_ui.state.array_files import UPLOADS, weights_of
from tfm_ui.state.arrays import GONE, WEIGHTS_ALONE, known, why_not_there
from tfm_ui.state.links import link_parameters, read_link, share_link, state_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.store import StoreAway

NAMED = "the cat sat the".split()


@pytest.fixture(autouse=True)
def kept():
    array_files.forget()
    with empty_store(array_files) as opened:
        yield opened
    array_files.forget()


def test_the_state_is_that_of_the_file_whatever_the_other_fields_say():
    plain = given(softmaxed(2, 3, 4, 4), NAMED)
    other = ModelState(weights=plain.weights, text="hello", seq_len=9, num_layers=8, num_heads=16, d_model=256, seed=3,
                       architecture="encoder-decoder", positional="rope", causal=True, tokenizer="byte")  # fmt: skip
    assert plain == other
    assert (plain.num_layers, plain.num_heads, plain.length, plain.longest) == (2, 3, 4, 4)
    assert plain.source_tokens.pieces == (*NAMED,)
    assert plain.source_tokens.ids == (1, 2, 3, 1)  # equal tokens have equal numbers
    assert (plain.read_text, plain.text, plain.empty_texts) == ("the cat sat the", "the cat sat the", [])
    assert link_parameters(other, "") == {"weights": plain.weights}
    link = share_link("https://lab.example/heads", (other, ""))
    assert state_of(ModelState, "", parse_qs(urlsplit(link).query)) == plain
    assert isinstance(plain.config, TransformerConfig)
    assert (plain.gives_logits, plain.no_logits) == (False, WEIGHTS_ALONE)
    assert not plain.is_random
    assert plain.trained is plain.pretrained is None


def test_tokens_that_nobody_has_named_are_called_by_their_numbers():
    model = given(softmaxed(3, 3))
    assert model.source_tokens.pieces == ("1", "2", "3")
    assert "Nobody has named the tokens" in model.notes["text"]


@pytest.mark.parametrize("causal", [True, False])
def test_whether_queries_look_ahead_is_read_off_the_weights(causal):
    model = given(softmaxed(2, 3, 5, 5, causal=causal))
    assert (model.array.is_causal, model.causal) == (causal, causal)


def test_each_sentence_of_a_batch_has_a_name():
    weights = softmaxed(2, 3, 4, 5, 5)
    tokens = [[f"{item}{place}" for place in range(5)] for item in range(3)]
    for item in range(3):
        model = given(as_attention(weights, tokens), item=item)
        assert model.array.item == item
        assert model.array.name == model.weights
        assert model.source_tokens.pieces == (*tokens[item],)
        np.testing.assert_array_equal(weights_of(model.array).numpy(), weights[:, item])
    for item in (3, 9):
        assert missing_weights(given(weights, item=item)) == GONE


def test_the_same_file_of_a_visitor_is_kept_once(kept):
    weights = softmaxed(3, 3)
    assert given(weights).weights == given(weights).weights != given(weights, ["a", "b", "c"]).weights
    assert len(kept.keys(UPLOADS)) == 2
    assert array_files.keep(as_attention(weights), "attentions.npy", "Bob") != given(weights).weights


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_numbers_come_back_as_they_were_read_and_halves_take_half_of_the_room(dtype, kept):
    attention = as_attention(torch.from_numpy(softmaxed(2, 2, 16, 16)).to(dtype))
    model = given(attention)
    assert torch.equal(weights_of(model.array), attention.weights[:, 0])
    assert model.array.tolerance == attention.tolerance
    bytes_each = min(torch.empty(0, dtype=dtype).element_size(), 4)
    assert 0 < len(kept.get(UPLOADS, model.array.key)) - bytes_each * 1024 < 1000


def test_tokens_that_are_typed_take_the_place_of_the_files():
    name = array_files.keep(as_attention(softmaxed(3, 2, 2), ["a", "b"]), "a.npy", "Ada", ["c", "d"])
    assert known(name).named == ("c", "d")


@pytest.mark.parametrize(
    ("shape", "tokens", "sentence"),
    [
        ((3, 3), ["a", "b"], "expected 3 tokens, one for each key of the file; got 2"),
        ((2, 2), ["a", "b" * 201], "expected tokens of at most 200 characters, got one of 201"),
        ((129, 1, 2, 2), (), "expected at most 128 layers, got 129"),
        ((1, 129, 2, 2), (), "expected at most 128 heads, got 129"),
        ((1025, 1025), (), "expected at most 1,024 tokens, got 1,025"),
    ],
)
def test_what_the_lenses_cannot_show_is_refused_in_a_sentence(shape, tokens, sentence):
    with pytest.raises(ValueError, match="expected") as problem:
        array_files.keep(as_attention(softmaxed(*shape)), "a.npy", "Ada", tokens)
    assert str(problem.value) == sentence


def test_more_bytes_than_a_visitor_may_keep_are_refused_and_nothing_is_lost(monkeypatch, kept):
    first = given(softmaxed(2, 4, 4))
    monkeypatch.setattr(array_files, "UPLOADS", replace(UPLOADS, most=2000))
    with pytest.raises(ValueError, match="expected weights of at most 2,000 bytes, which this server keeps"):
        given(softmaxed(2, 4, 16, 16))
    assert known(first.weights)
    assert SETTINGS.upload_bytes_per_visitor > UPLOADS.largest > 10**6


# names that are in a link


@pytest.mark.parametrize("name", ["array-" + "0" * 32, "array-" + "f" * 32 + "-12"])
def test_a_name_that_is_gone_stays_in_the_link_and_is_told(name):
    model = ModelState(weights=name, seed=3)
    assert read_link(ModelState, "", {"weights": [name]}) == []
    assert (model.array, model.seed, missing_weights(model)) == (None, 3, GONE)


OTHERS = ["array-", f"array-{'0' * 31}", f"Array-{'0' * 32}", f"array-{'g' * 32}"]
ITEMS = [f"array-{'0' * 32}-{item}" for item in ("", "0", "1", "02", "200000", "2-2")]


@pytest.mark.parametrize("name", [*OTHERS, *ITEMS])
def test_other_names_are_none(name):
    assert not arrays.is_name(name)
    assert (known(name), why_not_there(name)) == (None, "")
    (correction,) = read_link(ModelState, "", {"weights": [name]})
    assert correction.value == "random"


def test_a_store_that_is_away_is_told_and_not_asked_again_at_once(monkeypatch):
    asked = []

    def away():
        asked.append(1)
        raise StoreAway("The store does not answer.")

    monkeypatch.setattr(array_files, "store", away)
    name = "array-" + "1" * 32
    assert (
        why_not_there(name) == "The attention weights of this link cannot be looked up now. The store does not answer."
    )
    assert ModelState(weights=name).array is None
    assert len(asked) == 1


def test_weights_that_go_while_they_are_shown_are_told(kept):
    model = given(softmaxed(3, 3))
    kept.remove(UPLOADS, model.array.key)
    with pytest.raises(ValueError, match="not on this server any more"):
        weights_of(model.array)
    array_files.forget()
    assert missing_weights(ModelState(weights=model.weights)) == GONE


BROKEN = [
    b"",
    b"rubbish",
    save({"weights": torch.ones(1, 1, 1, 2, 2)}),
    save({"weights": torch.ones(2, 2)}, {"about": "{}"}),
    save({"weights": torch.full((1, 1, 1, 1, 1), torch.nan)}, {"about": "{}"}),
    save({"weights": torch.ones(1, 1, 1, 1, 1)}, {"about": "[" * 100_000}),
    save({"weights": torch.ones(1, 1, 1, 1, 1)}, {"about": '{"tokens": [["a", "b"]]}'}),
]


@pytest.mark.parametrize("value", BROKEN)
def test_what_somebody_else_has_written_into_the_store_is_not_there(value, kept):
    name = "array-" + "2" * 32
    kept.put(UPLOADS, name, value)
    assert missing_weights(ModelState(weights=name)) == GONE
