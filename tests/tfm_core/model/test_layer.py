"""The feed-forward network and the layer around it."""

import pytest
import torch

from tests.tfm_core.toys import largest_error, scramble
from tfm_core import ACTIVATIONS, NORMS, FeedForward, TransformerLayer, recording

X = torch.ones(1, 3, 8)
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


@every_activation
def test_the_feed_forward_network_reads_each_position_alone(activation):
    network = scramble(FeedForward(8, 12, activation=activation))
    x = torch.randn(2, 5, 8)
    assert largest_error(network(x)[:, 3:4], network(x[:, 3:4])) < 1e-5


@every_activation
def test_only_gated_networks_have_a_gate(activation):
    names = {name.split(".")[0] for name, _ in FeedForward(8, 12, activation=activation).named_parameters()}
    gate = {"gate_projection"} if ACTIVATIONS[activation].gated else set()
    assert names == {"input_projection", "output_projection"} | gate


@pytest.mark.parametrize("norm", NORMS)
def test_a_layer_whose_sublayers_add_nothing_passes_the_stream_on(norm):
    layer = TransformerLayer(8, 2, 12, norm=norm)
    with torch.no_grad():
        for sub_layer in (layer.self_attention, layer.feed_forward):
            for parameter in sub_layer.output_projection.parameters():
                parameter.zero_()
    x = torch.randn(2, 5, 8)
    unit = (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True, unbiased=False)
    assert largest_error(layer(x), x if norm == "pre" else unit) < 1e-4


@pytest.mark.parametrize("norm", NORMS)
def test_post_norm_comes_out_normed_and_pre_norm_goes_in_normed(norm):
    layer = TransformerLayer(8, 2, 12, norm=norm)
    with recording() as trace:
        layer(torch.randn(2, 5, 8) * 9 + 4)
    site = "normed" if norm == "pre" else "residual_after"
    for sub_layer in ("self_attention", "feed_forward"):
        normed = trace[f"{sub_layer}.{site}"]
        assert normed.mean(-1).abs().max() < 1e-5
        assert (normed.std(-1, unbiased=False) - 1).abs().max() < 1e-3


@pytest.mark.parametrize("norm", NORMS)
def test_dropout_acts_while_training_alone(norm):
    x = torch.randn(2, 5, 8)
    layer = TransformerLayer(8, 2, 12, norm=norm, dropout=0.5)
    assert largest_error(layer.train()(x), layer(x)) > 1e-3
    same = TransformerLayer(8, 2, 12, norm=norm)
    same.load_state_dict(layer.state_dict())
    assert torch.equal(layer.eval()(x), layer(x))
    assert torch.equal(layer(x), same.train()(x))


def test_with_a_memory_the_layer_needs_cross_attention_and_looks_only_where_it_may():
    layer = scramble(TransformerLayer(8, 2, 12, cross_attention=True))
    x, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    mask = torch.tensor([[True, True, True, False, False]])
    other = memory.clone()
    other[:, 3:] = 100.0
    assert torch.equal(layer(x, memory=memory, memory_mask=mask), layer(x, memory=other, memory_mask=mask))
    assert largest_error(layer(x, memory=memory), layer(x, memory=memory * 2)) > 1e-3


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: FeedForward(8, 0), ["at least 1", "8 and 0"]),
        (lambda: FeedForward(8, 12, activation="tanh"), ["activation", "relu, gelu", "'tanh'"]),
        (lambda: TransformerLayer(8, 2, 12, norm="both"), ["norm", "pre, post", "'both'"]),
        (lambda: TransformerLayer(8, 2, 12, attention="half"), ["attention", "full", "'half'"]),
        (lambda: TransformerLayer(8, 2, 12)(X, memory=X), ["no cross-attention", "(1, 3, 8)"]),
        (lambda: TransformerLayer(8, 2, 12, cross_attention=True)(X), ["memory", "None"]),
    ],
    ids=["no hidden units", "activation", "norm", "attention", "memory too many", "no memory"],
)
def test_what_a_layer_cannot_do_is_refused_in_words(call, parts):
    with pytest.raises(ValueError, match=r"expected .*got") as error:
        call()
    assert all(part in str(error.value) for part in parts)
