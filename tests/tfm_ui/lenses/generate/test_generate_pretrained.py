"""Writing with models that others have trained: few tokens at first, heads that share keys, and their template."""

from dataclasses import replace

import jinja2
import pytest

from tests.tfm_ui.lenses.generate.examples import LAB, RANDOM
from tfm_core import TransformerConfig
from tfm_core.generation.chat import CHATS, Chat
from tfm_core.model.cache import KeyValueCache
from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lenses.generate.courses import course_of, in_a_tick, prompt_of, settings_of, why_not_score, why_not_write
from tfm_ui.lenses.generate.kept.costs import KeptCosts
from tfm_ui.lenses.generate.kept.questions import what_a_token_adds
from tfm_ui.lenses.generate.kept.stored import Kept, side_by_side
from tfm_ui.lenses.generate.state import FEW, USUAL, GenerateState, bytes_of_a_token, is_large
from tfm_ui.lenses.generate.surprise.sides import sides_of, why_no_other
from tfm_ui.lenses.generate.write.beams import Beams
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.state.links import link_parameters, state_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import weight_bytes

SMOLLM2 = ModelState(weights="smollm2", text="What is the capital of France?")
CHAT = GenerateState(chat=True, method="greedy", steps=20)
# The field tokenizer.chat_template of SmolLM2-135M-Instruct.Q4_1.gguf.
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + "
    "message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|im_start|>assistant\n' }}{% endif %}"
)
smollm2 = pytest.mark.skipif(not OFFERED["smollm2"].is_there, reason="SmolLM2 is not installed")


@pytest.mark.parametrize("message", ["Hi", "What is {message}?", "<|im_end|> {{ x }}\n"])
def test_the_template_is_that_of_the_file(message):
    messages = [{"role": "user", "content": message}]
    theirs = jinja2.Template(TEMPLATE, keep_trailing_newline=True).render(messages=messages, add_generation_prompt=True)
    assert CHATS["smollm2"].around(message) == theirs


def test_a_large_model_writes_a_few_tokens_at_first():
    assert [GenerateState().count(model) for model in (LAB, RANDOM)] == [USUAL] * 2
    assert GenerateState().count(SMOLLM2) == FEW
    assert GenerateState(steps=33).count(SMOLLM2) == 33
    assert not in_a_tick(SMOLLM2.config, 1)
    assert link_parameters(GenerateState(), "generate_") == {}
    assert state_of(GenerateState, "generate_", {"generate_steps": ["60"]}).count(SMOLLM2) == 60


@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
def test_what_is_read_for_a_token_are_the_weights(activation):
    config = TransformerConfig(vocab_size=300, architecture="decoder", d_model=64, activation=activation)
    assert bytes_of_a_token(config) == weight_bytes(config)
    shared = replace(config, num_kv_heads=1)
    assert bytes_of_a_token(config) - bytes_of_a_token(shared) == 4 * 2 * 2 * 64 * 48
    assert not is_large(config)


def test_chat_means_nothing_for_models_without_a_template():
    assert GenerateState.without_meaning(LAB) == {"chat"}
    assert GenerateState.without_meaning(SMOLLM2) == set()
    assert settings_of(LAB, CHAT).chat is None
    assert Write(LAB, CHAT).pieces == Write(LAB, replace(CHAT, chat=False)).pieces


def test_a_text_ends_with_the_token_that_ends_an_answer():
    plain = settings_of(LAB, GenerateState(steps=30))
    written = [step.token for step in course_of(LAB, plain).steps]
    last = written[9]
    first = written.index(last)
    chat = Chat("{message}", LAB.tokens_by.pieces[last])
    course = course_of(LAB, replace(plain, chat=chat))
    assert [step.token for step in course.steps] == written[: first + 1]
    assert course_of(LAB, replace(plain, chat=chat, steps=first)).steps[-1].token == written[first - 1]
    assert len(course_of(LAB, replace(plain, chat=replace(chat, end=""))).steps) == 30


def test_an_encoder_that_others_have_trained_is_named():
    minilm = ModelState(weights="minilm")
    for reason in (why_not_write(minilm), why_not_score(minilm)):
        assert "all-MiniLM-L6-v2 is an encoder" in reason
        assert "the architecture “decoder”" not in reason  # which its weights fix
    assert Kept(minilm, GenerateState()).why_nothing


@smollm2
def test_a_message_is_answered_within_its_template():
    panel = Write(SMOLLM2, CHAT)
    cuts, template = SMOLLM2.tokens_by, CHATS["smollm2"]
    assert panel.prompt == cuts.split(template.around(SMOLLM2.text))
    assert panel.prompt.count("<|im_start|>") == 3  # special tokens, and not their letters
    assert panel.pieces[-1] == "<|im_end|>"
    assert "Paris" in panel.text
    assert "“<|im_end|>” ended the answer." in panel.sentence()
    scope: dict = {}
    exec(panel.recipe(), scope)
    assert scope["text"] == panel.text
    assert prompt_of(replace(SMOLLM2, seq_len=3), template)[-1] == prompt_of(SMOLLM2, template)[-1]
    assert len(Beams(SMOLLM2, replace(CHAT, method="beam", steps=3)).search.steps) == 3


@smollm2
def test_what_is_kept_is_of_the_heads_that_have_keys():
    panel = Kept(SMOLLM2, GenerateState(steps=3))
    header, numbers = panel.picture()
    assert (header["heads"], header["width"], header["owner"]) == (3, 192, "key-value head")
    keys, _ = side_by_side(panel.course.caches[0], 0, panel.lengths[-1])
    assert keys.shape == (panel.lengths[-1], 192)
    assert numbers.size == 2 * keys.numel()
    assert all(panel.laws().values())
    assert panel.per_token == KeyValueCache.memory_of(SMOLLM2.config, 1) == 46_080
    assert "192 numbers, not of 576, as 9 heads share 3 keys and 3 values" in panel.sentence()
    assert "a value of 192 numbers in each of 30 layers" in what_a_token_adds(SMOLLM2, GenerateState(steps=3))
    assert KeptCosts(SMOLLM2, GenerateState()).laws()


@smollm2
def test_no_second_model_of_that_size_is_drawn():
    state = GenerateState(view="surprise", against="random weights")
    assert "of memory" in why_no_other(SMOLLM2, state)
    assert len(sides_of(SMOLLM2, state)) == 1
    assert not why_no_other(LAB, state)
