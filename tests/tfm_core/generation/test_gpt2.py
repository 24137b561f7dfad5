"""A decoder as transformers' GPT-2: the same logits, and the same text."""

import pytest
import torch

from tests.tfm_core.toys import build, largest_error, random_ids, scramble
from tfm_core import to_gpt2

SHAPES = [
    {},
    {"num_layers": 4, "d_model": 24, "num_heads": 3, "d_ff": 0},
    {"num_heads": 1, "num_layers": 1, "d_ff": 7, "max_len": 12},
]


@torch.no_grad()
@pytest.mark.crossed(
    positional=["none", "sinusoidal", "learned"],
    attention=["full", "fused"],
    tie_embeddings=[True, False],
    shape=SHAPES,
)
def test_logits_are_those_of_gpt2(positional, attention, tie_embeddings, shape):
    model = build(
        architecture="decoder", positional=positional, attention=attention, tie_embeddings=tie_embeddings, **shape
    )
    scramble(model)
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    gpt2, tokens = to_gpt2(model), random_ids(3, 12)
    assert largest_error(gpt2(tokens).logits, model(tokens)) < 1e-4
    for parameter in gpt2.parameters():  # no memory in common
        parameter.zero_()
    assert all(torch.equal(parameter, before[name]) for name, parameter in model.named_parameters())


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"architecture": "encoder"}, "architecture decoder, as GPT-2 is a decoder; got 'encoder'"),
        ({"architecture": "encoder-decoder"}, "got 'encoder-decoder'"),
        ({"norm": "post"}, "expected norm pre, as GPT-2 norms before"),
        ({"activation": "swiglu"}, "expected activation gelu, as its network has no gate"),
        ({"positional": "rope"}, "expected positional none or sinusoidal or learned, as it adds positions"),
        ({"attention": "window"}, "expected attention full or fused, as each of its queries sees all"),
    ],
)
def test_what_gpt2_cannot_hold_is_refused_with_the_reason(changes, parts):
    with pytest.raises(ValueError, match=parts):
        to_gpt2(build(**{"architecture": "decoder", **changes}))
