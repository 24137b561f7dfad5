"""check_layer_norm and check_positional: listings of each style are right, planted mistakes get their names."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tfm_core import sinusoidal_encoding
from tfm_core.checks import check_layer_norm, check_positional


class Norm(nn.Module):
    """A norm with a place for a mistake."""

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2, self.b_2 = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
        self.eps = eps

    def spread(self, x):
        return torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + self.eps)

    def forward(self, x):
        return self.a_2 * (x - x.mean(-1, keepdim=True)) / self.spread(x) + self.b_2


class Renamed(nn.Module):
    def __init__(self, hidden_size, variance_epsilon=1e-12):
        super().__init__()
        self.gamma, self.beta = nn.Parameter(torch.ones(hidden_size)), nn.Parameter(torch.zeros(hidden_size))
        self.variance_epsilon = variance_epsilon

    def forward(self, x):
        u = x.mean(-1, keepdim=True)
        s = (x - u).pow(2).mean(-1, keepdim=True)
        return self.gamma * ((x - u) / torch.sqrt(s + self.variance_epsilon)) + self.beta


class WithoutEps(Norm):
    def spread(self, x):
        return torch.sqrt(x.var(-1, keepdim=True, correction=0) + 1e-5)

    def __init__(self, d_model):
        super().__init__(d_model)
        del self.eps


def by_hand(x, gamma, beta, eps):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(var + eps) + beta


NORMS = {
    "torch’s": nn.LayerNorm,
    "torch’s, without a shift": lambda: nn.LayerNorm(8, bias=False),
    "torch’s function": F.layer_norm,
    "instance": lambda: nn.LayerNorm(24, eps=1e-3),
    "module": Norm,
    "other names": Renamed,
    "epsilon unknown": WithoutEps,
    "arguments": by_hand,
    "input alone": lambda x: F.layer_norm(x, x.shape[-1:]),
}


def planted(forward=None, spread=None):
    """The class with another method."""
    return type("Planted", (Norm,), {key: f for key, f in (("forward", forward), ("spread", spread)) if f})


def over(*dims):
    def forward(self, x):
        var = x.var(dims, keepdim=True, correction=0)
        return self.a_2 * (x - x.mean(dims, keepdim=True)) / torch.sqrt(var + self.eps) + self.b_2

    return forward


NORMS_WRONG = {
    "norm over the tokens": planted(over(1)),
    "norm over tokens and width": planted(over(1, 2)),
    "norm over the batch": planted(over(0, 1)),
    "unbiased variance": planted(spread=lambda self, x: torch.sqrt(x.var(-1, keepdim=True) + self.eps)),
    "epsilon outside of the root": planted(spread=lambda self, x: x.std(-1, keepdim=True, correction=0) + self.eps),
    "torch’s std in the norm": planted(spread=lambda self, x: x.std(-1, keepdim=True) + self.eps),
    "norm without the root": planted(spread=lambda self, x: x.var(-1, keepdim=True, correction=0) + self.eps),
    "mean not subtracted": planted(
        lambda self, x: self.a_2 * x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps) + self.b_2
    ),
    "gain forgotten": planted(lambda self, x: (x - x.mean(-1, keepdim=True)) / self.spread(x) + self.b_2),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_norms_of_each_style_are_right(name, seed):
    f = NORMS[name]
    report = check_layer_norm(f() if name in ("instance", "torch’s, without a shift") else f, seed=seed)
    assert report, report


@pytest.mark.parametrize("name", NORMS_WRONG)
@pytest.mark.parametrize("seed", [0, 1])
def test_wrong_norms_get_their_names(name, seed):
    report = check_layer_norm(NORMS_WRONG[name], seed=seed)
    assert not report
    assert report.mistake == name, report
    assert report.step == "norm"


def test_an_epsilon_that_is_not_what_is_said_is_told():
    report = check_layer_norm(planted(spread=lambda self, x: torch.sqrt(x.var(-1, keepdim=True, correction=0) + 1e-12)))
    assert not report
    assert "Its epsilon is 1e-12, and it says 1e-06." in str(report)


def test_a_norm_is_unchanged_by_its_check():
    norm = Norm(8).train()
    check_layer_norm(norm)
    assert norm.training
    assert torch.equal(norm.a_2, torch.ones(8))
    assert torch.equal(norm.b_2, torch.zeros(8))


# positions


def table(seq_len, d_model, *, exponent=lambda i, d: 2 * i / d, base=10000.0, start=0):
    pe = torch.zeros(seq_len, d_model)
    position = torch.arange(start, start + seq_len, dtype=torch.float).unsqueeze(1)
    pairs = torch.arange(d_model // 2).float()
    turns = position / base ** exponent(pairs, d_model)
    pe[:, 0::2], pe[:, 1::2] = torch.sin(turns), torch.cos(turns)
    return pe


def by_logarithms(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]
    return pe.unsqueeze(0)


def by_loops(seq_len, d_model):
    rows = [
        [(math.sin, math.cos)[j % 2](t / 10000 ** ((j - j % 2) / d_model)) for j in range(d_model)]
        for t in range(seq_len)
    ]
    return torch.tensor(rows)


class Adds(nn.Module):
    """A module with a place for a mistake."""

    def __init__(self, d_model, dropout=0.1, max_len=5000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("pe", by_logarithms(max_len, d_model))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)].requires_grad_(False))


class InPlace(Adds):
    def forward(self, x):
        x += self.pe[:, : x.size(1)]
        return x


class Scales(Adds):
    def forward(self, x):
        return x * math.sqrt(x.size(-1)) + self.pe[:, : x.size(1)]


class Gives(Adds):
    def forward(self, x):
        return self.pe[:, : x.size(1)]


class Looks(Adds):
    def forward(self, ids):
        return self.pe[0][ids]


class AlongBatch(Adds):
    def forward(self, x):
        return x + self.pe.transpose(0, 1)[: x.size(0)]


class Nothing(Adds):
    def forward(self, x):
        return self.dropout(x)


class ScaledToo(Adds):
    def forward(self, x):
        return x + self.pe[:, : x.size(1)] * math.sqrt(x.size(-1))


POSITIONS = {
    "by logarithms": by_logarithms,
    "by loops": by_loops,
    "by exponents": table,
    "ours": sinusoidal_encoding,
    "width first": lambda d_model, seq_len: table(seq_len, d_model),
    "module": Adds,
    "instance": Adds(64),
    "in place": InPlace,
    "scales": Scales,
    "gives the table": Gives,
    "reads ids": Looks,
}
POSITIONS_WRONG = {
    "sines and cosines concatenated": lambda n, d: torch.cat([table(n, d)[:, 0::2], table(n, d)[:, 1::2]], -1),
    "sine and cosine exchanged": lambda n, d: table(n, d).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
    "i for 2i": lambda n, d: table(n, d, exponent=lambda i, d: i / d),
    "base 1,000": lambda n, d: table(n, d, base=1000.0),
    "base 100,000": lambda n, d: table(n, d, base=100000.0),
    "positions from 1": lambda n, d: table(n, d, start=1),
    "positions along the batch": AlongBatch,
    "no positions": Nothing,
    "positions scaled with the embedding": ScaledToo,
}


@pytest.mark.parametrize("name", POSITIONS)
def test_positions_of_each_style_are_right(name):
    report = check_positional(POSITIONS[name])
    assert report, report


@pytest.mark.parametrize("name", POSITIONS_WRONG)
def test_wrong_positions_get_their_names(name):
    report = check_positional(POSITIONS_WRONG[name])
    assert not report
    assert report.mistake == name, report


def test_positions_for_another_order_of_axes_are_told_so():
    assert "(seq, batch, d_model)" in str(check_positional(AlongBatch))


@pytest.mark.parametrize("check", [check_layer_norm, check_positional])
def test_shapes_exceptions_and_what_is_no_code(check):
    assert "Expected an output of shape" in str(check(lambda *args: torch.zeros(3)))
    assert "ZeroDivisionError" in str(check(lambda *args: 1 / 0))
    for bad in (5, None):
        with pytest.raises(ValueError, match=r"expected a function .*; got"):
            check(bad)
