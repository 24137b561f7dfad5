"""The Positions lens on trained weights: the table that was learned, and which schemes were never trained."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import TASKS
from tfm_core.model.trained import trained_weights
from tfm_ui.lenses.positions import LENS
from tfm_ui.lenses.positions.schemes import aside_of, schemes
from tfm_ui.lenses.positions.see.encode import Encoded
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.model_state import ModelState

LEARNED = PositionsState(a="learned", b="sinusoidal")


@pytest.mark.parametrize(("weights", "stack"), [("reverse", "stack"), ("reverse-decoder", "encoder")])
def test_the_learned_table_is_the_one_that_was_trained(weights, stack):
    model = ModelState(weights=weights)
    table = schemes(model, LEARNED)[0].module.encode(TASKS[weights].length)
    assert torch.equal(table, trained_weights(weights)[f"{stack}.positional.weight"])
    assert "learned is shown as it was trained: a width of 16" in aside_of(model, LEARNED)


def test_its_sentence_says_that_it_was_learned_and_its_recipe_finds_it():
    model = ModelState(weights="reverse")
    (panel,) = [panel for panel in panels_in(LENS.blocks(model, LEARNED)) if isinstance(panel.result, Encoded)][:1]
    assert "They were learned, with “reverse”, with a standard deviation of" in panel.sentence()
    assert "noise" not in panel.sentence()
    names: dict = {}
    exec(panel.recipe(), names)
    table = trained_weights("reverse")["stack.positional.weight"].numpy()
    assert any(np.array_equal(value[:10], table) for value in _arrays(names))


def _arrays(names):
    for value in names.values():
        inside = value.values() if isinstance(value, dict) else [value]
        yield from (tensor.numpy() for tensor in inside if isinstance(tensor, torch.Tensor) and tensor.dim() == 2)


def test_other_schemes_are_what_they_are_for_random_weights():
    for model in (ModelState(weights="reverse"), ModelState(seed=0, causal=False)):
        assert schemes(model, LEARNED)[1].spec == schemes(ModelState(seed=0), LEARNED)[1].spec
    assert schemes(ModelState(), LEARNED)[0].trained_on == ""
    assert "noise" in " ".join(panel.sentence() for panel in panels_in(LENS.blocks(ModelState(), LEARNED)))


@pytest.mark.parametrize("view", ["model", "fault"])
def test_a_note_says_with_which_positions_the_weights_were_never_trained(view):
    model, state = ModelState(weights="reverse"), PositionsState(view=view)
    notes = [block.text for block in LENS.blocks(model, state) if isinstance(block, Note)]
    assert any("trained with learned positions; with sinusoidal" in note for note in notes)
    blocks = LENS.blocks(ModelState(), state)
    assert not any("never been trained" in block.text for block in blocks if isinstance(block, Note))


def test_with_its_own_positions_the_fault_is_shown_on_the_trained_model():
    model, state = ModelState(weights="reverse"), PositionsState(view="fault", a="learned")
    notes = [block.text for block in LENS.blocks(model, state) if isinstance(block, Note)]
    assert not any("never been trained" in note for note in notes)
    assert LENS.blocks(model, replace(state, item=1))
