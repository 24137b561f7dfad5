"""Positions: the papers' equations in double precision, and the laws that each scheme owes its users."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.toys import build, largest_error, random_ids, run
from tfm_core import POSITIONAL, apply_rotary, recording, sinusoidal_encoding
from tfm_core.positional.maths import t5_shared_from
from tfm_core.positional.schemes import PLAIN, T5


@pytest.mark.parametrize("d_model", [1, 2, 3, 7, 16, 33])
@pytest.mark.parametrize("base", [10.0, 10000.0])
def test_sinusoids_follow_the_paper_at_odd_widths_too(d_model, base):
    encoding = sinusoidal_encoding(50, d_model, base=base)
    assert encoding.dtype == torch.float32
    assert encoding.shape == (50, d_model)
    for pos in range(50):
        for column in range(d_model):
            wave = math.cos if column % 2 else math.sin
            expected = wave(pos / base ** (2 * (column // 2) / d_model))
            assert encoding[pos, column].item() == pytest.approx(expected, abs=1e-7)


def test_sinusoids_stay_exact_far_out():
    assert sinusoidal_encoding(100_001, 2)[-1, 0].item() == pytest.approx(math.sin(100_000), abs=1e-7)


@pytest.mark.parametrize("d_model", [5, 9])
def test_a_model_of_odd_width_runs_with_sinusoids(d_model):
    assert build(d_model=d_model, num_heads=1)(random_ids(1, 6)).isfinite().all()


def test_rotary_positions_default_to_counting_need_not_be_whole_and_may_differ_by_sentence():
    x = torch.randn(2, 3, 5, 8)
    assert torch.equal(apply_rotary(x), apply_rotary(x, torch.arange(5)))
    halves = apply_rotary(apply_rotary(x, torch.full((5,), 0.5)), torch.full((5,), 0.5))
    assert largest_error(halves, apply_rotary(x, torch.ones(5))) < 1e-5
    each = torch.stack([torch.arange(5), torch.arange(5) + 3])[:, None]  # (batch, 1, seq)
    assert torch.equal(apply_rotary(x, each)[1], apply_rotary(x[1], torch.arange(5) + 3))


@pytest.mark.parametrize(
    ("dtype", "bound"),
    [(torch.bfloat16, 0.03), (torch.float16, 4e-3), (torch.float32, 3e-5), (torch.float64, 1e-12)],
)
def test_rotary_keeps_the_dtype_and_works_in_float32_at_least(dtype, bound):
    x = torch.randn(300, 8).to(dtype)
    turned = apply_rotary(x)
    assert turned.dtype == dtype
    assert largest_error(turned.double(), apply_rotary(x.double())) < bound


@pytest.mark.parametrize("num_heads", [4, 12, 16])
def test_alibi_is_as_exact_as_the_model(num_heads):
    model = build(positional="alibi", num_heads=num_heads, d_model=48).double()
    with recording("*.position_bias") as trace:
        model(random_ids(1, 20))
    lower = 2 ** int(math.log2(num_heads))
    powers = [8 * (h + 1) / lower for h in range(lower)] + [4 * (2 * h + 1) / lower for h in range(num_heads - lower)]
    distance = (torch.arange(20)[:, None] - torch.arange(20)).abs()
    expected = torch.stack([-(2.0**-power) * distance.double() for power in powers])
    assert largest_error(trace["layers.1.self_attention.position_bias"], expected) < 1e-12


@pytest.mark.parametrize(("bidirectional", "first"), [(True, 91), (False, 113)])
def test_t5_s_last_bucket_is_shared_from_the_distance_that_is_said(bidirectional, first):
    scheme = T5(d_model=8, num_heads=2, max_len=9, bidirectional=bidirectional)
    assert scheme.shared_from == t5_shared_from(bidirectional=bidirectional) == first
    behind = scheme.buckets(-torch.arange(5000))
    assert (behind[first:] == behind[first]).all()
    assert behind[first - 1] != behind[first]
    if bidirectional:
        ahead = scheme.buckets(torch.arange(5000))
        assert (ahead[first:] == ahead[first]).all()
        assert ahead[first - 1] != ahead[first]
    assert f"from {first} on" in T5.about.beyond


@torch.no_grad()
@pytest.mark.parametrize("positional", POSITIONAL)
@given(st.integers(0, 20), st.integers(1, 10))
def test_tokens_after_a_cache_have_the_positions_that_they_have_in_the_whole_text(positional, start, new):
    scheme, length = POSITIONAL[positional](d_model=16, num_heads=4, max_len=32, bidirectional=False), start + new
    x = torch.randn(2, 4, length, 4)
    for whole, part in (
        (scheme.encode(length), scheme.encode(new, start)),
        (scheme.rotate(x), scheme.rotate(x[..., start:, :], start)),
        (scheme.bias(length, length), scheme.bias(new, length)),
    ):
        assert (part is None) == (whole is None)
        if whole is not None:
            assert torch.equal(part, whole[..., start:, :])
            assert whole.is_contiguous()


@pytest.mark.parametrize("positional", POSITIONAL)
def test_each_pair_that_turns_turns_once_in_its_wavelength(positional):
    """What turns has to say so: clocks, curves and laws are computed from its wavelengths."""
    scheme = POSITIONAL[positional](d_model=16, num_heads=1, max_len=9, base=50.0)
    assert set(scheme.waves_at) <= set(scheme.enters())
    assert (scheme.wavelengths(16) is None) == (not scheme.waves_at)
    if positional in ("sinusoidal", "rope"):
        assert scheme.wavelengths(16)[-1].item() == pytest.approx(2 * math.pi * 50.0 ** ((16 - 2) / 16))
        assert "2 pi base^((width - 2) / width)" in apply_rotary.__doc__
    x = torch.tensor([1.0] * 8 + [0.0] * 8, dtype=torch.float64).expand(1, 1, 5, -1)
    if (turned := scheme.rotate(x)) is not None:
        angles = torch.arange(5)[:, None] * 2 * math.pi / scheme.wavelengths(16)
        assert largest_error(turned[0, 0], torch.cat([angles.cos(), angles.sin()], -1)) < 1e-6


@pytest.mark.parametrize("positional", POSITIONAL)
@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_only_the_scheme_without_positions_is_blind_to_the_order(positional, architecture):
    model = build(positional=positional, architecture=architecture, num_layers=1).double()
    tokens = random_ids(1, 8)
    swapped = tokens[:, [0, 2, 1, 3, 4, 5, 6, 7]]
    difference = largest_error(run(model, tokens)[:, -1], run(model, swapped)[:, -1])
    assert difference < 1e-12 if positional == PLAIN else difference > 1e-9


@pytest.mark.parametrize("positional", POSITIONAL)
def test_every_scheme_goes_on_for_ever_but_one_that_says_where_it_ends(positional):
    model, tokens = build(positional=positional, max_len=4), random_ids(1, 60)
    if POSITIONAL[positional].ends_at_max_len():
        with pytest.raises(ValueError, match="at most max_len=4 tokens, got 60"):
            model(tokens)
    else:
        assert model(tokens).isfinite().all()
