"""Models of one shape: each is a copy of modules without numbers, and has its own parts, parameters and hooks."""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn

from tests.tfm_core.toys import build, tiny
from tfm_core import ARCHITECTURES, MultiHeadAttention, Transformer
from tfm_core.model.torch_twin import as_torch
from tfm_core.model.unfilled import copied

TOKENS = torch.tensor([[3, 1, 4, 1, 5]])


def inputs_of(model):
    return [TOKENS] * (1 + (model.config.architecture == "encoder-decoder"))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_models_of_one_shape_have_no_module_and_no_parameter_in_common(architecture):
    some, others = (build(architecture=architecture, seed=seed) for seed in (1, 2))
    assert not {*map(id, some.modules())} & {*map(id, others.modules())}
    assert not {*map(id, some.parameters())} & {*map(id, others.parameters())}
    assert [stack.config for stack in some._stacks()] == [some.config] * len(some._stacks())


def test_hooks_and_modes_of_a_model_are_its_own():
    watched, called = build(), []
    watched.train().stack.layers[0].register_forward_hook(lambda *_: called.append(1))
    build().eval()(TOKENS)
    assert not called
    assert watched.stack.layers[1].training
    watched(TOKENS)
    assert called == [1]


def test_what_becomes_of_a_model_without_numbers_becomes_of_no_other():
    config = tiny(d_ff=12)
    with torch.device("meta"):
        empty = Transformer(config)
    empty.double()
    empty.stack.layers[0].feed_forward = nn.Identity()
    model = Transformer(config)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert torch.isfinite(model(TOKENS)).all()


@pytest.mark.parametrize("tie_embeddings", [False, True])
def test_a_copy_with_other_parameters_is_what_deepcopy_makes(tie_embeddings):
    model = build(tie_embeddings=tie_embeddings)
    instead = {id(each): nn.Parameter(each.detach().double()) for each in model.parameters()}
    ours, theirs = copied(model, lambda each: instead[id(each)]), copy.deepcopy(model).double()
    assert torch.equal(ours(TOKENS), theirs(TOKENS))
    assert len([*ours.parameters()]) == len([*theirs.parameters()])
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_torchs_module_keeps_its_numbers_when_another_of_its_shape_is_made():
    first, second = (build(seed=seed).eval().stack.layers[0].self_attention for seed in (1, 2))
    assert isinstance(first, MultiHeadAttention)
    x = torch.linspace(-1, 1, 5 * first.d_model).view(1, 5, -1)
    twin = as_torch(first)
    before = twin(x, x, x)[0]
    as_torch(second)
    assert torch.equal(twin(x, x, x)[0], before)
    torch.testing.assert_close(before, first(x), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_logits_are_made_of_the_states(architecture):
    model = Transformer(replace(tiny(architecture=architecture), seed=3)).eval()
    with torch.no_grad():
        assert torch.equal(model.unembedding(model.states(*inputs_of(model))), model(*inputs_of(model)))
