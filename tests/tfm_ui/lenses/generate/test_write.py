"""The view "write": the text is the link's, each draw is what is said of it, and files hold the same text."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tfm_ui.lenses.generate.examples import LAB, RANDOM
from tfm_core import Sampling, Transformer, TransformerConfig, lab_tokenizer, recording
from tfm_ui.lenses.generate import LENS, courses
from tfm_ui.lenses.generate.state import MOST_STEPS, PREFIX, Forced, GenerateState, as_text, forced_in
from tfm_ui.lenses.generate.write.beams import Beams
from tfm_ui.lenses.generate.write.look import Look
from tfm_ui.lenses.generate.write.text import Write, in_words
from tfm_ui.live import cache
from tfm_ui.live.passes import transformer
from tfm_ui.pictures.panel import Note
from tfm_ui.state.fields import controls_of
from tfm_ui.state.links import read_link, share_link, state_of
from tfm_ui.state.model_state import ModelState

STATE = GenerateState(steps=20)


@given(st.text(max_size=30))
def test_any_text_is_read_as_tokens_that_were_put(raw):
    field = Forced("")
    value, reason = field.read(raw, "")
    assert field.read(value, "") == (value, "")
    assert as_text(forced_in(value)) == value
    assert bool(reason) == (value != " ".join(raw.replace(",", " ").split()))


def test_steps_that_do_not_exist_are_dropped_and_said():
    value, reason = Forced("").read(f"3.17 0.5 {MOST_STEPS + 1}.4 x 2.² 3.18", "")
    assert value == "3.18"
    assert "separated by spaces" in reason


def test_a_token_that_the_vocabulary_lacks_is_put_nowhere():
    assert courses.settings_of(LAB, replace(STATE, forced="2.999999")).forced == ()
    assert courses.settings_of(LAB, replace(STATE, forced="2.17 30.5")).forced == ((1, 17),)


def test_the_same_link_gives_the_same_text_and_another_seed_another():
    state = replace(STATE, temperature=1.3, seed=8, forced="4.300")
    text = Write(LAB, state).text
    link = share_link("/generate", (LAB, ""), (state, PREFIX))
    query = {key: [value] for key, value in (part.split("=") for part in link.partition("?")[2].split("&"))}
    assert query["generate_forced"] == ["4.300"]
    cache.clear()
    assert Write(LAB, state_of(GenerateState, PREFIX, query)).text == text
    assert Write(LAB, replace(state, seed=2)).text != text


def test_other_settings_compute_only_what_comes_after_the_first_other_token(monkeypatch):
    cache.clear()
    first = Write(LAB, STATE).course
    read = []
    original = Transformer.forward

    def forward(self, source, *args, **more):
        read.append(source.shape[1])
        return original(self, source, *args, **more)

    monkeypatch.setattr(Transformer, "forward", forward)
    again = Write(LAB, replace(STATE, top_p=0.999999)).course
    assert again.tokens == first.tokens
    assert read == [], "the logits are those of the first course"
    shown = Write(LAB, replace(STATE, forced="10.300")).course
    assert shown.tokens[: len(shown.prompt) + 9] == first.tokens[: len(first.prompt) + 9]
    assert all(a.logits is b.logits for a, b in zip(shown.steps[:10], first.steps[:10], strict=True))


@settings(max_examples=10, deadline=None)
@given(
    st.floats(0.1, 3),
    st.sampled_from([0, 1, 5, 50]),
    st.sampled_from([0.3, 0.9, 1.0]),
    st.sampled_from([0.0, 0.1, 0.5]),
)
def test_laws_hold_for_all_settings(temperature, top_k, top_p, min_p):
    state = replace(STATE, steps=5, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    panel = Write(RANDOM, state)
    assert all(panel.laws().values())
    assert len(panel.table()) == 5


def test_greedy_is_the_loop_that_everybody_writes():
    panel = Write(LAB, replace(STATE, method="greedy"))
    ids = list(panel.course.prompt)
    with torch.no_grad():
        for _ in range(20):
            ids.append(int(transformer(LAB.config)(torch.tensor([ids]))[0, -1].argmax()))
    assert list(panel.course.tokens) == ids
    assert in_words(panel.settings.sampling) == "always the likeliest"


def test_files_hold_all_distributions_and_what_brings_them_back():
    panel = Write(LAB, STATE)
    head, *rows = csv.reader(io.StringIO(panel.file_of("final")))
    assert len(head) == 2 + 2048
    assert len(rows) == 20
    for row, draw, step in zip(rows, panel.draws, panel.course.steps, strict=True):
        shares = np.array(row[2:], float)
        np.testing.assert_allclose(shares, draw.final.numpy(), rtol=1e-5)
        assert int(row[1]) == step.token
    text, _, about = panel.text_file().partition("\n\n---\n")
    assert text == LAB.text + panel.text
    known = json.loads(about)
    assert Sampling(**known["sampling"]) == panel.settings.sampling
    assert known["ids"] == [step.token for step in panel.course.steps]


def test_an_empty_text_begins_with_the_start_token():
    empty = replace(LAB, text="")
    assert courses.prompt_of(empty) == (1,)
    assert len(Write(empty, STATE).course.steps) == 20


def test_a_long_prompt_keeps_its_end():
    text = "The whale. " * 300 + "At last the captain"
    prompt = courses.prompt_of(replace(LAB, text=text))
    assert len(prompt) == 256
    assert lab_tokenizer().join([lab_tokenizer().pieces[token] for token in prompt]).endswith("At last the captain")


@pytest.mark.parametrize("full", ["window", "stop"])
def test_a_full_context_is_said(full):
    panel = Write(replace(LAB, text="The whale. " * 83), replace(STATE, full=full))
    length, steps = len(panel.course.prompt), len(panel.course.steps)
    assert 240 < length <= 256
    assert steps == (20 if full == "window" else 256 - length + 1)
    window, stop = f"was full at step {256 - length + 2}", "It stopped where the context of 256 tokens was full."
    assert (window if full == "window" else stop) in panel.sentence()


READS_ON = "This model is an encoder, whose tokens see those after them, too"
CANNOT = [
    (ModelState(), "This model looks back only, as a decoder does, but is set up as the architecture “encoder”"),
    (ModelState(causal=False), READS_ON),
    (ModelState(architecture="decoder"), "several words share an id"),
    (ModelState(weights="reverse"), READS_ON),
]


@pytest.mark.parametrize("view", LENS.views)
@pytest.mark.parametrize(("model", "reason"), CANNOT)
def test_a_model_that_cannot_write_says_why(model, reason, view):
    note, offer = LENS.blocks(model, GenerateState(view=view))
    assert isinstance(note, Note)
    assert note.text == (courses.why_not_score if view == "surprise" else courses.why_not_write)(model)
    assert {other for _, other in CANNOT if other in note.text} == {reason}
    assert callable(offer), "a button"


@pytest.mark.parametrize("model", [LAB, RANDOM, replace(LAB, text=""), *(model for model, _ in CANNOT)])
def test_answers_hold_of_other_models(model):
    for question in LENS.questions:
        state = GenerateState(**{**question.controls, "steps": 12})
        assert question.answer(model, state)
        if predict := question.predict:
            measured = predict.measured(model, state)
            assert measured in predict.options if predict.options else measured >= 0


def test_a_model_that_was_trained_on_a_task_writes_its_tokens():
    panel = Write(ModelState(weights="induction", text="@1"), replace(STATE, steps=3))
    assert len(panel.pieces) == 3
    assert set(panel.pieces) <= {"PAD", *ModelState(weights="induction").trained.about.vocabulary}


def test_attention_is_that_of_the_moment():
    """Each step's row is the last row of a pass over what was there then."""
    panel = Look(LAB, replace(STATE, steps=4))
    for length, row in zip(panel.lengths, panel.rows, strict=True):
        with torch.no_grad(), recording("*.weights") as trace:
            transformer(LAB.config)(torch.tensor([panel.course.tokens[:length]]))
        for layer in range(4):
            weights = trace[f"layers.{layer}.self_attention.weights"][0, :, -1]
            np.testing.assert_allclose(row[layer], weights.numpy(), atol=1e-5)
    assert all(panel.laws().values())


def test_a_beam_is_at_least_as_likely_as_the_greedy_text_here():
    panel = Beams(LAB, replace(STATE, method="beam", width=4))
    assert all(panel.laws().values())
    assert panel.search.texts[0].score >= panel.greedy_score - 1e-6
    assert Beams(LAB, replace(STATE, method="beam", width=1)).search.texts[0].score == pytest.approx(panel.greedy_score)


def test_bad_values_of_a_link_are_corrected():
    wrong = {"steps": "100000", "temperature": "-3", "top_k": "abc", "top_p": "7", "min_p": "nan", "method": "<b>"}
    query = {f"generate_{name}": [value] for name, value in (wrong | {"forced": "x"}).items()}
    corrections = {correction.name for correction in read_link(GenerateState, PREFIX, query)}
    assert corrections == set(query)
    state = state_of(GenerateState, PREFIX, query)
    assert (state.steps, state.temperature, state.top_k, state.method) == (MOST_STEPS, 0.05, 50, "sample")


def test_the_configuration_is_that_of_the_shipped_model():
    assert isinstance(LAB.config, TransformerConfig)
    assert (LAB.config.max_len, LAB.config.vocab_size, LAB.config.tie_embeddings) == (256, 2048, True)


def test_a_temperature_of_0_in_a_link_is_greedy_and_not_a_small_one():
    field, _ = controls_of(GenerateState)["temperature"]
    assert field.read("0", 0.8) == (0.0, "")
    assert field.read("0.01", 0.8) == (0.05, "it goes from 0.05 to 5")
    cold, greedy = (Write(LAB, replace(STATE, **more)) for more in ({"temperature": 0.0}, {"method": "greedy"}))
    assert cold.pieces == greedy.pieces
    assert cold.sentence() == greedy.sentence()


def test_the_least_likely_is_said_to_be_so_before_the_cuts_where_there_are_any():
    assert "at this temperature, before the cuts." in Write(LAB, STATE).sentence()
    assert "before the cuts" not in Write(LAB, replace(STATE, method="greedy")).sentence()
