"""check_attention: functions of many styles are right, planted mistakes get their names, exceptions are told."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.tfm_core.checks.listings import attend
from tfm_core import scaled_dot_product_attention
from tfm_core.checks import Report, check_attention


def three_axes(q, k, v, m=None):
    batch, seq, width = q.shape
    scores = torch.bmm(q, k.permute(0, 2, 1)) / width**0.5
    if m is not None:
        scores = scores.masked_fill(~m.bool(), -torch.inf)
    return torch.bmm(F.softmax(scores, dim=2), v).view(batch, seq, width)


def weights_first(query, key, value, mask=None):
    out, weights = attend(query, key, value, mask)
    return weights, out


def by_numbers(Q, K, V, mask):
    scores = torch.einsum("bhqd,bhkd->bhqk", Q, K) / math.sqrt(K.shape[-1])
    if mask is not None:
        scores = scores + (1 - mask.float()) * -1e9
    return {"out": scores.softmax(-1) @ V}


def values_first(values, keys, query):
    return F.scaled_dot_product_attention(query, keys, values)


class Module(nn.Module):
    def __init__(self, temperature, attn_dropout=0.1):
        super().__init__()
        self.temperature, self.dropout = temperature, nn.Dropout(attn_dropout)

    def forward(self, q, k, v, mask=None):
        attn = torch.matmul(q / self.temperature, k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, -1e9)
        attn = self.dropout(F.softmax(attn, dim=-1))
        return torch.matmul(attn, v), attn


RIGHT = {
    "output and weights": attend,
    "torch’s": F.scaled_dot_product_attention,
    "ours": lambda q, k, v, mask=None: scaled_dot_product_attention(q, k, v, mask),
    "three axes": three_axes,
    "weights first": weights_first,
    "numbers": by_numbers,
    "values first": values_first,
    "module": Module,
    "instance": Module(6**0.5),
    "no mask": lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
}


def masked(hide=None, weigh=None, scale=None, after=None):
    """A function with a mistake in the place that is handed over."""

    def f(q, k, v, mask=None):
        scores = (q @ k.mT) * (q.shape[-1] ** -0.5 if scale is None else scale(q))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -torch.inf) if hide is None else hide(scores, mask)
        weights = (weigh or (lambda scores: scores.softmax(-1)))(scores)
        return (weights if after is None or mask is None else after(weights, mask)) @ v

    return f


PLANTED = {
    "no scale": masked(scale=lambda q: 1.0),
    "scale by d_k without the root": masked(scale=lambda q: 1 / q.shape[-1]),
    "scale by √d_model": masked(scale=lambda q: (q.shape[1] * q.shape[-1]) ** -0.5),
    "multiplied by √d_k": masked(scale=lambda q: q.shape[-1] ** 0.5),
    "softmax over the queries": masked(weigh=lambda scores: scores.softmax(-2)),
    "softmax over the heads": masked(weigh=lambda scores: scores.softmax(1)),
    "softmax over the batch": masked(weigh=lambda scores: scores.softmax(0)),
    "no softmax": masked(weigh=lambda scores: scores),
    "softmax without its sum": masked(weigh=lambda scores: scores.exp()),
    "dropout active": masked(weigh=lambda scores: F.dropout(scores.softmax(-1), 0.1)),
    "mask inverted": masked(hide=lambda scores, mask: scores.masked_fill(mask.bool(), -1e9)),
    "mask forgotten": masked(hide=lambda scores, mask: scores),
    "mask added as 0 and 1": masked(hide=lambda scores, mask: scores + mask),
    "1e-9 for −1e9": masked(hide=lambda scores, mask: scores.masked_fill(mask == 0, 1e-9)),
    "mask after the softmax": masked(hide=lambda scores, mask: scores, after=lambda weights, mask: weights * mask),
    "queries and keys exchanged": lambda q, k, v: F.scaled_dot_product_attention(k, q, v),
    "values from the keys": lambda q, k, v: F.scaled_dot_product_attention(q, k, k),
}


@pytest.mark.parametrize("name", RIGHT)
def test_functions_of_each_style_are_right(name):
    report = check_attention(RIGHT[name])
    assert report, report
    assert str(report).startswith("check_attention: right. Largest difference from tfm_core’s result: ")


@given(seed=st.integers(0, 2**31), name=st.sampled_from(list(RIGHT)))
@settings(deadline=None)
def test_right_functions_are_right_under_any_seed(seed, name):
    assert check_attention(RIGHT[name], seed=seed)


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_mistake_gets_its_name(name):
    report = check_attention(PLANTED[name], seed=len(name))
    assert not report
    assert name in (report.mistake, *report.equal), report
    assert report.step


def test_code_that_is_right_for_another_convention_is_told_so():
    assert "as nn.MultiheadAttention takes them" in str(check_attention(PLANTED["mask inverted"]))
    assert "a mask that is added" in str(check_attention(PLANTED["mask added as 0 and 1"]))


def test_wrong_shapes_and_exceptions_are_told():
    report = check_attention(lambda q, k, v: (q @ k.mT).softmax(-1))
    assert "Expected an output of shape (2, 4, 7, 6); got (2, 4, 7, 7)" in str(report)
    report = check_attention(lambda q, k, v: q @ k @ v)
    assert "RuntimeError" in report.error
    assert "RuntimeError" in str(report)
    assert math.isnan(report.largest_difference)


def test_interruptions_pass():
    def stops(q, k, v):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_attention(stops)


@pytest.mark.parametrize("bad", [5, None, "f", torch.zeros(2)])
def test_what_cannot_be_called_is_refused(bad):
    with pytest.raises(ValueError, match=r"check_attention: expected a function .*; got"):
        check_attention(bad)


def test_a_report_is_frozen_and_shows_itself_as_text():
    report = check_attention(PLANTED["no scale"], hint=True)
    assert isinstance(report, Report)
    assert repr(report) == str(report)
    assert "Cure:" in str(report)
    assert "Symptom:" in str(report)
    with pytest.raises(AttributeError):
        report.ok = True


def test_random_numbers_of_others_are_not_touched():
    state = torch.get_rng_state()
    check_attention(PLANTED["dropout active"])
    assert torch.equal(torch.get_rng_state(), state)


def test_a_module_keeps_its_mode():
    module = Module(6**0.5).train()
    assert check_attention(module)
    assert module.training
    assert module.dropout.training


def test_code_may_work_in_place():
    def in_place(q, k, v, mask=None):
        q *= q.shape[-1] ** -0.5
        scores = q @ k.mT
        if mask is not None:
            scores.masked_fill_(mask.logical_not_(), -torch.inf)
        return scores.softmax(-1) @ v

    assert check_attention(in_place), check_attention(in_place)
    in_place_and_wrong = masked(scale=lambda q: q.mul_(0).add_(1).mean() / 2)
    assert not check_attention(in_place_and_wrong)
