"""What lessons measure in the Generate lens, beside sums written out."""

import pytest

from tfm_ui.lenses.generate import measures
from tfm_ui.lenses.generate.panel import LAB
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(**LAB)


@pytest.mark.parametrize("steps", [1, 12, 60])
def test_without_a_cache_each_pass_reads_all_that_stands_before_it(steps):
    state = GenerateState(view="kept", method="greedy", steps=steps)
    before = [MODEL.length + step for step in range(steps)]
    assert measures.passes(MODEL, state) == steps
    assert measures.read_without_cache(MODEL, state) == sum(before)
    assert measures.read_with_cache(MODEL, state) == before[-1]


def test_where_the_context_is_full_the_newer_half_is_read_again():
    model = ModelState(weights="lab-gpt", text="sea " * 250)
    state = GenerateState(view="kept", method="greedy", steps=20)
    assert measures.read_with_cache(model, state) > model.length + 19
    assert measures.read_with_cache(model, state) < measures.read_without_cache(model, state)


def test_an_encoder_writes_nothing():
    encoder, state = ModelState(), GenerateState(view="kept")
    assert {measure(encoder, state) for measure in measures.MEASURES.values()} == {0}
