"""What the cache keeps of a pass: exact or pooled maps, exact heads on demand, and little memory."""

import numpy as np
import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from tfm_core import recording
from tfm_core.study import analysis
from tfm_ui.live import memory, origins, passes, places
from tfm_ui.live.attention import EXACT_UP_TO, MASKED, POOLED_TO, SUMMARY, block_of, summarise
from tfm_ui.live.origins import Origin
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import weight_bytes

WORDS = " ".join(f"w{i % 40}" for i in range(1024))
STATES = [
    ModelState(),
    ModelState(positional="rope", num_layers=3, seq_len=13, causal=False),
    ModelState(positional="alibi", norm="post", architecture="decoder", num_heads=16),
    ModelState(positional="t5", architecture="encoder-decoder", seq_len=17),
    ModelState(text=WORDS, seq_len=300, num_heads=8, positional="rope"),
    ModelState(text=WORDS, seq_len=290, architecture="encoder-decoder", num_layers=1),
]


def recorded(state: ModelState) -> dict[str, torch.Tensor]:
    """All weights of all heads, recorded from the model."""
    inputs = [state.source_tokens.batch] + ([state.target_tokens.batch] if state.is_encoder_decoder else [])
    mask = torch.ones(state.length, state.length).tril().bool() if state.masks_the_future else None
    with torch.no_grad(), recording("*.weights") as trace:
        passes.transformer(state.config)(*inputs, mask=mask)
    return dict(trace)


@pytest.mark.parametrize("state", STATES)
def test_any_head_comes_back_to_the_last_digit_from_its_queries_and_keys(state):
    shown, weights = passes.run(state), recorded(state)
    for kind, kept in shown.attention.items():
        for layer in range(state.num_layers):
            whole = weights[places.place(state, kind).format(layer=layer, what="weights")][0].numpy()
            for head in (0, state.num_heads - 1):
                np.testing.assert_array_equal(kept.exact(layer, head), whole[head])
            np.testing.assert_array_equal(whole != 0, (whole != 0) & kept.visible)
            for query in (0, kept.read - 1):
                np.testing.assert_allclose(kept.rows(query)[layer], whole[:, query], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("state", STATES)
def test_the_maps_are_the_weights_or_their_blocks_largest(state):
    for kind, kept in passes.run(state).attention.items():
        weights, block, maps = kept.exact(0, 1), kept.block, passes.summary(state, kind).layers[0].maps[1]
        rows, columns = (-(-size // block) for size in weights.shape)
        assert maps.shape == (rows, columns)
        assert (block == 1) == (max(weights.shape) <= EXACT_UP_TO)
        for row, column in np.ndindex(rows, columns):
            part = np.s_[row * block : (row + 1) * block, column * block : (column + 1) * block]
            share = weights[part].max() / weights.max() * (MASKED - 1)
            expected = round(share) if kept.visible[part].any() else MASKED
            assert abs(int(maps[row, column]) - expected) <= (abs(share % 1 - 0.5) < 1e-3)  # a tie may round either way


@pytest.mark.parametrize("state", STATES)
def test_numbers_per_head_leave_padding_out(state):
    for kind, kept in passes.run(state).attention.items():
        weights, shown = torch.from_numpy(kept.exact(0, 1)), passes.summary(state, kind).layers[0]
        rows = analysis.peaks(weights)
        assert shown.largest[1] == weights.max()
        for name, values in zip(("first", "key", "second"), rows, strict=True):
            np.testing.assert_array_equal(getattr(shown, name)[1], values)
        if kept.visible.shape[0] == kept.visible.shape[1]:
            for name, summary in SUMMARY.items():
                assert shown.summary[name][1] == pytest.approx(summary(weights[: kept.read]).item(), rel=1e-4)


@pytest.mark.parametrize(("longest", "block"), [(1, 1), (256, 1), (257, 3), (512, 4), (1000, 8), (1024, 8)])
def test_above_256_tokens_maps_are_pooled(longest, block):
    assert block_of(longest, 3) == block_of(3, longest) == block
    assert block == 1 or -(-longest // block) <= POOLED_TO


def origin(heads: int, size: int) -> Origin:
    return Origin(torch.randn(1, heads, size, 4), torch.randn(1, heads, size, 4), None)


def test_heads_are_summarised_alike_whether_a_few_or_all_at_once(monkeypatch):
    visible, few = np.tri(9, dtype=bool), origin(5, 9)
    together = summarise(few, visible, 9)
    monkeypatch.setattr(origins, "AT_ONCE", 9 * 9 * 2)
    apart = summarise(few, visible, 9)
    np.testing.assert_array_equal(together.maps, apart.maps)
    for name in SUMMARY:
        np.testing.assert_allclose(together.summary[name], apart.summary[name], rtol=1e-6)


def test_a_head_that_may_see_nothing_is_masked_and_no_number_breaks():
    kept = summarise(origin(2, 3), np.zeros((3, 3), bool), 3)
    assert (kept.maps == MASKED).all()
    assert all(np.isfinite(values).all() for values in kept.summary.values())


LARGEST = ModelState(text=WORDS, seq_len=1024, num_heads=16, num_layers=2, d_model=32)


@pytest.mark.parametrize("positional", ["sinusoidal", "rope", "alibi", "t5"])
def test_the_largest_view_needs_no_more_memory_than_was_said_and_less_than_300_mb(positional, monkeypatch):
    monkeypatch.setattr(
        "tfm_core.model.scaled_dot_product.in_large_pages", lambda shape, dtype: torch.empty(shape, dtype=dtype)
    )  # the profiler sees only torch's own allocations
    state = ModelState(text=WORDS, seq_len=1024, num_heads=16, num_layers=2, d_model=32, positional=positional)
    passes.transformer(state.config)
    said = passes.needs(state) - weight_bytes(state.config)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        passes.run.__wrapped__(state)
    now, peak = 0, 0
    for event in sorted(profiler.profiler.kineto_results.events(), key=lambda event: event.start_ns()):
        if event.name() == "[memory]":
            now += event.nbytes()
            peak = max(peak, now)
    assert said / 2 < peak <= said < 300e6


def test_what_would_need_more_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(memory, "MOST", 50_000_000)
    monkeypatch.setattr(passes, "transformer", None)  # to build it would fail
    with pytest.raises(ValueError, match=r"needs .* MB of memory at a time; 50 MB is the limit"):
        passes.run(LARGEST)
