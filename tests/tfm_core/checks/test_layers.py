"""check_encoder_layer and check_decoder_layer: pre- and post-norm are right, planted mistakes get their names."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from tests.tfm_core.checks.layer_listings import (
    DECODERS,
    ENCODERS,
    Attention,
    Block,
    Decoder,
    Encoder,
    FeedForward,
    PreNorm,
    assembled,
    changed,
)
from tfm_core.checks import check_decoder_layer, check_encoder_layer


@pytest.mark.parametrize("name", ENCODERS)
def test_encoder_layers_of_each_style_are_right(name):
    report = check_encoder_layer(ENCODERS[name])
    assert report, report
    assert report.largest_difference < 1e-4


@pytest.mark.parametrize("name", DECODERS)
def test_decoder_layers_of_each_style_are_right(name):
    report = check_decoder_layer(DECODERS[name])
    assert report, report


def test_the_text_tells_where_the_norms_stand():
    assert "Post-norm." in str(check_encoder_layer(Encoder))
    assert "Pre-norm." in str(check_encoder_layer(PreNorm))
    block = str(check_encoder_layer(Block))
    assert "Pre-norm. GELU is computed by tanh. It is causal by itself." in block


@given(seed=st.integers(0, 2**31), name=st.sampled_from(list(ENCODERS)))
@settings(deadline=None)
def test_right_layers_are_right_under_any_seed(seed, name):
    assert check_encoder_layer(ENCODERS[name], seed=seed)


def with_attention(**methods):
    """An encoder's layer whose attention has other methods."""

    class Its(Encoder):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__(d_model, num_heads, d_ff)
            self.attention = changed(Attention, **methods)(d_model, num_heads)

    return Its


def with_norms(forward):
    """An encoder's layer with other norms."""

    class Its(Encoder):
        def __init__(self, d_model, num_heads, d_ff):
            super().__init__(d_model, num_heads, d_ff)
            norm = type("LayerNorm", (nn.LayerNorm,), {"forward": forward})
            self.norm1, self.norm2 = norm(d_model), norm(d_model)

    return Its


def scores_of(q, k, v, mask, scale, dim=-1):
    scores = q @ k.mT * scale
    return (scores if mask is None else scores.masked_fill(mask == 0, -1e9)).softmax(dim) @ v


ENCODERS_WRONG = {
    "no scale": with_attention(attend=lambda self, q, k, v, mask: scores_of(q, k, v, mask, 1.0)),
    "softmax over the queries": with_attention(
        attend=lambda self, q, k, v, mask: scores_of(q, k, v, mask, q.shape[-1] ** -0.5, -2)
    ),
    "values from the keys": with_attention(attend=lambda self, q, k, v, m: scores_of(q, k, k, m, q.shape[-1] ** -0.5)),
    "mask forgotten": with_attention(attend=lambda self, q, k, v, m: scores_of(q, k, v, None, q.shape[-1] ** -0.5)),
    "mask inverted": with_attention(
        attend=lambda self, q, k, v, mask: scores_of(
            q, k, v, None if mask is None else ~mask.bool(), q.shape[-1] ** -0.5
        )
    ),
    "residual missing before the norm": changed(
        Encoder, forward=lambda self, x, mask=None: self.norm2(self.network(self.norm1(self.attention(x, x, x, mask))))
    ),
    "residual missing": changed(
        PreNorm,
        forward=lambda self, x, mask=None: self.network(self.norm2(self.attention(*[self.norm1(x)] * 3, mask))),
    ),
    "residual after the norm": changed(
        Encoder,
        forward=lambda self, x, mask=None: (lambda x: x + self.norm2(self.network(x)))(
            x + self.norm1(self.attention(x, x, x, mask))
        ),
    ),
    "residual around the normed input": changed(
        PreNorm,
        forward=lambda self, x, mask=None: (
            lambda h: (lambda h: h + self.network(h))(self.norm2(h + self.attention(h, h, h, mask)))
        )(self.norm1(x)),
    ),
    "activation missing": changed(
        Encoder,
        forward=lambda self, x, mask=None: (lambda x: self.norm2(x + self.network.w_2(self.network.w_1(x))))(
            self.norm1(x + self.attention(x, x, x, mask))
        ),
    ),
    "unbiased variance": with_norms(
        lambda self, x: (
            (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + self.eps).sqrt() * self.weight + self.bias
        )
    ),
    "norm over the tokens": with_norms(
        lambda self, x: (
            (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, correction=0) + self.eps).sqrt() * self.weight
            + self.bias
        )
    ),
    "gain forgotten": with_norms(lambda self, x: nn.functional.layer_norm(x, x.shape[-1:], None, self.bias, self.eps)),
    "dropout active": changed(
        Encoder, forward=lambda self, x, mask=None: nn.functional.dropout(Encoder.forward(self, x, mask), 0.2)
    ),
}


@pytest.mark.parametrize("name", ENCODERS_WRONG)
def test_each_planted_mistake_gets_its_name(name):
    report = check_encoder_layer(ENCODERS_WRONG[name])
    assert not report
    assert name in (report.mistake, *report.equal), report
    assert report.step


def test_a_mistake_in_a_single_sub_layer_is_told_with_its_place():
    report = check_encoder_layer(
        changed(
            Encoder,
            forward=lambda self, x, mask=None: self.norm2(self.network(self.norm1(x + self.attention(x, x, x, mask)))),
        )
    )
    assert report.mistake == "residual missing before the norm"
    assert "in the feed-forward network alone" in str(report)


def test_norms_of_both_kinds_in_a_layer_are_told():
    mixed = changed(
        PreNorm,
        forward=lambda self, x, mask=None: (lambda x: self.norm2(x + self.network(x)))(
            x + self.attention(*[self.norm1(x)] * 3, mask)
        ),
    )
    report = check_encoder_layer(mixed)
    assert not report
    assert "A sub-layer has its norm before it" in str(report)
    assert "Cure" not in str(report)
    assert "Cure: Put the norm at the same place" in str(check_encoder_layer(mixed, hint=True))


def test_what_no_mistake_gives_is_told_with_its_first_step():
    odd = with_attention(attend=lambda self, q, k, v, mask: scores_of(q, k, v, mask, 0.23))
    report = check_encoder_layer(odd)
    assert not report
    assert report.mistake == ""
    assert report.step == "output"


def wrong_decoder(**methods):
    return changed(Decoder, **methods)


DECODERS_WRONG = {
    "mask forgotten": wrong_decoder(looks_back=lambda self, x, mask: self.norms[0](x + self.self_attn(x, x, x, None))),
    "residual missing before the norm": wrong_decoder(
        looks_over=lambda self, x, memory, mask: self.norms[1](self.src_attn(x, memory, memory, mask))
    ),
    "residual after the norm": wrong_decoder(works=lambda self, x: x + self.norms[2](self.feed_forward(x))),
    "activation missing": wrong_decoder(
        works=lambda self, x: self.norms[2](x + self.feed_forward.w_2(self.feed_forward.w_1(x)))
    ),
}


@pytest.mark.parametrize("name", DECODERS_WRONG)
def test_each_planted_mistake_in_a_decoder_gets_its_name(name):
    report = check_decoder_layer(DECODERS_WRONG[name])
    assert not report
    assert name in (report.mistake, *report.equal), report


def test_memory_in_the_wrong_place_is_an_exception_that_is_told():
    report = check_decoder_layer(
        wrong_decoder(looks_over=lambda self, x, memory, mask: self.norms[1](x + self.src_attn(memory, x, x, mask)))
    )
    assert not report
    assert "RuntimeError" in str(report)


@pytest.mark.parametrize(
    ("check", "make"), [(check_encoder_layer, assembled), (check_decoder_layer, lambda: Decoder(16, 2, 30))]
)
def test_a_layer_is_unchanged_by_its_check(check, make):
    layer = make().train()
    before = {name: tensor.clone() for name, tensor in layer.state_dict().items()}
    assert check(layer)
    assert all(torch.equal(tensor, before[name]) for name, tensor in layer.state_dict().items())
    assert all(part.training for part in layer.modules())


@pytest.mark.parametrize("check", [check_encoder_layer, check_decoder_layer])
@pytest.mark.parametrize("bad", [5, None, nn.Linear(3, 3), lambda: math.pi, FeedForward])
def test_what_is_no_layer_is_refused(check, bad):
    with pytest.raises(ValueError, match=r"expected .*; got"):
        check(bad)
