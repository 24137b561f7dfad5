"""Lab GPT in the model's state: what it fixes, which texts it reads and how, and how links name it."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import LAB_GPT, Transformer, lab_prompt, lab_tokenizer
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.never_trained import never_trained
from tfm_ui.live.passes import missing_weights, run
from tfm_ui.page.reading import how_it_is_read
from tfm_ui.state.lab_gpt import NAME
from tfm_ui.state.links import link_parameters, share_link, state_of
from tfm_ui.state.model_state import CHARS, ModelState
from tfm_ui.state.samples import read_text
from tfm_ui.text.token_labels import labels, pieces_of_ids

MODEL = ModelState(weights=NAME, text="The whale, he said.")
TEXTS = [
    "a",
    " ",
    "\n\n",
    "👩‍👩‍👧 e\u0301t\u00e9 שלום",
    "<|start|> <|pad|>",
    "half a pair: \ud83e",
    "@alice",
    "@nobody",
]


def test_the_model_is_lab_gpt_whatever_the_other_fields_say():
    other = ModelState(weights=NAME, text=MODEL.text, d_model=256, num_heads=16, num_layers=8, d_ff=1, seed=5,
                       positional="alibi", norm="post", activation="relu", architecture="encoder-decoder",
                       tokenizer="byte", causal=False)  # fmt: skip
    assert other == MODEL
    assert MODEL.config == LAB_GPT
    assert link_parameters(other, "") == {"weights": NAME, "text": MODEL.text}
    link = share_link("https://lab.example/heads", (other, ""))
    assert state_of(ModelState, "", parse_qs(urlsplit(link).query)) == MODEL
    with torch.no_grad():
        logits = Transformer(LAB_GPT).eval()(lab_prompt(MODEL.text).batch)
    assert torch.allclose(torch.from_numpy(run(MODEL).next_token), logits[0, -1].softmax(-1), atol=1e-6)


def test_it_is_neither_random_nor_trained_on_a_task():
    assert (MODEL.is_random, MODEL.is_lab_gpt, MODEL.trained) == (False, True, None)
    assert (ModelState().is_random, ModelState().is_lab_gpt) == (True, False)
    assert (ModelState(weights="copy").is_random, ModelState(weights="copy").is_lab_gpt) == (False, False)
    said = [model.if_random("a", "b", prose="c") for model in (ModelState(), ModelState(weights="copy"), MODEL)]
    assert said == ["a", "b", "c"]
    assert MODEL.if_random("a", "b") == "b"
    assert (MODEL.right_answers, MODEL.example, missing_weights(MODEL), MODEL.notes["text"]) == ((), None, "", "")


@pytest.mark.parametrize("text", TEXTS)
def test_any_text_is_read_as_it_stands(text):
    model = ModelState(weights=NAME, text=text)
    read = model.source_tokens
    whole = lab_tokenizer().split(read_text(text))
    assert list(read.pieces) == whole[-256:]
    if not read.dropped:
        assert lab_tokenizer().join(read.pieces).encode("utf-8", "surrogatepass") == model.read_text.encode(
            "utf-8", "surrogatepass"
        )
    assert model.reads(text)
    assert not model.empty_texts
    assert len(set(labels(read)[: len(read.pieces)])) == len(read.pieces)
    assert run(model).exact


@given(st.text(max_size=40))
def test_any_text_has_a_label_for_each_token_and_comes_back(text):
    tokens = ModelState(weights=NAME, text=text).source_tokens
    assert len(labels(tokens)) == len(tokens.ids)
    assert all(len(label) <= 16 for label in labels(tokens))
    if text and not text.startswith("@"):
        assert lab_tokenizer().join(tokens.pieces) == text


def test_white_space_in_a_token_can_be_seen():
    shown = labels(ModelState(weights=NAME, text="so it is,\n\tas it is").source_tokens)
    assert {"so", "·it", "·is", ",", "↵", "⇥", "·it₂", "·is₂"} <= set(shown)


def test_of_a_longer_text_the_end_is_read_and_that_is_said():
    long = ModelState(weights=NAME, text="whale " * 300 + "the end")
    count = len(lab_tokenizer().split(long.text))
    assert (long.length, long.most_tokens, long.source_tokens.pieces[-1]) == (256, 256, " end")
    assert long.source_tokens.dropped == count - 256
    assert how_it_is_read(long, "text") == f"The text has {count} tokens; the last 256 are read."
    short = replace(long, seq_len=3)
    assert short.source_tokens.pieces == long.source_tokens.pieces[-3:]
    assert replace(MODEL, seq_len=999).length == 256
    assert replace(MODEL, seq_len=12).source_tokens.padding == 12 - len(MODEL.source_tokens.pieces)
    first = ModelState(text="word " * 300)
    assert "the first 256 are read" in how_it_is_read(first, "text")


def test_an_empty_text_is_read_as_the_start_token():
    empty = ModelState(weights=NAME, text="")
    assert (empty.source_tokens.pieces, empty.source_tokens.ids) == (("<|start|>",), (1, 0))
    sentence = how_it_is_read(empty, "text")
    assert "The text is empty, so <|start|> is read" in sentence
    assert run(empty).next_token.sum() == pytest.approx(1)
    typed = ModelState(weights=NAME, text="<|start|>")
    assert 1 not in typed.source_tokens.ids
    assert "The text is empty" not in how_it_is_read(typed, "text")


def test_a_character_that_is_no_token_is_shown_in_bytes_and_that_is_said():
    fox = ModelState(weights=NAME, text="a 🦊")
    assert fox.source_tokens.pieces[-1].startswith("<0x")
    assert "is a part of a character, in bytes" in how_it_is_read(fox, "text")
    assert "in bytes" not in how_it_is_read(MODEL, "text")


def test_the_longest_text_is_read():
    long = ModelState(weights=NAME, text="🦊" * CHARS)
    assert long.length == 256


def test_all_its_tokens_are_known_words():
    known = pieces_of_ids(known_texts(MODEL))
    assert sorted(known) == list(range(2048))
    assert all(len(pieces) == 1 for pieces in known.values())


def test_a_varied_model_keeps_the_weights_and_says_what_it_was_never_trained_with():
    rope = MODEL.varied(positional="rope")
    assert rope.config == replace(LAB_GPT, positional="rope")
    assert rope.source_tokens == MODEL.source_tokens
    assert never_trained(MODEL, [rope.config]) == (
        "These weights were trained with sinusoidal positions; with rope positions they have never been trained."
    )
    untied = never_trained(MODEL, [replace(LAB_GPT, tie_embeddings=False)])
    assert untied.endswith("What they do not have is random there: unembedding.weight.")
