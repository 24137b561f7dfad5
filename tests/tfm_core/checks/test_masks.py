"""check_causal_mask and check_padding_mask: every convention is read, and planted mistakes get their names."""

import math

import pytest
import torch
from torch import nn

from tfm_core import causal_mask, padding_mask
from tfm_core.checks import check_causal_mask, check_padding_mask


def ones(n):
    return torch.ones(n, n)


CAUSAL = {
    "tril of floats": (lambda n: ones(n).tril(), "1 = may attend"),
    "booleans": (lambda n: torch.ones(n, n, dtype=torch.bool).tril(), "True = may attend"),
    "triu, compared": (lambda size: torch.triu(torch.ones(1, size, size), 1) == 0, "True = may attend"),
    "four axes": (lambda n: ones(n).tril().view(1, 1, n, n).long(), "1 = may attend"),
    "hidden": (lambda n: ones(n).triu(1).bool(), "True = hidden"),
    "torch’s": (nn.Transformer.generate_square_subsequent_mask, "added"),
    "−1e9": (lambda n: ones(n).triu(1) * -1e9, "added"),
    "ours": (causal_mask, "True = may attend"),
    "two lengths": (lambda q, k: torch.ones(q, k).tril(k - q), "1 = may attend"),
    "of ids": (lambda ids: ones(ids.shape[1]).tril().expand(len(ids), 1, -1, -1), "1 = may attend"),
    "comparison": (lambda n: torch.arange(n)[:, None] >= torch.arange(n), "True = may attend"),
}
CAUSAL_WRONG = {
    "diagonal hidden": lambda n: ones(n).tril(-1).bool(),
    "next token visible": lambda n: ones(n).tril(1),
    "looks ahead instead of back": lambda n: ones(n).triu().bool(),
    "causal mask forgotten": lambda n: torch.zeros(n, n) - torch.zeros(n, n, dtype=torch.float64),
    "causal mask from the wrong corner": lambda q, k: torch.ones(q, k).tril(),
    "mask inverted": lambda n: torch.full((n, n), -math.inf).tril(),
    "1e-9 for −1e9": lambda n: ones(n).triu(1) * 1e-9,
    "−1e-9 for −1e9": lambda n: ones(n).triu(1) * -1e-9,
}
PADDING = {
    "four axes": lambda ids: (ids != 0)[:, None, None, :],
    "three axes": lambda ids, pad: (ids != pad).unsqueeze(-2),
    "key_padding_mask": lambda ids: ids == 0,
    "attention_mask": lambda ids: (ids != 0).long(),
    "added": lambda ids, pad_idx=0: torch.zeros(*ids.shape).masked_fill(ids == pad_idx, -1e9)[:, None, None],
    "ours": padding_mask,
    "on both axes": lambda ids: (ids != 0)[:, None, None, :] & (ids != 0)[:, None, :, None],
    "with a causal mask": lambda ids: (ids != 0)[:, None, None, :] & ones(ids.shape[1]).tril().bool(),
}
PADDING_WRONG = {
    "padding on the query axis": lambda ids: (ids != 0)[:, None, :, None],
    "mask inverted": lambda ids: (ids == 0)[:, None, None, :],
    "first sentence’s padding for all": lambda ids: (ids != 0)[:1, None, None, :].expand(len(ids), -1, -1, -1),
    "padding mask forgotten": lambda ids, pad_id: (ids != 0)[:, None, None, :],
}


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_masks_are_right_in_each_convention(name):
    f, convention = CAUSAL[name]
    report = check_causal_mask(f)
    assert report, report
    assert convention in str(report)


@pytest.mark.parametrize("name", CAUSAL_WRONG)
def test_wrong_causal_masks_get_their_names(name):
    report = check_causal_mask(CAUSAL_WRONG[name])
    assert not report
    assert name in (report.mistake, *report.equal), report
    assert report.step == "mask"


@pytest.mark.parametrize("name", PADDING)
def test_masks_of_padding_are_right_in_each_form(name):
    assert check_padding_mask(PADDING[name]), check_padding_mask(PADDING[name])


@pytest.mark.parametrize("name", PADDING_WRONG)
def test_wrong_masks_of_padding_get_their_names(name):
    report = check_padding_mask(PADDING_WRONG[name])
    assert not report
    assert report.mistake == name, report


def test_floats_of_0_and_1_are_noted():
    assert "hide nothing where they are added" in str(check_causal_mask(lambda n: ones(n).tril()))


@pytest.mark.parametrize("check", [check_causal_mask, check_padding_mask])
def test_other_shapes_exceptions_and_what_is_no_function(check):
    assert "Expected an output of shape" in str(check(lambda n: torch.zeros(3)))
    assert "Expected an output of shape" in str(check(lambda n: object()))
    assert "ZeroDivisionError" in str(check(lambda n: 1 / 0))
    with pytest.raises(ValueError, match=r"expected a function .*; got 5"):
        check(5)
