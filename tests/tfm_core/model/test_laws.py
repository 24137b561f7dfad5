"""Laws of a transformer, for any input: hypothesis looks for one that breaks them; and of its gradients."""

from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, run, shared
from tfm_core import ARCHITECTURES, NORMS, POSITIONAL, recording

PATHS = (True, False)  # recorded, fused

sentences = st.lists(st.integers(1, VOCAB - 1), min_size=1, max_size=10)
padded_sentences = st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=10)  # 0 is padding, anywhere
CLOSE = 2e-5


def listening(recorded):
    return recording(None if recorded else [])


def batch(*sentences):
    return torch.tensor(sentences)


@torch.no_grad()
@pytest.mark.crossed(positional=POSITIONAL, architecture=["decoder", "encoder-decoder"], recorded=PATHS)
@shared_by(2 * len(POSITIONAL))
@given(tokens=padded_sentences, other=padded_sentences, data=st.data())
def test_a_causal_output_does_not_depend_on_what_comes_later(architecture, positional, recorded, tokens, other, data):
    model = shared(architecture=architecture, positional=positional)
    now = data.draw(st.integers(1, len(tokens)))
    source = (random_ids(1, 4),) if architecture == "encoder-decoder" else ()
    with listening(recorded):
        logits = model(*source, batch(tokens))
        changed = model(*source, batch(tokens[:now] + other))
    assert largest_error(changed[:, :now], logits[:, :now]) < CLOSE


@torch.no_grad()
@pytest.mark.crossed(positional=POSITIONAL, architecture=ARCHITECTURES, recorded=PATHS)
@shared_by(len(ARCHITECTURES) * len(POSITIONAL))
@given(texts=st.tuples(sentences, sentences), padding=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_neither_padding_behind_a_sentence_nor_another_sentence_of_the_batch_changes_it(
    architecture, positional, recorded, texts, padding
):
    model = shared(architecture=architecture, positional=positional)
    texts = texts if architecture == "encoder-decoder" else texts[:1]
    padded = [batch(text + [0] * more, [3] * (len(text) + more)) for text, more in zip(texts, padding, strict=False)]
    with listening(recorded):
        alone, among = model(*map(batch, texts)), model(*padded)
    assert largest_error(among[:1, : len(texts[-1])], alone) < CLOSE


@torch.no_grad()
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("recorded", PATHS)
@shared_by(4)
@given(tokens=padded_sentences, data=st.data())
def test_without_positions_an_encoder_does_not_care_about_the_order(norm, recorded, tokens, data):
    order = data.draw(st.permutations(range(len(tokens))))
    model = shared(positional="none", norm=norm)
    with listening(recorded):
        assert largest_error(model(batch(tokens)[:, order]), model(batch(tokens))[:, order]) < CLOSE


@torch.no_grad()
@pytest.mark.parametrize("positional", ["rope", "alibi", "t5"])
@shared_by(3)
@given(tokens=sentences, shift=st.integers(1, 30))
def test_relative_schemes_do_not_feel_where_the_sentence_stands(positional, tokens, shift):
    """Hidden padding in front moves every token by the same number of places, and changes no output."""
    model = shared(positional=positional)
    shifted = model(batch([0] * shift + tokens))[:, shift:]
    assert largest_error(shifted, model(batch(tokens))) < CLOSE


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, positional=POSITIONAL, recorded=PATHS, padding=[1, 4, 6])
def test_left_padding_gives_no_nan_forward_or_backward(architecture, norm, positional, recorded, padding):
    """The classic fault: a padded first row under a causal mask sees nothing, and its NaN spreads layer by layer."""
    model = build(architecture=architecture, norm=norm, positional=positional, num_layers=3)
    tokens = random_ids(2, 6)
    tokens[0, :padding] = 0
    with listening(recorded) as trace:
        logits = run(model, tokens)
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert not any(tensor.isnan().any() for tensor in trace.values())
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)
    if padding == 6:  # nothing to see in the whole first sentence: the second is as it would be alone
        assert largest_error(logits[1:], run(model, tokens[1:])) < CLOSE


# what is computed can be learnt from, recorded or not


def gradients(model, tokens, path):
    model.zero_grad()
    with path():
        logits = run(model, tokens)
    F.cross_entropy(logits.view(-1, VOCAB), tokens.flip(1).flatten()).backward()
    return {name: parameter.grad.clone() for name, parameter in model.named_parameters()}


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, positional=POSITIONAL)
def test_every_parameter_gets_a_gradient_and_the_same_on_both_paths(architecture, norm, positional):
    model = build(architecture=architecture, norm=norm, positional=positional).double()
    tokens = random_ids(4, 8)
    tokens[0, :2] = tokens[1, 4:] = 0
    recorded, fused = (gradients(model, tokens, path) for path in (recording, nullcontext))
    assert max(largest_error(recorded[name], fused[name]) for name in recorded) < 1e-12
    # A key's bias adds the same to all scores of a row, which the softmax takes away again.
    silent = {name for name, gradient in recorded.items() if gradient.abs().max() < 1e-7}
    assert silent <= {name for name in recorded if name.endswith("key_projection.bias")}


def test_gradients_flow_into_recorded_weights_and_through_edits():
    model, tokens = build(), random_ids(2, 5)
    strength = torch.tensor(0.5, requires_grad=True)
    with recording("*.weights", {"layers.0.self_attention.head_output": lambda x: x * strength}) as trace:
        logits = model(tokens)
    weights = trace["layers.1.self_attention.weights"]
    to_weights, to_strength = torch.autograd.grad(logits.square().sum(), [weights, strength])
    assert to_weights.shape == weights.shape
    assert to_weights.any()
    assert to_strength != 0
