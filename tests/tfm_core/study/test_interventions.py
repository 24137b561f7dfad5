"""Contributions and interventions, beside models that were changed by hand and beside loops."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.toys import build, largest_error, random_ids, scramble
from tfm_core import recording
from tfm_core.study.contribution import contribution_norms
from tfm_core.study.interventions import in_turn, set_weight, silence_head, zero_value

SITE = "layers.1.self_attention."
TOKENS = random_ids(2, 6)


def changed(model, **edits):
    with torch.no_grad(), recording(edits={SITE + what: edit for what, edit in edits.items()}) as trace:
        return model(TOKENS), trace


def test_contributions_are_the_norms_of_what_each_key_alone_would_write():
    model = scramble(build(), torch.float64)
    attention = model.stack.layers[1].self_attention
    _, trace = changed(model)
    weights, value = trace[SITE + "weights"], trace[SITE + "value"]
    for head in range(4):
        columns = slice(4 * head, 4 * head + 4)
        got = contribution_norms(weights[0, head], value[0, head], attention.output_projection.weight[:, columns].mT)
        alone = torch.zeros(6, 6, 16, dtype=torch.float64)  # (query, key, what the heads hand on)
        alone[..., columns] = weights[0, head, :, :, None] * value[0, head]
        with torch.no_grad():
            written = attention.output_projection(alone) - attention.output_projection.bias
        assert largest_error(got, written.norm(dim=-1)) < 1e-12


def test_contributions_of_several_heads_at_once_are_those_of_each():
    weights, value, matrix = torch.rand(3, 5, 7).softmax(-1), torch.randn(3, 7, 4), torch.randn(3, 4, 12)
    together = contribution_norms(weights, value, matrix)
    alone = torch.stack([contribution_norms(*sentence) for sentence in zip(weights, value, matrix, strict=True)])
    assert largest_error(together, alone) < 1e-6


@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
@pytest.mark.parametrize("head", range(4))
def test_a_silenced_head_equals_a_model_whose_output_projection_does_not_read_it(architecture, head):
    model, silent = (scramble(build(architecture=architecture), torch.float64) for _ in range(2))
    silent.load_state_dict(model.state_dict())
    with torch.no_grad():
        silent.stack.layers[1].self_attention.output_projection.weight[:, 4 * head : 4 * head + 4] = 0
        expected = silent(TOKENS)
    logits, _ = changed(model, head_output=silence_head(head))
    assert largest_error(logits, expected) < 1e-12
    assert largest_error(logits, model(TOKENS)) > 1e-3


@pytest.mark.parametrize("head", [None, 2])
def test_a_zeroed_value_takes_its_share_from_every_head_output(head):
    model = build()
    _, before = changed(model)
    _, after = changed(model, value=zero_value(3, head))
    weights, value = before[SITE + "weights"], before[SITE + "value"]
    share = weights[..., 3:4] * value[:, :, 3:4]
    if head is not None:
        share[:, [h for h in range(4) if h != head]] = 0
    assert largest_error(after[SITE + "head_output"], before[SITE + "head_output"] - share) < 1e-6
    assert torch.equal(after[SITE + "weights"], weights)


@given(
    cell=st.tuples(*[st.integers(0, 4)] * 2),
    weight=st.floats(0, 1),
    renormalise=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_weight_is_set_and_the_rest_of_its_row_keeps_its_proportions(cell, weight, renormalise, seed):
    weights = torch.randn(2, 3, 5, 5, generator=torch.Generator().manual_seed(seed)).softmax(-1).double()
    query, key = cell
    after = set_weight(1, query, key, weight, renormalise=renormalise)(weights.clone())
    assert after[:, 1, query, key].tolist() == pytest.approx([weight] * 2)
    untouched = torch.ones_like(weights, dtype=torch.bool)
    untouched[:, 1, query] = False
    assert torch.equal(after[untouched], weights[untouched])
    others = [i for i in range(5) if i != key]
    rest, was = after[:, 1, query][:, others], weights[:, 1, query][:, others]
    factor = (1 - weight) / was.sum(-1, keepdim=True) if renormalise else 1
    assert largest_error(rest, was * factor) < 1e-9
    if renormalise:
        assert after[:, 1, query].sum(-1).tolist() == pytest.approx([1, 1])


def test_a_row_without_other_weight_keeps_what_it_is_given():
    only = torch.tensor([[[[1.0, 0.0]]]])
    assert set_weight(0, 0, 0, 0.3)(only.clone()).tolist() == [[[[pytest.approx(0.3), 0]]]]
    nothing = torch.zeros(1, 1, 1, 2)
    assert set_weight(0, 0, 1, 0.5)(nothing.clone()).tolist() == [[[[0, 0.5]]]]


def test_a_weight_that_is_set_where_the_mask_forbids_lets_the_future_through():
    """The output of token 2 depends on token 4 if and only if the edit leaks."""
    model, other = build(architecture="decoder"), TOKENS.clone()
    other[:, 4] = other[:, 4] % 20 + 1
    leak = {SITE + "weights": set_weight(0, 2, 4, 0.5)}
    moved = {}
    for name, edits in (("whole", {}), ("leaking", leak)):
        with torch.no_grad(), recording([], edits):
            moved[name] = (model(TOKENS) - model(other))[:, 2].abs().max().item()
    assert moved["whole"] < 1e-6
    assert moved["leaking"] > 1e-3


def test_changes_of_one_site_come_in_turn():
    _, trace = changed(build(), head_output=in_turn(silence_head(0), silence_head(2)))
    silent = [not trace[SITE + "head_output"][:, head].any() for head in range(4)]
    assert silent == [True, False, True, False]
