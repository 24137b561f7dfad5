"""The view "kept": beside passes of a model that nothing of the app has built, and transformers' own cache."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from torch.utils.flop_counter import FlopCounterMode

from tests.examples import shared_by
from tests.tfm_ui.lenses.generate.decodings import report_of
from tests.tfm_ui.store.empty import empty_store
from tfm_core import Transformer, generate, to_gpt2
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.kept import measured, same
from tfm_ui.lenses.generate.kept.canvas import content
from tfm_ui.lenses.generate.kept.costs import costs
from tfm_ui.lenses.generate.kept.numbers import kept
from tfm_ui.lenses.generate.kept.panels import blocks
from tfm_ui.lenses.generate.kept.questions import QUESTIONS, what_is_saved
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.model_state import ModelState

LAB = ModelState(weights="lab-gpt", text="The captain looked at the sea, and")
LONG = ModelState(weights="lab-gpt", text="the sea and the ship " * 45)
RANDOM = ModelState(architecture="decoder", tokenizer="byte", text="to be", positional="rope", num_layers=3)
SHORT = GenerateState(view="kept", steps=12, layer=2)
every = pytest.mark.parametrize("model", [LAB, RANDOM])


@pytest.fixture
def empty():
    with empty_store(measured):
        yield


@every
def test_what_is_drawn_is_what_one_pass_of_the_layer_projects(model):
    shown = kept(model, SHORT)
    header, numbers = content(shown)
    rows, width = header["parts"][0]["rows"], model.config.d_model
    keys, values = numbers.reshape(2, rows, width)
    fresh = Transformer(model.config).eval()
    recorded = {}
    attention = fresh.stack.layers[1].self_attention
    attention.value_projection.register_forward_hook(lambda module, inputs, output: recorded.update(values=output))
    attention.key_projection.register_forward_hook(lambda module, inputs, output: recorded.update(keys=output))
    with torch.no_grad():
        fresh(torch.tensor([shown.course.tokens[:rows]]))
    assert_allclose(values, recorded["values"][0].detach(), atol=1e-4)
    if model.positional != "rope":  # which turns keys before they are stored
        assert_allclose(keys, recorded["keys"][0].detach(), atol=1e-4)
    assert_allclose([scale["high"] for scale in header["scales"]], [np.abs(keys).max(), np.abs(values).max()])


def test_rows_and_bytes_are_those_of_transformers_cache():
    shown = kept(LAB, SHORT)
    gpt2, cache = to_gpt2(Transformer(LAB.config).eval()), None
    tokens, prompt = shown.course.tokens, len(shown.course.prompt)
    for number, (length, size) in enumerate(zip(shown.lengths, shown.measured, strict=True)):
        fresh = tokens[:prompt] if cache is None else tokens[prompt + number - 1 : prompt + number]
        with torch.no_grad():
            cache = gpt2(torch.tensor([fresh]), past_key_values=cache, use_cache=True).past_key_values
        assert cache.get_seq_length() == length
        assert sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers) == size
    theirs = cache.layers[1].keys[0].transpose(0, 1).flatten(1)
    assert_allclose(shown.matrices(0)[0], theirs, atol=1e-4)


@every
def test_each_step_adds_a_row_and_earlier_rows_stay(model):
    header, _ = content(kept(model, SHORT))
    rows = [step["rows"] for step in header["steps"]]
    assert rows == list(range(header["prompt"], header["prompt"] + 12))
    before, after = (kept(model, GenerateState(view="kept", steps=steps)).matrices(0)[0] for steps in (5, 12))
    assert_allclose(before, after[: len(before)], atol=1e-5)


@shared_by(5)  # each writes two to four courses, of which the longer ones fill the context
@given(st.lists(st.tuples(st.integers(1, 120), st.integers(0, 2), st.booleans()), min_size=2, max_size=4))
def test_whatever_was_written_before_all_that_is_drawn_is_stored(courses_before):
    for steps, seed, puts in courses_before:  # each goes on from the one before, as far as the texts agree
        state = GenerateState(view="kept", steps=steps, seed=seed, forced="60.9" if puts else "")
        shown = kept(LONG, state)
        assert shown.measured == shown.by_formula
        assert all(
            len(keys) == len(values) == shown.rows(begin)
            for begin in shown.begins
            for keys, values in [shown.matrices(begin)]
        )
        assert all(shown.laws().values())


@pytest.mark.parametrize(("full", "ends"), [("window", 90), ("stop", None)])
def test_a_full_context_begins_anew_or_ends_and_it_is_said(full, ends):
    shown = kept(LONG, GenerateState(view="kept", steps=90, full=full))
    context = LONG.most_tokens
    if full == "window":
        first = next(step for step in shown.steps if step.begin)
        assert len(shown.course.prompt) + first.number == context + 1
        assert f"At step {first.number + 1} the context of 256 tokens was full" in shown.context_said()
        assert shown.begins == sorted({step.begin for step in shown.steps})
        assert shown.lengths[first.number] == len(shown.course.prompt) + first.number - first.begin < context
    else:
        assert len(shown.course.prompt) + len(shown.steps) == context + 1
        assert f"After step {len(shown.steps)} the context of 256 tokens was full" in shown.context_said()
        assert max(shown.lengths) == context
    assert ends is None or len(shown.steps) == ends
    assert all(shown.laws().values())
    assert "not full" in kept(LAB, SHORT).sentence()


@every
def test_without_the_cache_the_same_tokens_come_from_the_same_logits(model):
    shown = same.same(model, SHORT)
    asked = courses.settings_of(model, SHORT)
    written = generate(
        Transformer(model.config).eval(),
        courses.prompt_of(model),
        asked.sampling,
        steps=12,
        use_cache=False,
        context=model.most_tokens,
    )
    assert [step.token for step in shown.whole] == [step.token for step in written]
    assert [step.number for step in shown.whole] == list(range(12))
    assert all(shown.laws().values())
    assert shown.same == 12
    assert 0 <= shown.largest < shown.bound
    prompt = len(shown.course.prompt)
    assert f"{sum(range(prompt, prompt + 12)):,}." in shown.sentence()


def test_of_a_long_text_some_steps_are_compared_first_and_last_among_them(monkeypatch):
    monkeypatch.setattr(same, "BUDGET", 1e9)
    shown = same.Same(RANDOM, courses.settings_of(RANDOM, GenerateState(steps=200, seed=5)))
    numbers = [step.number for step in shown.whole]
    assert 2 <= len(numbers) < 200
    assert (numbers[0], numbers[-1]) == (0, 199)
    assert f"{len(numbers)} of 200 steps" in shown.sentence()


def test_what_was_measured_is_kept_found_by_its_name_and_told(empty):
    assert "Nothing of this shape is measured" in costs(RANDOM, SHORT).sentence()
    report = report_of(RANDOM, (0.001, 0.004))
    measured.keep(report)
    assert measured.find(report.plan) == measured.find(report.plan, "abc123") == report
    assert costs(RANDOM, SHORT).report is None  # the link names none
    shown = costs(RANDOM, GenerateState(view="kept", run="abc123"))
    assert "1,000 tokens a second with the cache and 250 without it, 4× as fast" in shown.sentence()
    assert all(shown.laws().values())
    assert "25 Nov 2026, 20:00 UTC" in measured.facts(shown.report)
    assert shown.table()["tokens a second without"].dropna().unique() == [250]
    other = ModelState(architecture="decoder", tokenizer="byte", num_layers=4)
    assert costs(other, GenerateState(view="kept", run="abc123")).report is None


def test_a_model_that_does_not_write_is_told_so():
    for model in (ModelState(), ModelState(architecture="decoder")):
        note, offer = blocks(model, SHORT)
        assert callable(offer), "a button"
        assert isinstance(note, Note)
        assert note.text == courses.why_not_write(model)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("model", [RANDOM, LAB, ModelState()])
def test_answers_hold_of_other_models(question, model):
    state = GenerateState(**{**question.page, "steps": 12})
    assert question.answer(model, state)
    assert question.predict is None or question.predict.measured(model, state) >= 0


def test_a_token_adds_two_vectors_a_layer():
    question = QUESTIONS[0]
    model, state = ModelState(**question.model), GenerateState(**question.page)
    assert question.predict.measured(model, state) == 2 * 4 * 160 * 4
    assert question.answer(model, state).startswith("5,120 bytes: ")


def test_the_long_prompts_context_is_full_on_the_way():
    question = QUESTIONS[-1]
    answer = question.answer(ModelState(**question.model), GenerateState(**question.page))
    assert "At step" in answer


@pytest.mark.parametrize("full", ["window", "stop"])
def test_recipes_give_the_same_numbers(full):
    state = GenerateState(view="kept", steps=30, full=full)
    for panel in panels_in(blocks(RANDOM, state)):
        scope = {}
        exec(compile(panel.recipe(), panel.key, "exec"), scope)
        if panel.key == "generate_kept":
            assert_allclose(scope["keys"], panel.result.matrices(0)[0], atol=1e-5)
            assert scope["nbytes"] == panel.result.measured[-1]
        elif panel.key == "generate_kept_same":
            assert scope["with_cache"] == scope["without"]
            assert_allclose(scope["differences"], [step.difference for step in panel.result.whole], atol=1e-6)
        else:
            assert scope["nbytes"][-1] == panel.result.stored(RANDOM.most_tokens)


def test_what_is_saved_is_told_for_logits_everywhere_and_for_the_last_alone():
    """FlopCounterMode's count of a pass whose logits are computed at its last token alone."""
    model = ModelState(weights="lab-gpt", text="The sea")
    shown = costs(model, GenerateState(view="kept"))
    machine = Transformer(model.config).eval()
    tokens = torch.zeros(1, shown.context, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        machine.unembedding(machine.stack(tokens)[:, -1])
    with_cache = shown.flops(shown.context, cached=True)
    assert shown.times_of_last_logits == round(counter.get_total_flops() / with_cache, 1)
    said = what_is_saved(model, GenerateState(view="kept"))
    assert "where logits are computed at every token that is read" in said
    assert "with the logits of the last token alone they are" in said
