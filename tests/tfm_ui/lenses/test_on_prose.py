"""Questions on Lab GPT, in all lenses: what they set up can be read there, and their answers are what it does."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.heads.all_weights import heads_of, weights_of
from tfm_core import LAB_GPT, Transformer, lab_prompt, lab_tokenizer, recording
from tfm_core.language.head_scores import head_scores
from tfm_core.study.interventions import silence_head
from tfm_ui.lenses import lens
from tfm_ui.lenses.attention import questions as attention_questions
from tfm_ui.lenses.attention.change import ChangeOutput
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.heads import questions as of_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.masks import questions as masks_questions
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.model.output.lens import OutputAt
from tfm_ui.lenses.model.output.likeliest import Output, OutputPositions
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import lab_heads
from tfm_ui.page.questions import Computed, first_of
from tfm_ui.state.lab_gpt import ADDRESS, NAMES, ON_ADDRESS, ON_NAMES, ON_PROSE, PROSE
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.head_sentences import behind_earlier
from tfm_ui.text.token_labels import named

MODEL = Transformer(LAB_GPT).eval()
TEXT = "Emma and Ahab met Anne and Ahab and Emma"
MODELS = [ModelState(**ON_PROSE), ModelState(**ON_NAMES), ModelState(text=TEXT, num_layers=4, num_heads=8)]


def question(of: str, name: str):
    """A question, the model and the lens's state that it sets up."""
    these = lens(of)
    (asked,) = [question for question in these.questions if question.name == name]
    return asked, ModelState(**asked.model), these.state(**asked.controls)


def logits_of(text: str, mask=None, edits=None) -> torch.Tensor:
    with torch.no_grad(), recording([], edits or {}):
        return MODEL(lab_prompt(text).batch, mask=mask)[0]


def test_heads_that_questions_name_are_those_that_were_measured():
    measured = head_scores(MODEL, first_id=2)
    layer, head = lab_heads.previous_token_head()
    assert measured.previous[layer - 1, head - 1] == measured.previous.max()
    places = lab_heads.copying_heads()
    assert measured.induction[places[0][0] - 1, places[0][1] - 1] == measured.induction.max()
    scores = [float(measured.induction[layer - 1, head - 1]) for layer, head in places]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= lab_heads.COPIES * scores[0]
    assert 1 <= len(places) <= lab_heads.MOST
    _, _, state = question("heads", "The token before")
    assert (state.layer, state.head) == (layer, head)
    _, _, state = question("attention", "Silence the copy")
    assert state.changes == "; ".join(f"silence {layer}.{head}" for layer, head in places)


def test_computed_settings_are_computed_when_they_are_asked_for():
    asked = []
    settings = Computed(view="arcs", layer=lambda: asked.append(1) or 3)
    assert (list(settings), settings.get("view"), asked) == (["view", "layer"], "arcs", [])
    assert ({**settings}, asked, len(settings)) == ({"view": "arcs", "layer": 3}, [1], 2)


@pytest.mark.parametrize("of", ["home", "heads", "attention", "masks", "model"])
def test_a_lens_that_is_opened_on_lab_gpt_asks_about_lab_gpt(of):
    first = first_of(lens(of).questions, ModelState(**ON_PROSE))
    assert first.model["weights"] == "lab-gpt"
    assert "weights" not in first_of(lens(of).questions, ModelState()).model
    task = first_of(lens(of).questions, ModelState(weights="copy"))
    assert task.model.get("weights") not in (None, "lab-gpt")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("layer", "head"), [(1, 1), (3, 2)])
def test_what_a_head_gives_to_the_token_before(model, layer, head):
    weights = weights_of(heads_of(model))
    rows = np.arange(1, weights.shape[-1])
    share = weights[:, :, rows, rows - 1].mean(-1)
    state = HeadsState(layer=layer, head=head)
    assert of_heads.percent_on_previous(model, state) == pytest.approx(100 * share[layer - 1, head - 1], abs=0.06)
    most = int((weights[layer - 1, head - 1, 1:].argmax(-1) == rows - 1).sum())
    answer = of_heads.looks_at_previous(model, state)
    assert (
        f"{formats.percent(float(share[layer - 1, head - 1]))} of its weight, and in {most} of {len(rows)} rows"
        in answer
    )
    best = np.unravel_index(share.argmax(), share.shape)
    assert f"layer {best[0] + 1}, head {best[1] + 1}" in answer.lower()


@pytest.mark.parametrize("model", MODELS)
def test_how_many_heads_look_at_the_first_token(model):
    weights = weights_of(heads_of(model))[:, :, 1:]
    most = (weights.argmax(-1) == 0).mean(-1) > 0.5
    assert of_heads.heads_on_first(model, HeadsState()) == most.sum()
    share = weights[..., 0].mean(-1).max()
    assert f"{formats.percent(float(share))} on average" in of_heads.looks_at_first(model, HeadsState())


def test_what_a_head_gives_to_what_came_last_time():
    model, state = ModelState(text=TEXT, num_layers=4, num_heads=8), HeadsState(layer=2, head=3)
    cells = np.argwhere(behind_earlier(heads_of(model).ids)).tolist()
    assert cells == [[5, 2], [6, 3], [7, 2], [7, 6], [8, 1]]
    weights = weights_of(heads_of(model))[1, 2]
    rows = [weights[5, 2], weights[6, 3], weights[7, 2] + weights[7, 6], weights[8, 1]]
    answer = of_heads.looks_behind(model, state)
    assert (
        f"In 4 rows the token has stood before. Layer 2, head 3 gives {formats.percent(float(np.mean(rows)))}" in answer
    )
    assert "No token stands in this text twice" in of_heads.looks_behind(ModelState(text="a b c"), state)
    both = ModelState(architecture="encoder-decoder")
    assert of_heads.looks_behind(both, HeadsState(kind="cross")) == of_heads.TWO_TEXTS


def test_the_copied_token_in_a_and_b_is_what_the_silenced_model_says():
    asked, model, state = question("attention", "Silence the copy")
    tokens = lab_prompt(NAMES)
    at = max(at for at in range(len(tokens.ids) - 1) if tokens.ids[at] == tokens.ids[-1])
    follows = tokens.ids[at + 1]
    edits = {}
    for layer, head in lab_heads.copying_heads():
        site = f"layers.{layer - 1}.self_attention.head_output"
        earlier = edits.get(site, lambda x: x)
        edits[site] = lambda x, earlier=earlier, head=head: silence_head(head - 1)(earlier(x))
    a, b = (logits_of(NAMES, edits=each)[-1].softmax(-1) for each in ({}, edits))
    assert attention_questions.copied_place(model) == at + 1
    shown = ChangeOutput(model, state).effect.probabilities
    assert shown[:, follows].tolist() == pytest.approx((float(a[follows]), float(b[follows])), abs=1e-5)
    assert (shown.argmax(-1) == follows).tolist() == [int(a.argmax()) == follows, int(b.argmax()) == follows]
    answer = asked.answer(model, state)
    assert f"stood before at place {at + 1}, and “{named(tokens.pieces[at + 1])}” came after it" in answer
    assert ("does not copy here" in answer) is not (int(a.argmax()) == follows)
    assert asked.predict.measured(model, state) == pytest.approx(100 * float(b[follows]), abs=0.06)


def test_a_text_without_an_earlier_place_has_no_copy_and_no_changes_are_said_to_be_none():
    model = ModelState(weights="lab-gpt", text="The ship")
    state = AttentionState(view="change", changes="silence 1.1")
    assert "nothing to copy" in attention_questions.what_is_copied(model, state)
    assert attention_questions.percent_in_b(model, state) == 0
    none = AttentionState(view="change", changes="")
    assert attention_questions.what_is_copied(ModelState(**ON_NAMES), none).startswith("A and B are the same")


@pytest.mark.parametrize("name", ["A window on prose", "A window on names"])
def test_a_window_leaves_what_the_model_says_under_that_mask(name):
    asked, model, state = question("masks", name)
    width = int(state.mask.removeprefix("window "))
    length = len(lab_prompt(model.text).ids)
    places = torch.arange(length)
    window = (places[:, None] - places).abs() < width
    free, under = (logits_of(model.text, mask)[-1].softmax(-1) for mask in (None, window))
    likeliest_token, now = int(free.argmax()), int(under.argmax())
    answer = asked.answer(model, state)
    name_of = lab_tokenizer().pieces
    assert f"leaves “{named(name_of[likeliest_token])}” as the likeliest token" in answer
    assert ("it is still the likeliest" in answer) is (likeliest_token == now)
    assert asked.predict.measured(model, state) == ("yes" if likeliest_token == now else "no")
    assert "with this mask they have never been trained" in answer
    assert "random" in masks_questions.said_under_mask(ModelState(), MasksState(mask="window 3", item=1))


def test_the_layer_from_which_on_the_final_token_is_the_likeliest():
    asked, model, state = question("model", "Layer by layer on prose")
    assert state.token == len(lab_prompt(PROSE).ids)
    ids = OutputAt(model, state).outs.ids[:, -1]
    assert ids[-1] == int(logits_of(PROSE)[-1].argmax())
    settled = next(place for place in range(5) if (ids[place:] == ids[-1]).all())
    assert OutputAt(model, state).settled == asked.predict.measured(model, state) == settled
    assert asked.answer(model, state).startswith("At “·United” the likeliest token is ")


def test_at_how_many_positions_it_says_what_comes_next():
    asked, model, state = question("model", "Surprised by prose")
    assert model == ModelState(**ON_ADDRESS)
    ids = torch.tensor(lab_prompt(ADDRESS).ids)
    right = int((logits_of(ADDRESS)[:-1].argmax(-1) == ids[1:]).sum())
    sentence = f"The next token of the text is the likeliest at {right} of the {len(ids) - 1} before the last."
    assert sentence in asked.answer(model, state)
    share = float(logits_of(ADDRESS)[0].double().softmax(-1)[ids[1]])
    at_first = Output(model, ModelLensState(view="output", token=1)).sentence()
    assert f"comes next: at temperature 1 it has {formats.percent(share, 3)}." in at_first
    last = Output(model, ModelLensState(view="output", token=len(ids))).sentence()
    assert last.endswith("The text ends here, so nobody knows what comes next.")
    assert "next token" not in OutputPositions(ModelState(weights="lab-gpt", text=""), state).sentence()
