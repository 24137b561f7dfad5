"""One head number by number, in a notebook: its matrices beside a plain recording, and who follows whom."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import attention_lab
from tests.attention_lab.test_pictures import ROOT, decoded
from tfm_core import Transformer, TransformerConfig, causal_mask, encode, lab_prompt, recording
from tfm_core.language.lab_gpt import LAB_GPT
from tfm_core.training.config import of_task
from tfm_ui.pictures.steps import STEPS

CONFIG = TransformerConfig(vocab_size=4096, d_model=16, num_heads=2, num_layers=2)
TEXT = "the cat sat on the mat"


def recorded(model: Transformer, *inputs, mask=None) -> dict[str, torch.Tensor]:
    with torch.no_grad(), recording() as trace:
        model(*inputs, mask=mask)
    return dict(trace)


@pytest.fixture
def picture():
    return attention_lab.steps(Transformer(CONFIG).eval(), TEXT, layer=1, head=1, query=2, key=4)


def shown(picture, name: str) -> np.ndarray:
    """A matrix as the browser gets it."""
    header, numbers = decoded(picture.first)
    about = header["matrices"][name]
    cells = np.frombuffer(numbers, np.float32)[about["begin"] :][: about["rows"] * about["columns"]]
    return cells.reshape(about["rows"], about["columns"])


@pytest.mark.crossed(
    positional=["sinusoidal", "rope", "t5"],
    norm=["pre", "post"],
    architecture=["encoder", "decoder"],
    mask=[True, False],
)
def test_matrices_are_those_of_a_recording(positional, norm, architecture, mask):
    config = replace(CONFIG, positional=positional, norm=norm, architecture=architecture)
    model, tokens = Transformer(config).eval(), encode(TEXT)
    given = causal_mask(6) if mask else None
    trace = recorded(model, tokens.batch, mask=given)
    picture = attention_lab.steps(model, tokens, mask=given, layer=1, head=1)
    at = "layers.1.self_attention."
    for name in ("query", "key"):
        expected = trace.get(f"{at}rotated_{name}", trace[at + name])[0, 1]
        assert torch.allclose(torch.from_numpy(picture.matrix_of(name)), expected, atol=1e-6)
    for name, site in {"weights": "weights", "head output": "head_output", "value": "value"}.items():
        assert torch.allclose(torch.from_numpy(picture.matrix_of(name)), trace[at + site][0, 1], atol=1e-6)
    assert torch.allclose(torch.from_numpy(picture.matrix_of("output")), trace[f"{at}output"][0], atol=1e-6)
    visible = trace[f"{at}mask"].expand(1, 1, 6, 6)[0, 0].numpy()
    assert np.allclose(shown(picture, "weights")[visible], picture.matrix[visible])
    assert (shown(picture, "weights")[~visible] == -np.inf).all()


def test_a_head_is_scaled_dot_product_attention(picture):
    q, k, v = (torch.from_numpy(picture.matrix_of(name))[None, None] for name in ("query", "key", "value"))
    expected = F.scaled_dot_product_attention(q, k, v)[0, 0]
    assert torch.allclose(torch.from_numpy(picture.matrix_of("head output")), expected, atol=1e-6)
    assert torch.allclose(torch.from_numpy(picture.matrix_of("scores")), (q @ k.mT)[0, 0], atol=1e-5)
    picture.temperature = 2.0
    picture.scaled = False
    assert torch.allclose(torch.from_numpy(picture.matrix), (q @ k.mT / 2).softmax(-1)[0, 0], atol=1e-6)
    assert "The switches change this attention alone" in picture.parts[0]["sentence"]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_each_attention_of_an_encoder_decoder(kind):
    model = Transformer(replace(CONFIG, architecture="encoder-decoder")).eval()
    texts = encode("to be or not"), encode("be or")
    trace = recorded(model, *(text.batch for text in texts))
    picture = attention_lab.steps(model, texts, kind=kind)
    attends = "cross" if kind == "cross" else "self"
    site = f"{'encoder' if kind == 'encoder' else 'decoder'}.layers.0.{attends}_attention.weights"
    assert torch.allclose(torch.from_numpy(picture.matrix), trace[site][0, 0], atol=1e-6)
    assert picture.parts[0]["title"] == f"Layer 1, head 1 ({kind})"


def test_what_the_reader_does_arrives_in_python_and_what_python_sets_is_drawn(picture):
    assert picture.parts[0]["sets"]["query"] == ("query", 1)  # the script counts from 1
    before = picture.first
    picture.set_state({"query": 3, "key": 0, "step": "scores"})  # a click
    assert (picture.query, picture.key, picture.step) == (3, 0, "scores")
    assert picture.first != before
    header, _ = decoded(picture.first)
    assert header["title"] == "Score of “on” and “the”"
    picture.set_state({"whole": False, "temperature": 0.5, "head": 0})
    assert (picture.whole, picture.temperature, picture.head) == (False, 0.5, 0)
    assert list(decoded(picture.first)[0]["matrices"]) == ["query", "key transposed", "scores"]
    picture.key, picture.layer = 5, 0
    assert picture.parts[0]["title"] == "Layer 1, head 1"
    assert "“mat”" in decoded(picture.first)[0]["title"]


def test_each_step_is_told_and_becomes_a_page_of_its_own(picture):
    for number, step in enumerate(STEPS, 1):
        picture.step = step
        assert picture.parts[0]["shape"] == f"step {number} of 12: {step}"
        assert json.dumps(f"step {number} of 12: {step}") in picture.to_html()
    assert picture.png().startswith(b"\x89PNG")


@pytest.mark.parametrize("ids", [[5, 6, 7, 0], [[5, 6, 7, 0]], torch.tensor([5, 6, 7, 0]), np.array([[5, 6, 7, 0]])])
def test_ids_are_read_with_their_padding(ids):
    picture = attention_lab.steps(Transformer(CONFIG).eval(), ids)
    assert picture._steps.queries == ["5", "6", "7", "PAD"]
    assert (picture.matrix[:, 3] == 0).all()


def test_a_text_is_cut_as_the_weights_want_it():
    lab = attention_lab.steps(Transformer(LAB_GPT), "It is a truth universally")
    assert lab._steps.queries[1:3] == ["·is", "·a"]
    assert len(lab._steps.queries) == len(lab_prompt("It is a truth universally").ids)
    trained = Transformer(replace(of_task("reverse").transformer, weights=of_task("reverse").name))
    picture = attention_lab.steps(trained, "3 1 4 1 5 9 2 6 5 3")
    assert np.fliplr(picture.matrix).diagonal().mean() > 0.9  # the last digit is looked at first
    by_byte = attention_lab.steps(Transformer(replace(CONFIG, vocab_size=260)).eval(), "cat", tokenizer="byte")
    assert by_byte._steps.queries == ["c", "a", "t"]


def test_dropout_is_off_and_the_model_stays_as_it_is():
    model = Transformer(replace(CONFIG, dropout=0.5)).train()
    picture = attention_lab.steps(model, TEXT)
    assert model.training
    model.eval()
    trace = recorded(model, encode(TEXT).batch)
    assert torch.allclose(torch.from_numpy(picture.matrix), trace["layers.0.self_attention.weights"][0, 0], atol=1e-6)
    half = attention_lab.steps(model.bfloat16(), TEXT)
    assert half.matrix.dtype == np.float32
    assert next(model.parameters()).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tokens": torch.zeros(2, 3, dtype=torch.int64)}, r"shape \(seq,\) or \(1, seq\), got \(2, 3\)"),
        ({"tokens": torch.zeros(3)}, "expected whole numbers of shape"),
        ({"tokens": object()}, r"expected Tokens, ids \(seq,\) or \(1, seq\), or a text; got object"),
        ({"tokens": ""}, "expected one at least, got none"),
        ({"tokens": [5000]}, "expected ids below vocab_size=4096"),
        ({"kind": "cross"}, "expected one of self of an encoder, got 'cross'"),
        ({"layer": 2}, "layer: expected a number of 0 to 1, got 2"),
        ({"head": -1}, "head: expected a number of 0 to 1, got -1"),
        ({"query": 6}, "query: expected a number of 0 to 5, got 6"),
        ({"temperature": 0.0}, "temperature: expected a number of 0.05 to 10, got 0.0"),
        ({"mask": torch.ones(2, 2, dtype=torch.bool)}, "mask"),
        ({"mask": torch.stack([causal_mask(6), ~causal_mask(6)])[None]}, "expected one that is the same in all heads"),
        ({"tokenizer": "syllable"}, "expected one of word, character, byte"),
        ({"model": torch.nn.Linear(2, 2)}, "expected a tfm_core.Transformer, got Linear"),
        ({"model": Transformer(replace(CONFIG, attention="linear"))}, "expected a kind of attention that has scores"),
        ({"model": Transformer(replace(CONFIG, architecture="encoder-decoder")), "kind": "cross"}, "source and target"),
    ],
)
def test_what_cannot_be_shown_is_refused(given, told):
    with pytest.raises(ValueError, match=told):
        attention_lab.steps(**{"model": Transformer(CONFIG).eval(), "tokens": TEXT} | given)


def test_an_unknown_matrix_is_refused(picture):
    with pytest.raises(ValueError, match="expected a matrix of input, memory"):
        picture.matrix_of("logits")


def test_nothing_of_streamlit_is_imported():
    code = """
import sys, torch, attention_lab
from tfm_core import Transformer, TransformerConfig, TrainingConfig
model = Transformer(TransformerConfig(vocab_size=4096, d_model=8, num_heads=2))
made = [attention_lab.steps(model, "a b"), attention_lab.training(TrainingConfig(task="reverse"))]
made += [attention_lab.positions(name) for name in ("learned", "rope", "alibi")]
for picture in made:
    picture.to_html()
heavy = {"streamlit", "matplotlib", "transformers", "redis"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
