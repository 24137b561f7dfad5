"""check_multi_head_attention: listings of many styles are right, and planted mistakes get their names."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.tfm_core.checks.listings import INSTANCES, RIGHT, Cloned, Fused, Parameters, Separate
from tfm_core.checks import check_multi_head_attention
from tfm_core.study.mistakes import MISTAKES


@pytest.mark.parametrize("name", RIGHT)
def test_listings_of_each_style_are_right(name):
    report = check_multi_head_attention(RIGHT[name])
    assert report, report
    assert report.largest_difference < 1e-4
    assert (report.step, report.mistake) == ("", "")


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_and_functions_are_right(name):
    report = check_multi_head_attention(INSTANCES[name]())
    assert report, report


@given(seed=st.integers(0, 2**31), name=st.sampled_from(["Cloned", "Fused", "Parameters", "Einsum", "KeyValue"]))
@settings(deadline=None)
def test_right_modules_are_right_under_any_seed(seed, name):
    assert check_multi_head_attention(RIGHT[name], seed=seed)


class Planted(nn.Module):
    """Attention with a place for each mistake; what is passed replaces the right way."""

    def __init__(self, d_model=32, num_heads=4, **wrong):
        super().__init__()
        self.num_heads, self.wrong, self.d_model = num_heads, wrong, d_model
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def piece(self, name, right):
        return self.wrong.get(name, right)

    def forward(self, x, mask=None):
        heads, width = self.num_heads, self.d_model // self.num_heads
        linear = self.piece("linear", lambda layer, x: layer(x))
        q, k, v = self.piece("roles", lambda q, k, v: (q, k, v))(
            *(linear(layer, x) for layer in (self.query, self.key, self.value))
        )
        split = self.piece("split", lambda x: x.view(*x.shape[:2], heads, width).transpose(1, 2))
        q, k, v = split(q), split(k), split(v)
        scores = self.piece("scores", lambda q, k: q @ k.mT / math.sqrt(width))(q, k)
        if mask is not None:
            scores = self.piece("hide", lambda scores, mask: scores.masked_fill(mask == 0, -1e9))(scores, mask)
        weights = self.piece("normalise", lambda scores: scores.softmax(-1))(scores)
        if mask is not None:
            weights = self.piece("after", lambda weights, mask: weights)(weights, mask)
        merged = self.piece("merge", lambda x: x.transpose(1, 2).flatten(2))(weights @ v)
        return self.piece("project", lambda layer, x: linear(layer, x))(self.out, merged)


PLANTED = {
    "weights transposed": {"linear": lambda layer, x: x @ layer.weight + layer.bias},
    "bias forgotten": {"linear": lambda layer, x: x @ layer.weight.T},
    "W_O missing": {"project": lambda layer, x: x},
    "queries and keys exchanged": {"roles": lambda q, k, v: (k, q, v)},
    "values from the queries": {"roles": lambda q, k, v: (q, k, q)},
    "values from the keys": {"roles": lambda q, k, v: (q, k, k)},
    "keys from the queries": {"roles": lambda q, k, v: (q, q, v)},
    "heads split without transpose": {"split": lambda x: x.reshape(x.shape[0], 4, x.shape[1], 8)},
    "heads interleaved": {"split": lambda x: x.view(*x.shape[:2], 8, 4).permute(0, 3, 1, 2)},
    "heads merged without transpose": {"merge": lambda x: x.reshape(x.shape[0], x.shape[2], 32)},
    "heads merged interleaved": {"merge": lambda x: x.permute(0, 2, 3, 1).flatten(2)},
    "heads averaged": {"merge": lambda x: x.mean(1).repeat(1, 1, 4)},
    "keys viewed, not transposed": {"scores": lambda q, k: q @ k.reshape(*k.shape[:2], 8, -1) / 8**0.5},
    "no scale": {"scores": lambda q, k: q @ k.mT},
    "scale by √d_model": {"scores": lambda q, k: q @ k.mT / math.sqrt(32)},
    "scale by d_k without the root": {"scores": lambda q, k: q @ k.mT / 8},
    "scale by d_model without the root": {"scores": lambda q, k: q @ k.mT / 32},
    "multiplied by √d_k": {"scores": lambda q, k: q @ k.mT * math.sqrt(8)},
    "softmax over the queries": {"normalise": lambda scores: scores.softmax(-2)},
    "softmax over the heads": {"normalise": lambda scores: scores.softmax(1)},
    "softmax over the batch": {"normalise": lambda scores: scores.softmax(0)},
    "no softmax": {"normalise": lambda scores: scores},
    "softmax without its sum": {"normalise": lambda scores: scores.exp()},
    "dropout active": {"normalise": lambda scores: nn.functional.dropout(scores.softmax(-1), 0.2)},
    "mask inverted": {"hide": lambda scores, mask: scores.masked_fill(mask.bool(), -1e9)},
    "mask added as 0 and 1": {"hide": lambda scores, mask: scores + mask},
    "scores multiplied by the mask": {"hide": lambda scores, mask: scores * mask},
    "1e-9 for −1e9": {"hide": lambda scores, mask: scores.masked_fill(mask == 0, 1e-9)},
    "−1e-9 for −1e9": {"hide": lambda scores, mask: scores.masked_fill(mask == 0, -1e-9)},
    "mask forgotten": {"hide": lambda scores, mask: scores},
    "mask after the softmax": {"hide": lambda scores, mask: scores, "after": lambda weights, mask: weights * mask},
}


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_mistake_gets_its_name(name):
    report = check_multi_head_attention(Planted(**PLANTED[name]), seed=len(name))
    assert not report
    assert name in (report.mistake, *report.equal), report
    assert report.step
    assert not report.largest_difference < 1e-3
    assert check_multi_head_attention(Planted())


def test_the_text_has_the_cure_only_as_a_hint():
    wrong = Planted(**PLANTED["no scale"])
    told, more = check_multi_head_attention(wrong), check_multi_head_attention(wrong, hint=True)
    mistake = MISTAKES["no scale"]
    assert "no scale" in str(told)
    assert mistake.cure not in str(told)
    assert mistake.symptom not in str(told)
    assert mistake.right_is not in str(told)
    assert mistake.cure in str(more)
    assert mistake.symptom in str(more)


@pytest.mark.parametrize("make", [Planted, lambda: Cloned(4, 32), lambda: nn.MultiheadAttention(32, 4)])
def test_a_check_leaves_everything_as_it_was(make):
    module = make().train()
    module.register_buffer("kept", torch.arange(3.0))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    state = torch.get_rng_state()
    threads = torch.get_num_threads()
    check_multi_head_attention(module)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert module.training
    assert all(part.training for part in module.modules())
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert all(p.grad is None and p.requires_grad for p in module.parameters())


def test_conventions_that_are_another_are_noted():
    inverted = check_multi_head_attention(Planted(**PLANTED["mask inverted"]))
    assert "True means “hidden”" in str(inverted)
    added = check_multi_head_attention(Planted(**PLANTED["mask added as 0 and 1"]))
    assert "a mask that is added" in str(added)
    assert "causal by itself" in str(check_multi_head_attention(Fused))


def test_keys_of_the_wrong_sequence_are_told():
    class Mine(Separate):
        def forward(self, query, key, value, attn_mask=None):
            return super().forward(query, query, value, attn_mask)

    report = check_multi_head_attention(Mine)
    assert not report
    assert report.step == "key"
    assert "The keys are made of what the queries are made of" in str(report)


def test_what_no_mistake_gives_is_told_without_a_name():
    report = check_multi_head_attention(Planted(scores=lambda q, k: q @ k.mT / 2.9))
    assert not report
    assert report.mistake == ""
    assert "No mistake of the catalogue" in str(report)


def test_two_mistakes_at_once_are_both_named():
    report = check_multi_head_attention(Planted(scores=lambda q, k: q @ k.mT, merge=PLANTED["heads averaged"]["merge"]))
    assert not report
    assert {"no scale", "heads averaged"} <= {name for name in MISTAKES if name in str(report)}


def test_exceptions_of_the_code_are_told_and_interruptions_pass():
    class Fails(Parameters):
        def forward(self, q, k, v, mask=None):
            return self.heads(q) @ self.W_q.mT.repeat(2, 1)

    class Stops(Parameters):
        def forward(self, q, k, v, mask=None):
            raise KeyboardInterrupt

    report = check_multi_head_attention(Fails)
    assert not report
    assert "RuntimeError" in str(report)
    with pytest.raises(KeyboardInterrupt):
        check_multi_head_attention(Stops)


@pytest.mark.parametrize("bad", [5, None, "attention", lambda: 3, nn.ReLU, nn.Identity()])
def test_what_is_no_module_is_refused(bad):
    with pytest.raises(ValueError, match=r"expected .*; got"):
        check_multi_head_attention(bad)
