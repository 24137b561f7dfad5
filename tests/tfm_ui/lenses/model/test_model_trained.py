"""The Model lens on trained weights: what is right, and which of the models on screen were never trained."""

from dataclasses import replace

import pytest
import torch

from tfm_core import Transformer
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.output.likeliest import Output, OutputPositions
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.never_trained import never_trained
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

REVERSE = ModelState(weights="reverse")
KNOWS = next(question for question in LENS.questions if question.name == "A model that knows")


def test_a_model_that_knows_says_the_right_digit_and_with_which_probability():
    state = ModelLensState(**KNOWS.controls)
    with torch.no_grad():
        shares = Transformer(REVERSE.config).eval()(REVERSE.source_tokens.batch)[0, 0].double().softmax(-1)
    right = REVERSE.source_tokens.pieces[-1]
    share = float(shares[REVERSE.tokens_by.id_of(right)])
    answer = KNOWS.answer(REVERSE, state)
    assert f"The right answer is “{right}”: at temperature 1 it has {formats.percent(share, 3)}." in answer
    assert answer.endswith("Right, where the task asks: 10 of 10 answers.")
    assert 100 > KNOWS.predict.measured(REVERSE, state) == pytest.approx(100 * share, abs=0.06)


def test_what_is_right_is_told_of_examples_alone():
    state = ModelLensState(view="output", token=1)
    assert "What is right is known of examples" in Output(replace(REVERSE, text="3 1 4"), state).sentence()
    assert "the task asks for nothing" in Output(ModelState(weights="induction"), state).sentence()
    assert (
        OutputPositions(ModelState(), state)
        .sentence()
        .endswith("The weights are random: this says nothing about language.")
    )
    assert "random" not in OutputPositions(REVERSE, state).sentence()
    assert "No weight was trained" in KNOWS.answer(ModelState(), state)


def test_trained_weights_are_shown_untied_as_they_were_trained():
    assert ModelLensState().tied
    assert Output(REVERSE, ModelLensState(view="output")).config == REVERSE.config
    assert "tied" in ModelLensState.without_meaning(REVERSE)


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("block", "These weights were trained with pre-norm; with post-norm they have never been trained."),
        (
            "feed_forward",
            "These weights were trained with gelu; with relu, gelu_tanh, silu and swiglu they have never been trained.",
        ),
        ("efficient", "trained with full attention; with window, strided and linear attention they have never been"),
        ("output", "trained with untied embeddings; with tied embeddings they have never been trained."),
        ("diagram", ""),
    ],
)
def test_a_note_says_which_models_on_screen_were_never_trained(view, said):
    state = ModelLensState(view=view)
    notes = [block.text for block in LENS.blocks(REVERSE, state) if isinstance(block, Note)]
    assert (said in " ".join(notes)) if said else not any("never been trained" in note for note in notes)
    random = [block.text for block in LENS.blocks(ModelState(), state) if isinstance(block, Note)]
    assert not any("never been trained" in note for note in random)


def test_the_note_names_parameters_that_the_run_does_not_have():
    swiglu = replace(REVERSE.config, activation="swiglu")
    assert "What they do not have is random there: stack.layers.0.feed_forward.gate" in never_trained(REVERSE, [swiglu])
    assert never_trained(REVERSE, [REVERSE.config, replace(REVERSE.config, attention="fused")]) == ""
    both = never_trained(REVERSE, [replace(REVERSE.config, positional=name) for name in ("rope", "none")])
    assert (
        both
        == "These weights were trained with learned positions; with rope and no positions they have never been trained."
    )
