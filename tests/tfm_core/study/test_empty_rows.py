"""A row without a key: each treatment beside float64, torch's own behaviour as it is shown."""

import math

import pytest
import torch
import torch.nn.functional as F

from tests.tfm_core.toys import build, largest_error, random_ids, scramble
from tfm_core import MultiHeadAttention, attention_weights, causal_mask, mask_scores, recording
from tfm_core.model.torch_twin import as_torch
from tfm_core.positional.schemes import POSITIONAL
from tfm_core.study.empty_rows import TREATMENTS, Case, instead, minus_a_billion, minus_infinity

ROW, TOKENS, WIDTH = 3, 6, 16
NAN = {"−∞ and softmax", "nn.MHA, weights"}
FAST = NAN | {"nn.MHA, eval()"}
INSIDE = [name for name, scheme in POSITIONAL.items() if {"rotate", "bias_at"} & set(scheme.enters())]


def emptied(causal):
    mask = causal_mask(TOKENS) if causal else torch.ones(TOKENS, TOKENS, dtype=torch.bool)
    mask[ROW] = False
    return mask


def case(heads=4, causal=True, scheme=None, keys=None):
    attention = scramble(MultiHeadAttention(WIDTH, heads))
    positional = scheme and POSITIONAL[scheme](d_model=WIDTH, num_heads=heads, max_len=TOKENS, bidirectional=True)
    x = torch.randn(1, TOKENS, WIDTH)
    return Case.of(attention, x, x if keys is None else keys, emptied(causal), positional)


def in_float64(case, row, *, hidden):
    """A row of the output in float64, with another number in the place of hidden scores."""
    query, key, value = (part[0].double() for part in (case.query, case.key, case.value))
    scores = query[:, row, None] @ key.mT / math.sqrt(query.shape[-1])
    if case.bias is not None:
        scores += case.bias[:, row, None]
    weights = scores.masked_fill(~case.mask[row], hidden).softmax(-1)
    last = case.attention.output_projection
    return F.linear((weights @ value).flatten(), last.weight.double(), last.bias.double())


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", TREATMENTS)
def test_rows_with_keys_are_right_under_each_treatment(name, causal):
    treated, _ = TREATMENTS[name].run(example := case(causal=causal))
    with torch.no_grad():
        for row in set(range(TOKENS)) - {ROW}:
            assert (treated.output[0, row] - in_float64(example, row, hidden=-1e9)).abs().max() < 1e-4


@pytest.mark.parametrize("name", TREATMENTS)
@pytest.mark.parametrize(
    ("heads", "crosses", "nan"), [(4, False, FAST), (1, False, NAN), (4, True, NAN)], ids=["even", "odd", "cross"]
)
def test_who_makes_the_row_nan(name, heads, crosses, nan):
    example = case(heads, keys=torch.randn(1, TOKENS, WIDTH) if crosses else None)
    treated, _ = TREATMENTS[name].run(example)
    assert treated.output[0, ROW].isnan().all() == (name in nan)
    assert treated.output[0, ROW].isnan().any() == (name in nan)
    if treated.weights is not None and name in nan:
        assert treated.weights[0, :, ROW].isnan().all()


def test_asked_for_weights_torch_gives_nan_in_training_too():
    example = case()
    twin = as_torch(example.attention).train()
    x, hidden = example.queries, ~example.mask
    output, _ = twin(x, x, x, attn_mask=hidden)
    assert output[0, ROW].isnan().all()
    # with gradients there is no fast path, in eval mode either
    output, _ = twin.eval()(x, x, x, attn_mask=hidden, need_weights=False)
    assert not output.isnan().any()


def test_what_the_row_is_where_it_is_no_nan():
    example = case()
    with torch.no_grad():
        large, _ = TREATMENTS["−1e9 and softmax"].run(example)
        assert torch.allclose(large.weights[0, :, ROW], torch.tensor(1 / TOKENS))
        assert (large.output[0, ROW] - in_float64(example, ROW, hidden=-1e9)).abs().max() < 1e-5
        for name in ("F.sdpa", "nn.MHA, train()", "ours"):
            treated, _ = TREATMENTS[name].run(example)
            assert largest_error(treated.output[0, ROW], example.attention.output_projection.bias) < 1e-6


@pytest.mark.parametrize("scheme", INSIDE)
@pytest.mark.parametrize("name", TREATMENTS)
def test_positions_inside_the_attention_are_there_where_they_have_a_place(name, scheme):
    example = case(scheme=scheme)
    treated, beside = TREATMENTS[name].run(example)
    others = [row for row in range(TOKENS) if row != ROW]
    assert (beside is example) == (not name.startswith("nn.MHA"))
    assert largest_error(treated.output[0, others], beside.output[0, others]) < 1e-5
    if beside is not example:
        assert largest_error(treated.output[0, others], example.output[0, others]) > 1e-3


def test_the_kernel_agrees_with_the_written_way_where_a_bias_is_added():
    example = case(scheme="alibi")
    expected = F.scaled_dot_product_attention(
        example.query, example.key, example.value, mask_scores(example.bias[None], example.mask)
    )
    treated, _ = TREATMENTS["F.sdpa"].run(example)
    with torch.no_grad():
        assert largest_error(treated.output, example.gathered(expected)) < 1e-6


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_a_nan_is_in_every_row_a_layer_later_though_nobody_may_look(architecture, norm):
    model, ids = build(architecture=architecture, norm=norm, num_layers=3), random_ids(1, TOKENS)
    mask = causal_mask(TOKENS)
    mask[-1] = False  # by causality no other row may look at the last
    streams = "layers.*.feed_forward.residual_after"
    weights = "layers.1.self_attention.weights"
    with torch.no_grad(), recording([streams, weights], edits=instead(minus_infinity)) as trace:
        logits = model(ids, mask=mask)
    nan = [trace[streams.replace("*", str(layer))].isnan().any(-1)[0].tolist() for layer in range(3)]
    assert nan == [[False] * (TOKENS - 1) + [True], [True] * TOKENS, [True] * TOKENS]
    assert logits.isnan().all()
    assert not trace[weights][0, :, :-1, -1].any()  # zeros, and 0 x NaN is NaN


def test_instead_puts_these_weights_there_and_no_others():
    model, ids = build(num_layers=2), random_ids(1, TOKENS)
    mask = emptied(causal=True)
    with torch.no_grad():
        expected = model(ids, mask=mask)
        with recording([], edits=instead(lambda masked: attention_weights(masked, mask))):
            assert torch.equal(model(ids, mask=mask), expected)
        with recording(["*.weights"], edits=instead(minus_a_billion)) as trace:
            model(ids, mask=mask)
    for weights in trace.values():
        assert torch.allclose(weights[0, :, ROW], torch.tensor(1 / TOKENS))
        assert torch.allclose(weights.sum(-1), torch.tensor(1.0))
