"""Weights recorded without the scores before them: less memory, the same last digit."""

import pytest
import torch

from tests.tfm_core.toys import broadcasting_to, build, largest_error, random_ids, scramble
from tfm_core import (
    ACTIVATIONS,
    MultiHeadAttention,
    attention_scores,
    attention_weights,
    causal_mask,
    mask_scores,
    recording,
    scaled_dot_product_attention,
)
from tfm_core.model import weights_in_parts
from tfm_core.model.feed_forward import IN_PLACE
from tfm_core.model.scaled_dot_product import attended_alone, fused_attention, gathered_alone, weights_alone

BATCH, HEADS, QUERIES, KEYS = 5, 2, 3, 21
MASKS = [None, *broadcasting_to(BATCH, HEADS, QUERIES, KEYS)]
# The way for many tokens, on few: 5 sequences in 5 parts, in 3, and the way for few tokens.
PARTS = {"one by one": 1, "two at a time": 2 * HEADS * QUERIES * KEYS, "all at once": 2**20}


@pytest.fixture(params=PARTS)
def at_a_time(request, monkeypatch):
    monkeypatch.setattr(weights_in_parts, "SCORES_AT_A_TIME", PARTS[request.param])


def in_steps(query, key, mask=None, bias=None):
    return attention_weights(mask_scores(attention_scores(query, key, bias=bias), mask), mask)


def heads_of(x):
    """(batch, seq, d_model) -> (batch, head, seq, head_dim), laid out in memory as the model has it."""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


@torch.no_grad()
@pytest.mark.crossed(
    shape=MASKS, with_bias=[False, True], dtype=[torch.float32, torch.float64, torch.bfloat16], parts=PARTS.values()
)
def test_the_weights_are_those_of_the_three_steps_to_the_last_digit(shape, with_bias, dtype, parts, monkeypatch):
    monkeypatch.setattr(weights_in_parts, "SCORES_AT_A_TIME", parts)
    query, key = (
        heads_of(torch.randn(BATCH, QUERIES, 8, dtype=dtype)),
        heads_of(torch.randn(BATCH, KEYS, 8, dtype=dtype)),
    )
    mask = None if shape is None else torch.rand(shape) < 0.4
    bias = torch.randn(HEADS, QUERIES, KEYS, dtype=dtype) if with_bias else None
    got = weights_alone(query, key, mask, bias=bias)
    assert got.dtype == dtype
    assert torch.equal(got, in_steps(query, key, mask, bias))


@torch.no_grad()
@pytest.mark.crossed(shape=MASKS, dtype=[torch.float32, torch.float64], parts=PARTS.values())
def test_what_heads_gather_with_a_bias_is_what_torch_gathers(shape, dtype, parts, monkeypatch):
    monkeypatch.setattr(weights_in_parts, "SCORES_AT_A_TIME", parts)
    query, key, value = (heads_of(torch.randn(BATCH, length, 8, dtype=dtype)) for length in (QUERIES, KEYS, KEYS))
    mask = None if shape is None else torch.rand(shape) < 0.4
    bias = torch.randn(HEADS, QUERIES, KEYS, dtype=dtype)
    got = gathered_alone(query, key, value, mask, bias)
    assert got.dtype == dtype
    torch.testing.assert_close(got, weights_alone(query, key, mask, bias=bias) @ value)
    torch.testing.assert_close(got, fused_attention(query, key, value, mask, bias))


@torch.no_grad()
@pytest.mark.crossed(
    shape=MASKS, with_bias=[False, True], dtype=[torch.float32, torch.float64], parts=PARTS.values(), laid_out=[0, 1]
)
def test_values_met_part_by_part_are_what_torch_gathers_and_leave_the_weights_as_they_are(
    shape, with_bias, dtype, parts, laid_out, monkeypatch
):
    monkeypatch.setattr(weights_in_parts, "SCORES_AT_A_TIME", parts)
    query, key = (heads_of(torch.randn(BATCH, length, 8, dtype=dtype)) for length in (QUERIES, KEYS))
    value = heads_of(torch.randn(BATCH, KEYS, 2 * 3, dtype=dtype))  # narrower than the keys
    if laid_out:
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
    mask = None if shape is None else torch.rand(shape) < 0.4
    bias = torch.randn(HEADS, QUERIES, KEYS, dtype=dtype) if with_bias else None
    gathered, weights = attended_alone(query, key, value, mask, bias=bias)
    assert torch.equal(weights, in_steps(query, key, mask, bias))
    torch.testing.assert_close(gathered, fused_attention(query, key, value, mask, bias))


@torch.no_grad()
def test_values_that_broadcast_meet_the_weights_of_each_sequence(at_a_time):
    query, key = (heads_of(torch.randn(BATCH, length, 8)) for length in (QUERIES, KEYS))
    value = torch.randn(KEYS, 3)  # the same for all
    gathered, weights = attended_alone(query, key, value, None)
    assert torch.equal(weights, in_steps(query, key))
    assert torch.equal(gathered, weights @ value)


@torch.no_grad()
@pytest.mark.parametrize(("batch", "tokens"), [(2, 1), (7, 50), (16, 100), (3, 333), (1, 1030)])
def test_so_are_they_at_the_sizes_that_take_another_way(batch, tokens):
    query, key = heads_of(torch.randn(batch, tokens, 8)), heads_of(torch.randn(batch, tokens, 8))
    mask = causal_mask(tokens) & (torch.rand(batch, 1, 1, tokens) < 0.9)
    assert torch.equal(weights_alone(query, key, mask), in_steps(query, key, mask))
    _, weights = scaled_dot_product_attention(query, key, key, mask)
    assert torch.equal(weights, in_steps(query, key, mask))


@torch.no_grad()
@pytest.mark.parametrize(
    ("positional", "also"),
    [("none", []), ("rope", ["*.rotated_*"]), ("alibi", ["*.position_bias"]), ("t5", ["*.position_bias"])],
)
def test_they_follow_from_the_recorded_queries_and_keys_to_the_last_digit(positional, also, at_a_time):
    model, tokens = scramble(build(positional=positional, architecture="decoder")), random_ids(5, 20)
    tokens[1, :4] = tokens[2, 9:] = 0  # the first queries of one see nothing
    with recording(["*.query", "*.key", "*.weights", *also]) as trace:
        model(tokens)
    mask = causal_mask(20) & (tokens != 0)[:, None, None, :]
    for layer in range(2):
        here = {site.rsplit(".", 1)[1]: x for site, x in trace.items() if site.startswith(f"layers.{layer}.")}
        query, key = (here.get(f"rotated_{end}", here[end]) for end in ("query", "key"))
        assert torch.equal(here["weights"], in_steps(query, key, mask, here.get("position_bias")))
        assert not here["weights"][1, :, :4].any()


@torch.no_grad()
def test_recording_the_scores_as_well_changes_no_digit(at_a_time):
    model, tokens = build(), random_ids(5, 20)
    with recording() as everything:
        logits = model(tokens)
    with recording("*.weights") as weights:
        again = model(tokens)
    assert all(torch.equal(weights[site], everything[site]) for site in weights)
    assert torch.equal(logits, again)


@torch.no_grad()
def test_what_is_recorded_is_never_written_over(at_a_time):
    model, kept = build(), []
    for seed in range(4):
        with recording("*.weights") as trace:
            model(random_ids(5, 20, seed=seed))
        kept += [(x, x.clone()) for x in trace.values()]
    places = [x.untyped_storage().data_ptr() for x, _ in kept]
    assert len(set(places)) == len(places)
    assert all(torch.equal(x, before) for x, before in kept)


@torch.no_grad()
def test_an_edit_of_the_weights_alone_is_followed(at_a_time):
    model, tokens = build(), random_ids(5, 20)
    site = "layers.0.self_attention.weights"
    with recording([site, "*.0.*.value", "*.0.*.head_output"], {site: lambda w: w.flip(-1)}) as trace:
        model(tokens)
    expected = trace[site] @ trace["layers.0.self_attention.value"]
    assert torch.equal(trace["layers.0.self_attention.head_output"], expected)
    with recording(site) as plain:
        model(tokens)
    assert torch.equal(trace[site], plain[site].flip(-1))


def test_gradients_flow_through_recorded_weights(at_a_time):
    attention = scramble(MultiHeadAttention(8, HEADS))
    x = torch.randn(BATCH, KEYS, 8, requires_grad=True)
    gradients = []
    for sites in ["weights", None, []]:
        with recording(sites):
            output = attention(x, mask=causal_mask(KEYS))
        gradients.append(torch.autograd.grad(output.square().sum(), x)[0])
    assert all(largest_error(gradient, gradients[0]) < 1e-4 for gradient in gradients)


@torch.no_grad()
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_in_place_is_the_same(name):
    function = ACTIVATIONS[name].function
    x = torch.randn(3, 333) * 5
    expected = function(x)
    assert torch.equal(IN_PLACE[function](x), expected)
    assert torch.equal(x, expected)
