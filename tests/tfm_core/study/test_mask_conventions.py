"""Each convention says what ours says, its call gives what ours gives, and mistakes are measured."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import shared_by
from tfm_core import MultiHeadAttention, causal_mask
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_core.study.mask_verified import verify

ANY_MASK = [
    name for name, convention in CONVENTIONS.items() if "query" in convention.shape and "batch" in convention.shape
]
PER_KEY = ["MHA, key_padding_mask", "HF, attention_mask"]


def random_mask(batch: int, queries: int, keys: int, seed: int) -> torch.Tensor:
    mask = torch.rand(batch, queries, keys, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., 0] = True  # no row is empty
    return mask


def layer(heads: int = 2, seed: int = 0) -> MultiHeadAttention:
    torch.manual_seed(seed)
    return MultiHeadAttention(8, heads).eval()


SIZES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))


@pytest.mark.parametrize("name", ANY_MASK)
@given(size=SIZES, heads=st.sampled_from([1, 2, 4]))
def test_round_trip_of_any_mask(name, size, heads):
    convention, mask = CONVENTIONS[name], random_mask(*size)
    mask[0, 0] = size[3] % 2 == 0  # empty rows can be said, too
    handed = convention.to(mask, heads)
    assert torch.equal(convention.back(handed, tuple(mask.shape), heads), mask)
    sizes = {"batch": size[0], "1": 1, "query": size[1], "key": size[2], "batch · heads": size[0] * heads}
    assert handed.shape == tuple(sizes[axis] for axis in convention.shape.strip("()").split(", "))


@pytest.mark.parametrize("name", ["MHA, attn_mask", *PER_KEY, "HF, causal model"])
@given(size=SIZES)
def test_what_smaller_conventions_can_say_is_stable(name, size):
    convention, mask = CONVENTIONS[name], random_mask(*size)
    said = convention.back(convention.to(mask, 2), tuple(mask.shape), 2)
    assert torch.equal(convention.back(convention.to(said, 2), tuple(mask.shape), 2), said)
    hidden = mask & ~said  # by the model's own causality at most
    assert not (hidden & causal_mask(*size[1:3])).any() if name == "HF, causal model" else not hidden.any()


def test_padding_and_causality_are_said_by_whom_they_should():
    padding = torch.tensor([[True, True, True], [True, False, False]])[:, None].expand(2, 3, 3)
    both = padding & causal_mask(3)
    able = {
        name: [torch.equal(c.back(c.to(mask, 2), (2, 3, 3), 2), mask) for mask in (padding, both)]
        for name, c in CONVENTIONS.items()
    }
    assert {name: able[name] for name in PER_KEY} == {name: [True, False] for name in PER_KEY}
    assert able["HF, causal model"] == [False, True]
    assert able["MHA, attn_mask"] == [False, False]  # the sentences differ
    assert all(all(able[name]) for name in ANY_MASK)


@pytest.mark.parametrize("name", CONVENTIONS)
@shared_by(len(CONVENTIONS))
@given(size=SIZES, heads=st.sampled_from([1, 2, 4]))
def test_each_call_equals_ours_in_self_attention(name, size, heads):
    batch, queries, _, seed = size
    mask, x = random_mask(batch, queries, queries, seed), torch.randn(batch, queries, 8)
    verified = verify(CONVENTIONS[name], layer(heads), x, x, mask)
    assert verified.of_said < 1e-5
    if not verified.lost:
        assert verified.difference == verified.of_said
    assert verified.empty == ""
    assert (name in ANY_MASK) <= (not verified.lost)


@pytest.mark.parametrize("name", [name for name, convention in CONVENTIONS.items() if convention.across])
def test_each_call_equals_ours_in_cross_attention(name):
    mask = random_mask(2, 3, 5, 1)
    verified = verify(CONVENTIONS[name], layer(), torch.randn(2, 3, 8), torch.randn(2, 5, 8), mask)
    assert verified.of_said < 1e-5


@pytest.mark.parametrize(
    ("name", "gives"),
    {
        "SDPA, boolean": "as ours",
        "SDPA, additive": "as ours",
        "MHA, attn_mask per head": "NaN",
        "HF, 4-D": "as ours",
    }.items(),
)
def test_what_a_query_gets_that_sees_nothing(name, gives):
    mask, x = causal_mask(4, diagonal=0)[None] & ~torch.eye(4).bool(), torch.randn(1, 4, 8)
    verified = verify(CONVENTIONS[name], layer(), x, x, mask)
    assert (verified.empty, verified.difference < 1e-5) == (gives, True)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_mask_that_hides_everything_is_no_error(name):
    x = torch.randn(1, 3, 8)
    verified = verify(CONVENTIONS[name], layer(), x, x, torch.zeros(1, 3, 3).bool())
    assert verified.difference == 0
    assert verified.slipped == verified.slipped_nan == 0


def test_the_wrong_way_round_is_measured_against_a_naive_call():
    """nn.MultiheadAttention with True = attend: the last causal query may see nothing, and gets NaN."""
    attention, x, mask = layer(), torch.randn(1, 5, 8), causal_mask(5)[None]
    verified = verify(CONVENTIONS["MHA, attn_mask per head"], attention, x, x, mask)
    inverted = attention(x, mask=~mask[:, None])[0, :4] - attention(x, mask=mask[:, None])[0, :4]
    assert verified.slipped == pytest.approx(inverted.abs().max().item(), abs=1e-6)
    assert verified.slipped_nan == 1


def test_one_and_zero_as_floats_hide_nothing():
    attention, x, mask = layer(1), torch.randn(1, 5, 8), causal_mask(5)[None]
    verified = verify(CONVENTIONS["SDPA, additive"], attention, x, x, mask)
    q, k, v = attention.query_projection(x), attention.key_projection(x), attention.value_projection(x)
    naive = (q @ k.mT / 8**0.5 + mask).softmax(-1) @ v
    ours = (q @ k.mT / 8**0.5).masked_fill(~mask, -torch.inf).softmax(-1) @ v
    assert verified.slipped == pytest.approx((naive - ours).abs().max().item(), abs=1e-6)
