"""One model and one text have one distribution of the next token, in whichever view it is read."""

import math

import pytest
import torch

from tfm_core import LAB_GPT, Transformer, lab_tokenizer
from tfm_ui.lenses.generate.courses import course_of, settings_of
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.surprise.tokens import Surprise
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.lenses.model.output.likeliest import Output
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

TEXTS = (
    "The captain looked at the sea, and",
    "It is a truth universally acknowledged",
    "Emma",
    "na\u00efve, said she; 1851",
    "the sea the sea the",
)
MODELS = {
    "Lab GPT": lambda text: ModelState(weights="lab-gpt", text=text),
    "random": lambda text: ModelState(architecture="decoder", tokenizer="byte", text=text),
    "random, learned positions": lambda text: ModelState(
        architecture="decoder", tokenizer="byte", positional="learned", norm="post", text=text
    ),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", MODELS)
def test_output_write_surprise_and_home_give_the_next_token_one_probability(name, text):
    model = MODELS[name](text)
    panel = Output(model, ModelLensState(view="output", token=1024))
    every = panel.every(1.0)
    token = int(every.argmax())
    if name == "Lab GPT":  # beside a pass of our own over the text's tokens and nothing else
        ids = list(map(lab_tokenizer().id_of, lab_tokenizer().split(text)))
        with torch.no_grad():
            bare = Transformer(LAB_GPT).eval()(torch.tensor([ids]))[0, -1].double().softmax(-1)
        torch.testing.assert_close(every, bare, atol=1e-6, rtol=1e-4)

    written = course_of(model, settings_of(model, GenerateState(steps=1, method="greedy"))).steps[0].logits
    torch.testing.assert_close(written.double().softmax(-1), every, atol=1e-6, rtol=1e-4)

    assert max(Next(model, LensState()).shares) <= float(every.max()) + 1e-6
    if name == "Lab GPT":
        assert Next(model, LensState()).shares[0] == pytest.approx(float(every[token]), rel=1e-4)

    longer = MODELS[name](text + next(_continuations(model, text, token)))
    side = Surprise(longer, GenerateState(view="surprise")).sides[0]
    place = len(model.source_tokens.pieces)
    came = side.ids[place]
    assert side.ids[:place] == model.source_tokens.ids[:place]
    assert math.exp(float(side.scored.log_probabilities[place - 1])) == pytest.approx(float(every[came]), rel=1e-3)


def _continuations(model, text, token):
    """Ends that leave the tokens of the text as they are: the likeliest token, if it does."""
    before = tuple(model.tokens_by.split(text))
    for end in (model.tokens_by.pieces[token], " the", " sea", "."):
        if tuple(model.tokens_by.split(text + end))[: len(before)] == before:
            yield end
