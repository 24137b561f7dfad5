"""The lean pass over a single token: the model's own logits and stored keys, of any configuration."""

import pytest
import torch

from tests.tfm_core.generation.writing import CLOSE, PROMPT, decoder, tokens_of
from tests.tfm_core.toys import build, largest_error, random_ids, scramble
from tfm_core import (
    ACTIVATIONS,
    ATTENTION,
    NORMS,
    POSITIONAL,
    KeyValueCache,
    MultiHeadAttention,
    Sampling,
    generate,
    recording,
)
from tfm_core.generation.lean import LeanDecoder


@torch.no_grad()
@pytest.mark.crossed(
    positional=POSITIONAL,
    norm=NORMS,
    activation=ACTIVATIONS,
    shape=[{}, {"num_heads": 2, "num_layers": 3, "tie_embeddings": True}, {"attention": "fused"}],
)
def test_logits_and_stored_keys_are_those_of_the_model(positional, norm, activation, shape):
    model = build(architecture="decoder", positional=positional, norm=norm, activation=activation, **shape)
    scramble(model, torch.float64)
    lean, cache, beside, tokens = LeanDecoder(model), *[KeyValueCache(model.config) for _ in "ab"], random_ids(1, 12)
    for number in range(12):  # from an empty cache on
        token = tokens[:, number : number + 1]
        assert largest_error(lean(int(token), cache), model(token, cache=beside)[0, 0]) < 1e-12
    for layer in range(len(cache.layers)):
        assert largest_error(cache.keys(layer), beside.keys(layer)) < 1e-12
        assert largest_error(cache.values(layer), beside.values(layer)) < 1e-12
    assert not lean(5, cache).requires_grad


def test_what_it_cannot_do_is_left_to_the_model():
    model = build(architecture="decoder", dropout=0.5)
    lean, cache = LeanDecoder(model), KeyValueCache(model.config)
    assert lean.can(5, cache)
    assert not lean.can(0, cache)  # padding
    with recording():
        assert not lean.can(5, cache)
        model(random_ids(1, 3), cache=cache)
    model.train()
    assert not lean.can(5, cache)
    model.eval()
    model(torch.tensor([[0, 3]]), cache=cache)
    assert not lean.can(5, cache)


@pytest.mark.parametrize("prompt", [PROMPT, [0, 5, 9], [5, 0]])
def test_a_recording_sees_what_is_written_and_changes_nothing(prompt):
    model, settings = decoder(), {"steps": 12, "forced": {3: 0}}
    plain = list(generate(model, prompt, Sampling(seed=1), **settings))
    with recording() as trace:
        recorded = list(generate(model, prompt, Sampling(seed=1), **settings))
    assert tokens_of(plain) == tokens_of(recorded)
    assert max(largest_error(a.logits, b.logits) for a, b in zip(plain, recorded, strict=True)) < CLOSE
    assert trace["layers.1.self_attention.weights"].shape == (1, 4, 1, len(prompt) + 11)


def test_an_edit_reaches_every_step():
    model = decoder()
    with recording([], edits={"logits": torch.zeros_like}):
        steps = list(generate(model, PROMPT, Sampling(greedy=True), steps=5))
    assert not torch.stack([step.logits for step in steps]).any()


def test_trained_weights_are_read_as_they_are_now():
    model = build(architecture="decoder")
    lean, cache = LeanDecoder(model), KeyValueCache(model.config)
    scramble(model)
    with torch.no_grad():
        assert largest_error(lean(5, cache), model(torch.tensor([[5]]))[0, 0]) < CLOSE


def test_another_kind_of_attention_is_left_to_the_model(monkeypatch):
    class Upside(MultiHeadAttention):
        """Looks away from what it would look at."""

        def _attend(self, q, k, v, mask, bias):
            return super()._attend(-q, k, v, mask, bias)

    monkeypatch.setitem(ATTENTION, "upside", Upside)
    model = build(architecture="decoder", attention="upside")
    both = [list(generate(model, PROMPT, steps=9, use_cache=use_cache)) for use_cache in (True, False)]
    assert max(largest_error(a.logits, b.logits) for a, b in zip(*both, strict=True)) < CLOSE
