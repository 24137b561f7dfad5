"""The feed-forward network and the layer around it."""

import pytest
import torch

from tests.tfm_core.toys import largest_error
from tfm_core import ACTIVATIONS, NORMS, FeedForward, TransformerLayer

X = torch.ones(1, 3, 8)
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


@every_activation
def test_only_gated_networks_have_a_gate(activation):
    names = {name.split(".")[0] for name, _ in FeedForward(8, 12, activation=activation).named_parameters()}
    gate = {"gate_projection"} if ACTIVATIONS[activation].gated else set()
    assert names == {"input_projection", "output_projection"} | gate


@pytest.mark.parametrize("norm", NORMS)
def test_dropout_acts_while_training_alone(norm):
    x = torch.randn(2, 5, 8)
    layer = TransformerLayer(8, 2, 12, norm=norm, dropout=0.5)
    assert largest_error(layer.train()(x), layer(x)) > 1e-3
    same = TransformerLayer(8, 2, 12, norm=norm)
    same.load_state_dict(layer.state_dict())
    assert torch.equal(layer.eval()(x), layer(x))
    assert torch.equal(layer(x), same.train()(x))


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
