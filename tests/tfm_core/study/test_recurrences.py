"""Recurrent networks at once, beside torch's own nn.RNN, nn.LSTM and nn.GRU, each alone."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import stack_module_state

from tfm_core.study.recurrences import recurrences


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@given(
    many=st.integers(1, 3),
    tokens=st.integers(1, 5),
    width=st.integers(1, 4),
    hidden=st.integers(1, 4),
    layers=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_outputs_and_gradients_are_torchs(kind, many, tokens, width, hidden, layers, seed):
    torch.manual_seed(seed)
    networks = [kind(width, hidden, layers, batch_first=True).double() for _ in range(many)]
    x = torch.randn(many, tokens, width, dtype=torch.float64, requires_grad=True)
    at_once = recurrences(networks[0], stack_module_state(networks)[0], x)
    alone = torch.cat([network(each)[0] for network, each in zip(networks, x.split(1), strict=True)])
    torch.testing.assert_close(at_once, alone)
    probe = torch.randn_like(alone)
    torch.testing.assert_close(*(torch.autograd.grad((each * probe).sum(), x)[0] for each in (at_once, alone)))
