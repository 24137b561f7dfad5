"""Three mistakes of a first program, each made in the test, too: by torch's own calls, and by loops written out."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tfm_ui.lenses.generate.examples import LAB
from tfm_core import Transformer, recording
from tfm_ui.lenses.generate.courses import course_of, settings_of
from tfm_ui.lenses.generate.measures import MEASURES
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.write.first_program import dropping, parts_at, past_context, texts_in_training_mode
from tfm_ui.lenses.generate.write.questions import LONG, QUESTIONS
from tfm_ui.state.model_state import ModelState

GREEDY = GenerateState(method="greedy", steps=20)
BY_NAME = {question.name: question for question in QUESTIONS}


def test_two_runs_in_training_mode_part_where_a_loop_over_whole_passes_does() -> None:
    """Each step draws anew, without a cache; in evaluation mode both runs are the same."""
    model = Transformer(LAB.config).eval()
    texts = []
    for seed in (1, 2):
        ids = [*LAB.source_tokens.ids[: LAB.length]]
        with torch.no_grad(), recording((), dropping(seed)):
            for _ in range(20):
                ids.append(int(model(torch.tensor([ids]))[0, -1].argmax()))
        texts.append(ids[LAB.length :])
    assert (*texts,) == texts_in_training_mode(LAB, GREEDY)
    at = next((step for step in range(20) if texts[0][step] != texts[1][step]), -1) + 1
    assert parts_at(LAB, GREEDY) == MEASURES["parts_in_training_mode"](LAB, GREEDY) == at > 0
    answer = BY_NAME["Without eval()"].answer(LAB, GREEDY)
    assert f"differ first at step {at}:" in answer


def test_dropout_of_a_draw_leaves_the_mean() -> None:
    """A tenth is 0, and the rest is divided by what is left."""
    drop = next(iter(dropping(1).values()))
    x = drop(torch.ones(100_000))
    assert (x == 0).float().mean() == pytest.approx(0.1, abs=0.01)
    assert x.mean() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("k", [5, 27, 28, 50])
def test_torchs_own_words_for_a_k_above_the_vocabulary(k: int) -> None:
    """There is an error from one more than the vocabulary on."""
    model, state = ModelState(weights="induction"), GenerateState(top_k=k)
    vocabulary = model.config.vocab_size
    said = MEASURES["topk_error"](model, state)
    if k <= vocabulary:
        torch.topk(torch.zeros(vocabulary), k)
        assert said == ""
    else:
        with pytest.raises(RuntimeError) as raised:
            torch.topk(torch.zeros(vocabulary), k)
        assert said == str(raised.value)
        assert said in BY_NAME["k above V"].answer(model, state)
    assert MEASURES["most_left"](model, state) == min(k, vocabulary)


def test_a_learned_table_ends_with_torchs_own_words() -> None:
    """They are an embedding's."""
    with pytest.raises(IndexError) as raised:
        nn.Embedding(LAB.most_tokens, 4)(torch.tensor([LAB.most_tokens]))
    assert MEASURES["past_table_error"](LAB, GREEDY) == str(raised.value)


def test_what_reading_on_past_the_end_costs() -> None:
    """The same tokens, rated in one long pass and in the newer half, each by the logits of a model made here."""
    model, state = ModelState(**LONG), GenerateState(**BY_NAME["Past the end"].controls)
    course = course_of(model, settings_of(model, state))
    late = [step for step in course.steps if step.begin]
    assert late
    made, tokens = Transformer(model.config).eval(), course.tokens
    here, past = [], []
    with torch.no_grad():
        whole = made(torch.tensor([tokens]))[0]
        for step in (late[0], late[-1]):
            at = len(course.prompt) + step.number
            window = made(torch.tensor([tokens[step.begin : at]]))[0, -1]
            here.append(float(F.cross_entropy(window, torch.tensor(step.token))))
        for step in late:
            at = len(course.prompt) + step.number
            past.append(float(F.cross_entropy(whole[at - 1], torch.tensor(step.token))))
    within, beyond = past_context(model, settings_of(model, state))
    assert beyond == pytest.approx(sum(past) / len(past), abs=1e-3)
    rated = [float(F.cross_entropy(step.logits, torch.tensor(step.token))) for step in (late[0], late[-1])]
    assert rated == pytest.approx(here, abs=1e-3)
    assert beyond > within > 0


def test_a_short_text_and_an_encoder_have_nothing_to_tell() -> None:
    """No token is written after the context was full, or none at all."""
    assert past_context(LAB, settings_of(LAB, GREEDY)) == (0, 0)
    assert "does not come to the end" in BY_NAME["Past the end"].answer(LAB, GREEDY)
    assert parts_at(ModelState(), GREEDY) == 0
