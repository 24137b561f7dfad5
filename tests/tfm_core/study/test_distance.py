"""Gradients by distance: against matrices by hand, and what is known of recurrence, convolution and attention."""

import torch
from torch import Tensor, nn

from tfm_core import MultiHeadAttention, causal_mask, gradient_by_distance
from tfm_core.model.initialization import draw

X = draw(0, "x", (1, 8, 4), std=1.0)


def test_a_linear_recurrence_has_a_power_for_each_step() -> None:
    """h_t = h_(t-1) A + x_t: the gradient at distance k is A^k times the probe."""
    matrix, x, probe = (0.4 * draw(0, "A", (4, 4), std=1.0)).double(), X.double(), draw(0, "probe", (1, 4), std=1.0)

    def network(x: Tensor) -> Tensor:
        states = [torch.zeros_like(x[:, 0])]
        for step in range(x.shape[1]):
            states.append(states[-1] @ matrix + x[:, step])
        return torch.stack(states[1:], dim=1)

    by_hand = [(torch.linalg.matrix_power(matrix, k) @ probe.double()[0]).norm() for k in range(8)]
    torch.testing.assert_close(gradient_by_distance(network, x)[0], torch.stack(by_hand))


def test_torchs_rnn_is_its_chain_of_derivatives() -> None:
    """h_t = tanh(W x_t + U h_(t-1)): a product of diag(1 - h^2) and U for each step, written out."""
    rnn = nn.RNN(4, 3, batch_first=True, dtype=torch.float64)
    for name, parameter in rnn.named_parameters():
        parameter.data.copy_(draw(1, name, tuple(parameter.shape), std=0.7))
    states = rnn(X.double())[0][0].detach()
    gradient, by_hand = draw(0, "probe", (1, 3), std=1.0).double()[0], []
    for state in states.flip(0):
        inside = gradient * (1 - state**2)
        by_hand.append((inside @ rnn.weight_ih_l0).norm())
        gradient = inside @ rnn.weight_hh_l0
    measured = gradient_by_distance(lambda x: rnn(x)[0], X.double())[0]
    torch.testing.assert_close(measured, torch.stack(by_hand).detach())


def test_a_convolution_reaches_no_further_than_its_kernels() -> None:
    """Two layers of width 3 see the present and four inputs before it; what is further back has no gradient at all."""
    layers = [nn.Conv1d(4, 4, 3), nn.Conv1d(4, 4, 3)]

    def network(x: Tensor) -> Tensor:
        for layer in layers:
            x = layer(nn.functional.pad(x.mT, (2, 0))).mT
        return x

    measured = gradient_by_distance(network, X)[0]
    assert bool((measured[:5] > 0).all())
    assert not measured[5:].any()


def test_attention_reaches_every_distance_that_its_mask_allows() -> None:
    """One step suffices; the last query sees all keys under a causal mask, and itself alone under the identity."""
    attention = MultiHeadAttention(4, 2)
    assert bool((gradient_by_distance(lambda x: attention(x, mask=causal_mask(8)), X) > 0).all())
    alone = gradient_by_distance(lambda x: attention(x, mask=torch.eye(8, dtype=torch.bool)), X)[0]
    assert alone[0] > 0
    assert not alone[1:].any()
