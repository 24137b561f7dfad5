"""The view "kept": beside passes of a model that nothing of the app has built, and transformers' own cache."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from torch.utils.flop_counter import FlopCounterMode

from tests.examples import shared_by
from tests.tfm_ui.lenses.generate.examples import LAB, RANDOM, report_of, set_up
from tests.tfm_ui.store.empty import empty_store
from tfm_core import Transformer, generate, to_gpt2
from tfm_ui.lenses.generate.courses import prompt_of
from tfm_ui.lenses.generate.kept import measured, same
from tfm_ui.lenses.generate.kept.costs import KeptCosts
from tfm_ui.lenses.generate.kept.measured import measurements
from tfm_ui.lenses.generate.kept.questions import QUESTIONS, what_is_saved
from tfm_ui.lenses.generate.kept.same import KeptSame
from tfm_ui.lenses.generate.kept.stored import Kept
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.live import measurements as in_store
from tfm_ui.state.model_state import ModelState

LONG = ModelState(weights="lab-gpt", text="the sea and the ship " * 45)
SHORT = GenerateState(view="kept", steps=12, layer=2)
every = pytest.mark.parametrize("model", [LAB, RANDOM])


@every
def test_what_is_drawn_is_what_one_pass_of_the_layer_projects(model):
    panel = Kept(model, SHORT)
    header, numbers = panel.picture()
    rows, width = header["parts"][0]["rows"], model.config.d_model
    keys, values = numbers.reshape(2, rows, width)
    fresh = Transformer(model.config).eval()
    recorded = {}
    attention = fresh.stack.layers[1].self_attention
    attention.value_projection.register_forward_hook(lambda module, inputs, output: recorded.update(values=output))
    attention.key_projection.register_forward_hook(lambda module, inputs, output: recorded.update(keys=output))
    with torch.no_grad():
        fresh(torch.tensor([panel.course.tokens[:rows]]))
    assert_allclose(values, recorded["values"][0].detach(), atol=1e-4)
    if model.positional != "rope":  # which turns keys before they are stored
        assert_allclose(keys, recorded["keys"][0].detach(), atol=1e-4)
    assert_allclose([scale["high"] for scale in header["scales"]], [np.abs(keys).max(), np.abs(values).max()])


def test_rows_and_bytes_are_those_of_transformers_cache():
    panel = Kept(LAB, SHORT)
    gpt2, cache = to_gpt2(Transformer(LAB.config).eval()), None
    tokens, prompt = panel.course.tokens, len(panel.course.prompt)
    for number, (length, size) in enumerate(zip(panel.lengths, panel.measured, strict=True)):
        fresh = tokens[:prompt] if cache is None else tokens[prompt + number - 1 : prompt + number]
        with torch.no_grad():
            cache = gpt2(torch.tensor([fresh]), past_key_values=cache, use_cache=True).past_key_values
        assert cache.get_seq_length() == length
        assert sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers) == size
    theirs = cache.layers[1].keys[0].transpose(0, 1).flatten(1)
    assert_allclose(panel.matrices(0)[0], theirs, atol=1e-4)


@every
def test_each_step_adds_a_row_and_earlier_rows_stay(model):
    header, _ = Kept(model, SHORT).picture()
    rows = [step["rows"] for step in header["steps"]]
    assert rows == list(range(header["prompt"], header["prompt"] + 12))
    before, after = (Kept(model, GenerateState(view="kept", steps=steps)).matrices(0)[0] for steps in (5, 12))
    assert_allclose(before, after[: len(before)], atol=1e-5)


@shared_by(5)  # each writes two to four courses, of which the longer ones fill the context
@given(st.lists(st.tuples(st.integers(1, 120), st.integers(0, 2), st.booleans()), min_size=2, max_size=4))
def test_whatever_was_written_before_all_that_is_drawn_is_stored(courses_before):
    for steps, seed, puts in courses_before:  # each goes on from the one before, as far as the texts agree
        state = GenerateState(view="kept", steps=steps, seed=seed, forced="60.9" if puts else "")
        panel = Kept(LONG, state)
        assert panel.measured == panel.by_formula
        assert all(
            len(keys) == len(values) == rows
            for begin, rows in panel.parts.items()
            for keys, values in [panel.matrices(begin)]
        )
        assert all(panel.laws().values())


@pytest.mark.parametrize("full", ["window", "stop"])
def test_a_full_context_begins_anew_or_ends_and_it_is_said(full):
    panel = Kept(LONG, GenerateState(view="kept", steps=90, full=full))
    context = LONG.most_tokens
    if full == "window":
        first = next(step for step in panel.course.steps if step.begin)
        assert len(panel.course.prompt) + first.number == context + 1
        assert f"At step {first.number + 1} the context of 256 tokens was full" in panel.when_full()
        assert len(panel.course.steps) == 90
        assert list(panel.parts) == sorted({step.begin for step in panel.course.steps})
        assert panel.lengths[first.number] == len(panel.course.prompt) + first.number - first.begin < context
    else:
        assert len(panel.course.prompt) + len(panel.course.steps) == context + 1
        assert f"After step {len(panel.course.steps)} the context of 256 tokens was full" in panel.when_full()
        assert max(panel.lengths) == context
    assert all(panel.laws().values())
    assert "not full" in Kept(LAB, SHORT).sentence()


@every
def test_without_the_cache_the_same_tokens_come_from_the_same_logits(model):
    panel = KeptSame(model, SHORT)
    machine, context = Transformer(model.config).eval(), model.most_tokens
    written = generate(machine, prompt_of(model), SHORT.sampling, steps=12, use_cache=False, context=context)
    assert panel.tokens == [step.token for step in written]
    assert list(panel.numbers) == list(range(12))
    assert all(panel.laws().values())
    assert panel.same == 12
    assert 0 <= panel.largest < panel.bound
    prompt = len(panel.course.prompt)
    assert f"{sum(range(prompt, prompt + 12)):,}." in panel.sentence()


def test_of_a_long_text_some_steps_are_compared_first_and_last_among_them(monkeypatch):
    monkeypatch.setattr(same, "BUDGET", 1e9)
    panel = KeptSame(RANDOM, GenerateState(steps=200, seed=5))
    numbers = panel.numbers
    assert 2 <= len(numbers) < 200
    assert (numbers[0], numbers[-1]) == (0, 199)
    assert f"{len(numbers)} of 200 steps" in panel.sentence()


def test_what_was_measured_is_kept_found_by_its_name_and_told():
    with empty_store(in_store):
        assert "Nothing of this shape is measured" in KeptCosts(RANDOM, SHORT).sentence()
        report = report_of(RANDOM, (0.001, 0.004))
        measurements.keep(report)
        assert measurements.find(report.plan) == measurements.find(report.plan, "abc123") == report
        assert KeptCosts(RANDOM, SHORT).report is None  # the link names none
        panel = KeptCosts(RANDOM, GenerateState(view="kept", run="abc123"))
        assert "1,000 tokens a second with the cache and 250 without it, 4× as fast" in panel.sentence()
        assert all(panel.laws().values())
        assert "25 Nov 2026, 20:00 UTC" in measured.facts(panel.report)
        assert panel.table()["tokens a second without"].dropna().unique() == [250]
        assert panel.picture()[0]["foot"] == measured.facts(panel.report)
        other = ModelState(architecture="decoder", tokenizer="byte", num_layers=4)
        assert KeptCosts(other, GenerateState(view="kept", run="abc123")).report is None


def test_a_token_adds_two_vectors_a_layer():
    question = QUESTIONS[0]
    assert question.predict.measured(*set_up(question)) == 2 * 4 * 160 * 4
    assert question.answer(*set_up(question)).startswith("5,120 bytes: ")


def test_the_long_prompts_context_is_full_on_the_way():
    assert "At step" in QUESTIONS[-1].answer(*set_up(QUESTIONS[-1]))


def test_what_is_saved_is_told_for_logits_everywhere_and_for_the_last_alone():
    """FlopCounterMode's count of a pass whose logits are computed at its last token alone."""
    model = ModelState(weights="lab-gpt", text="The sea")
    panel = KeptCosts(model, GenerateState(view="kept"))
    machine = Transformer(model.config).eval()
    tokens = torch.zeros(1, panel.context, dtype=torch.long)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        machine.unembedding(machine.stack(tokens)[:, -1])
    with_cache = panel.flops(panel.context, cached=True)
    assert panel.times_of_last_logits == round(counter.get_total_flops() / with_cache, 1)
    answer = what_is_saved(model, GenerateState(view="kept"))
    assert "where logits are computed at every token that is read" in answer
    assert "with the logits of the last token alone they are" in answer
