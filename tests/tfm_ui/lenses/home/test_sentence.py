"""The sentence that Home begins with: where it is locked, what is said instead, and where nothing is."""

import pytest

from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lenses.home.sentence import FROM_FILE, OF_A_TASK, is_locked, reads_instead
from tfm_ui.page.frame import why_not_run
from tfm_ui.state import array_files, lab_gpt
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

STATE = LensState()


@pytest.mark.parametrize("model", [ModelState(), ModelState(**lab_gpt.ON_PROSE), ModelState(text="@alice")])
def test_a_text_that_is_read_is_edited_and_nothing_is_said(model):
    assert not is_locked(model)
    assert reads_instead(model, STATE) == ""


def test_weights_of_a_task_say_which_example_they_read_and_lock_the_text():
    model = ModelState(weights="induction")
    assert is_locked(model)
    said = reads_instead(model, STATE)
    assert said.startswith("The model reads an example of its task")
    assert "which these weights know" in said
    assert said.endswith(OF_A_TASK)
    assert model.read_text != model.text


@pytest.mark.parametrize(("weights", "text"), [("induction", "a b c a b"), ("induction", "@2"), ("authors", "my cat")])
def test_what_weights_of_a_task_can_read_is_edited(weights, text):
    model = ModelState(weights=weights, text=text)
    assert not is_locked(model)
    assert reads_instead(model, STATE) == ""


def test_weights_out_of_a_file_lock_the_text():
    array_files.forget()
    with empty_store(array_files):
        model = given(softmaxed(1, 1, 2, 4, 4), ["the", "cat", "sat", "down"])
        assert is_locked(model)
        assert reads_instead(model, STATE).endswith(FROM_FILE)
        assert "cat" in model.read_text


def test_an_empty_text_is_asked_for_where_it_is_typed():
    empty = ModelState(text="", target="", architecture="encoder-decoder")
    assert why_not_run(ModelState(text=""), ["Text"]) == "Type at least one word above."
    assert why_not_run(empty, ["Text"]) == ("Type at least one word above, and in the sidebar, under “Target text”.")
    assert why_not_run(empty) == "Type at least one word in the sidebar, under “Text” and “Target text”."
