"""Laws of LoRA, beside torch's own parametrization and the paper's formula in float64. Hu et al. 2021."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrize

from tfm_core.model.classifier import SequenceClassifier
from tfm_core.model.config import TransformerConfig
from tfm_core.training.compare.finetuning.lora import (
    ADAPTED,
    ALPHA,
    LowRank,
    add_low_rank,
    attentions,
    low_rank_parameters,
    merge,
)

CONFIG = TransformerConfig(vocab_size=50, d_model=16, num_heads=4, num_layers=3, norm="post", seed=3)
TOKENS = torch.tensor([[5, 6, 7, 8, 0], [9, 10, 11, 12, 13]])


def model_with(rank: int, *, trained: bool = False, config: TransformerConfig = CONFIG) -> SequenceClassifier:
    model = SequenceClassifier(config, 3).eval()
    add_low_rank(model, rank, seed=1)
    if trained:
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if name.endswith(".up"):
                    parameter.copy_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(len(name))))
    return model


@pytest.mark.parametrize("rank", [1, 2, 8])
def test_before_training_it_is_the_model_that_there_was(rank):
    with torch.no_grad():
        assert torch.equal(model_with(rank)(TOKENS), SequenceClassifier(CONFIG, 3).eval()(TOKENS))


@pytest.mark.parametrize("rank", [2, 8])
def test_merged_weights_do_the_same_and_the_model_has_its_old_form(rank):
    model = model_with(rank, trained=True)
    with torch.no_grad():
        expected = model(TOKENS)
        merge(model)
        got = model(TOKENS)
        assert not torch.allclose(got, SequenceClassifier(CONFIG, 3).eval()(TOKENS), atol=1e-3)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    plain = SequenceClassifier(CONFIG, 3)
    assert {name: value.shape for name, value in model.state_dict().items()} == {
        name: value.shape for name, value in plain.state_dict().items()
    }


class Product(nn.Module):
    """W + (alpha / r) B A, as torch's parametrization wants it."""

    def __init__(self, up, down, rank):
        super().__init__()
        self.up, self.down, self.scale = up, down, ALPHA / rank

    def forward(self, weight):
        return weight + self.scale * self.up @ self.down


def test_output_and_gradients_are_those_of_a_parametrization():
    rank, x = 2, torch.randn(4, 7, 16, generator=torch.Generator().manual_seed(0))
    ours = LowRank(nn.Linear(16, 12), rank, name="a map")
    with torch.no_grad():
        ours.up.copy_(torch.randn(ours.up.shape, generator=torch.Generator().manual_seed(1)))
    theirs = nn.Linear(16, 12)
    theirs.load_state_dict(ours.base.state_dict())
    up, down = nn.Parameter(ours.up.detach().clone()), nn.Parameter(ours.down.detach().clone())
    parametrize.register_parametrization(theirs, "weight", Product(up, down, rank))
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.merged()(x), theirs(x))
    weighted = torch.randn(4, 7, 12, generator=torch.Generator().manual_seed(2))
    (ours(x) * weighted).sum().backward()
    (theirs(x) * weighted).sum().backward()
    torch.testing.assert_close(ours.up.grad, up.grad, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(ours.down.grad, down.grad, atol=1e-4, rtol=1e-5)
    assert ours.base.weight.grad is None


def test_it_is_the_formula_of_the_paper_in_float64():
    ours = LowRank(nn.Linear(6, 4).double(), 3, name="x", alpha=5.0).double()
    with torch.no_grad():
        ours.up.copy_(torch.arange(12.0).view(4, 3))
    x = torch.arange(6.0, dtype=torch.float64)
    expected = ours.base.weight @ x + ours.base.bias + 5.0 / 3 * ours.up @ (ours.down @ x)
    torch.testing.assert_close(ours(x), expected)


@pytest.mark.parametrize("kv_heads", [0, 2])
@pytest.mark.parametrize("rank", [1, 2, 8])
def test_what_is_trained_in_closed_form(rank, kv_heads):
    config = TransformerConfig(vocab_size=50, d_model=16, num_heads=4, num_layers=3, num_kv_heads=kv_heads)
    model = model_with(rank, config=config)
    trained = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    assert trained == low_rank_parameters(config, rank)
    if not kv_heads:
        assert trained == 3 * 2 * rank * (16 + 16)


def test_only_queries_and_values_are_adapted_and_no_two_alike():
    model = model_with(2)
    first = [attention.query_projection.down for _, attention in attentions(model)]
    assert len(first) == 3
    assert not torch.equal(first[0], first[1])
    for _, attention in attentions(model):
        for which in ("query_projection", "key_projection", "value_projection", "output_projection"):
            assert isinstance(getattr(attention, which), LowRank) == (which in ADAPTED)


@pytest.mark.parametrize("rank", [0, 9, -1, 2.0, True])
def test_a_rank_that_is_none_is_refused(rank):
    with pytest.raises(ValueError, match="rank: expected 1 to 8, the smaller side"):
        LowRank(nn.Linear(16, 8), rank)
