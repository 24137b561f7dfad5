"""Weights by name: drawn from (seed, name of the parameter) and from nothing else."""

import math
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch

from tests.tfm_core.toys import build
from tfm_core import ARCHITECTURES, NORMS, POSITIONAL, Transformer, TransformerConfig, causal_mask, encode, recording
from tfm_core.model.initialization import draw

PINNED = [-0.9864470362663269, 1.6255848407745361, 0.15994271636009216]
SENTENCE = "the cat sat on the mat because it was tired"


def weights(**changes):
    return {name: parameter.detach() for name, parameter in build(**changes).named_parameters()}


def assert_equal(some, others):
    assert some.keys() == others.keys()
    assert [name for name in some if not torch.equal(some[name], others[name])] == []


def test_a_draw_is_pinned_because_links_promise_the_same_picture_for_ever():
    assert draw(7, "stack.embedding.weight", (3,), 1.0).tolist() == pytest.approx(PINNED, abs=1e-7)


@pytest.mark.parametrize("positional", POSITIONAL)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_weights_are_the_same_in_any_order_of_building_and_no_global_random_state_is_read_or_moved(
    architecture, positional
):
    before = torch.get_rng_state(), random.getstate()
    drawn = weights(architecture=architecture, positional=positional)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    torch.manual_seed(99)
    build(seed=8)
    assert_equal(drawn, weights(architecture=architecture, positional=positional))


def test_the_same_configuration_gives_the_same_weights_on_any_thread():
    schemes = list(POSITIONAL)
    expected = {scheme: weights(positional=scheme) for scheme in schemes}
    together = Barrier(8)

    def build_many(thread):
        order = random.Random(thread).choices(schemes, k=25)
        together.wait(timeout=30)
        return [(scheme, weights(positional=scheme)) for scheme in order]

    with ThreadPoolExecutor(8) as pool:
        for built in pool.map(build_many, range(8)):
            for scheme, drawn in built:
                assert_equal(drawn, expected[scheme])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize(
    ("changes", "extra"),
    [
        *[({"positional": scheme}, "positional.weight") for scheme in POSITIONAL],
        *[({"norm": norm}, "final_norm") for norm in NORMS],
        ({"num_layers": 5}, "layers."),
        ({"activation": "swiglu"}, "gate_projection"),
        ({"activation": "relu", "dropout": 0.5, "pad_id": 3}, None),
    ],
    ids=str,
)
def test_two_configurations_share_all_weights_that_they_have_in_common(architecture, changes, extra):
    plain, changed = weights(architecture=architecture), weights(architecture=architecture, **changes)
    common = plain.keys() & changed.keys()
    assert_equal({name: plain[name] for name in common}, {name: changed[name] for name in common})
    assert all(extra is not None and extra in name for name in plain.keys() ^ changed.keys())
    assert len(common) > 20


def test_an_encoder_and_a_decoder_share_all_weights():
    assert_equal(weights(), weights(architecture="decoder"))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("positional", ["learned", "t5"])
def test_no_two_drawn_parameters_are_alike_and_another_seed_changes_them_all(architecture, positional):
    first, second = (weights(architecture=architecture, positional=positional, seed=seed) for seed in (1, 2))
    drawn = [name for name, value in first.items() if value.std() > 0]
    assert all(name.endswith("weight") for name in drawn)
    openings = {tuple((first[name] / first[name].std()).flatten()[:8].tolist()) for name in drawn}
    assert len(openings) == len(drawn)
    assert not any(torch.equal(first[name], second[name]) for name in drawn)


@pytest.mark.parametrize(
    ("name", "std"),
    [
        ("stack.embedding.weight", 1 / 8),
        ("unembedding.weight", 1 / 8),
        ("stack.layers.0.self_attention.value_projection.weight", 1 / 8),
        ("stack.layers.0.self_attention.query_projection.weight", 1.3 / 8),
        ("stack.layers.1.self_attention.key_projection.weight", 1.3 / 8),
        ("stack.layers.1.feed_forward.output_projection.weight", 1 / 16),
        ("stack.positional.weight", math.sqrt(0.5)),
    ],
)
def test_the_spread_of_each_kind_of_weight(name, std):
    drawn = weights(d_model=64, d_ff=256, vocab_size=300, positional="learned")[name]
    assert drawn.dtype == torch.float32
    assert drawn.std().item() == pytest.approx(std, rel=0.05)
    assert abs(drawn.mean().item()) < 0.05 * std * 3
    assert drawn.abs().max() <= std * math.sqrt(3) * (1 + 1e-6)


@pytest.mark.parametrize("positional", POSITIONAL)
def test_norms_start_as_identity_and_biases_at_zero(positional):
    for name, value in weights(positional=positional, architecture="encoder-decoder").items():
        if name.endswith(".bias"):
            assert not value.any(), name
        elif "norm" in name:
            assert (value == 1).all(), name
        else:
            assert 0 < value.std() < 10, name


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_tied_embeddings_are_one_matrix(architecture):
    model = build(architecture=architecture, tie_embeddings=True)
    tied = [value for name, value in model.named_parameters(remove_duplicate=False) if "embedding" in name]
    assert len(tied) == (3 if architecture == "encoder-decoder" else 2)
    assert len({id(value) for value in tied}) == 1
    first = next(name for name, _ in build(architecture=architecture).named_parameters() if "embedding" in name)
    assert torch.equal(tied[0], weights(architecture=architecture)[first])


@torch.no_grad()
@pytest.mark.crossed(positional=POSITIONAL, norm=NORMS, seed=[0, 1, 7, 42])
def test_the_first_layer_is_worth_looking_at(positional, norm, seed):
    """The mean entropy of its rows, as a share of the largest possible, is neither near 0 nor near 1."""
    tokens = encode(SENTENCE)
    model = Transformer(TransformerConfig(vocab_size=4096, positional=positional, norm=norm, seed=seed)).eval()
    with recording("layers.0.self_attention.weights") as trace:
        model(tokens.batch, mask=causal_mask(len(tokens.ids)))
    rows = trace["layers.0.self_attention.weights"][0, :, 1:].double()  # the first query sees one key
    surprise = -(rows * rows.clamp(min=1e-30).log()).sum(-1)
    visible = torch.arange(2, len(tokens.ids) + 1).double()
    assert 0.3 < (surprise / visible.log()).mean() < 0.9
