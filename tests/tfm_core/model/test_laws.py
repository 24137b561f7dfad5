"""Laws of a transformer, for any input: hypothesis looks for one that breaks them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, run, shared
from tfm_core import ARCHITECTURES, NORMS, POSITIONAL, recording

PATHS = (True, False)  # recorded, fused
every_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)
every_norm = pytest.mark.parametrize("norm", NORMS)
every_scheme = pytest.mark.parametrize("positional", POSITIONAL)
both_paths = pytest.mark.parametrize("recorded", PATHS, ids=["recorded", "fused"])

sentences = st.lists(st.integers(1, VOCAB - 1), min_size=1, max_size=10)
padded_sentences = st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=10)  # 0 is padding, anywhere
CLOSE = 2e-5


def listening(recorded):
    return recording(None if recorded else [])


def batch(*sentences):
    return torch.tensor(sentences)


@torch.no_grad()
@every_architecture
@every_scheme
@shared_by(len(ARCHITECTURES) * len(POSITIONAL))
@given(tokens=padded_sentences)
def test_every_row_of_weights_sums_to_one_or_where_nothing_may_be_seen_to_zero(architecture, positional, tokens):
    with recording() as trace:
        run(shared(architecture=architecture, positional=positional), batch(tokens))
    for site, weights in trace.items():
        if site.endswith(".weights"):
            visible = (trace[site.removesuffix("weights") + "masked_scores"] > -torch.inf).any(-1)
            assert torch.allclose(weights.sum(-1), visible.float(), atol=1e-5), site
            assert not weights[..., batch(tokens)[0] == 0].any(), site
    assert all(tensor.isfinite().all() for site, tensor in trace.items() if not site.endswith("masked_scores"))


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
@pytest.mark.crossed(positional=POSITIONAL, architecture=["encoder", "decoder"], recorded=PATHS)
@shared_by(2 * len(POSITIONAL))
@given(tokens=sentences, padding=st.integers(1, 8))
def test_padding_changes_nothing_before_it(architecture, positional, recorded, tokens, padding):
    model = shared(architecture=architecture, positional=positional)
    with listening(recorded):
        alone = model(batch(tokens))
        padded = model(batch(tokens + [0] * padding, [3] * (len(tokens) + padding)))
    assert largest_error(padded[:1, : len(tokens)], alone) < CLOSE


@torch.no_grad()
@every_scheme
@both_paths
@shared_by(2 * len(POSITIONAL))
@given(source=sentences, target=sentences, padding=st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_padding_on_either_side_of_an_encoder_decoder_changes_nothing(positional, recorded, source, target, padding):
    model = shared(architecture="encoder-decoder", positional=positional)
    with listening(recorded):
        alone = model(batch(source), batch(target))
        padded = model(batch(source + [0] * padding[0]), batch(target + [0] * padding[1]))
    assert largest_error(padded[:, : len(target)], alone) < CLOSE


@torch.no_grad()
@every_architecture
@every_norm
def test_what_stands_in_the_hidden_embedding_is_seen_by_nobody(architecture, norm):
    """The padding vector itself may hold anything: only the rows of the padding may feel it."""
    model = build(architecture=architecture, norm=norm)
    tokens = random_ids(2, 6)
    tokens[:, 4:] = 0
    before = run(model, tokens)
    for stack in (module for module in model.modules() if isinstance(module, torch.nn.Embedding)):
        stack.weight[0] = torch.linspace(-9, 9, 16)
    after = run(model, tokens)
    assert largest_error(after[:, :4], before[:, :4]) < CLOSE
    assert largest_error(after[:, 4:], before[:, 4:]) > 1e-2


@torch.no_grad()
@every_norm
@both_paths
@shared_by(4)
@given(tokens=padded_sentences, data=st.data())
def test_without_positions_an_encoder_does_not_care_about_the_order(norm, recorded, tokens, data):
    order = data.draw(st.permutations(range(len(tokens))))
    model = shared(positional="none", norm=norm)
    with listening(recorded):
        assert largest_error(model(batch(tokens)[:, order]), model(batch(tokens))[:, order]) < CLOSE


@torch.no_grad()
@every_architecture
@every_scheme
@shared_by(len(ARCHITECTURES) * len(POSITIONAL))
@given(tokens=padded_sentences)
def test_a_sentence_does_not_feel_the_other_sentences_of_its_batch(architecture, positional, tokens):
    model = shared(architecture=architecture, positional=positional)
    together = run(model, batch(tokens, [5] * len(tokens), [0] * len(tokens)))
    assert largest_error(together[:1], run(model, batch(tokens))) < CLOSE


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
