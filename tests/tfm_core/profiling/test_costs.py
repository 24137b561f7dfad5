"""Closed forms beside torch's own count on the meta device, number by number."""

from contextlib import contextmanager

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Row, Setup, Size
from tfm_core.profiling.costs import bytes_moved, flops, parameters

SMALL = Size(d_model=12, num_heads=4, num_layers=3, seq_len=9, batch=2, d_ff=20)
ONE = Size(d_model=6, num_heads=1, num_layers=1, seq_len=1, batch=1)
MASKED = ("window", "strided")
BY_HAND = {"num_layers": 2, "seq_len": 50, "d_model": 128, "num_heads": 4}


@contextmanager
def slow_path():
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def counted(target, size, device, *, backward=False, input_gradient=True):
    with torch.device(device):
        module = TARGETS[target].build(size).train(backward)
        x = torch.ones(size.batch, size.seq_len, size.d_model)
    x.requires_grad_(backward and input_gradient)
    with FlopCounterMode(display=False) as counter, torch.set_grad_enabled(backward):
        y = module(x)
        if backward:
            y.sum().backward()
    return counter.get_total_flops()


@pytest.mark.parametrize(
    ("target", "size"),
    [
        (target, size)
        for target in TARGETS
        if target not in MASKED
        for size in (SMALL, ONE, *(DEFAULT_SIZES if target == "without weights" else ()))
    ],
)
@pytest.mark.parametrize("backward", [False, True])
def test_equal_to_the_count_on_the_meta_device(target, size, backward):
    with slow_path():
        got = counted(target, size, "meta", backward=backward)
    assert sum(flops(Row(target, size), backward=backward).values()) == got


@pytest.mark.parametrize("size", [SMALL, ONE])
@pytest.mark.parametrize("target", ["fused", "LSTM", "GRU", "convolution"])
def test_without_the_gradient_of_the_input(target, size):
    got = counted(target, size, "meta", backward=True, input_gradient=False)
    row = Row(target, size)
    assert sum(flops(row, backward=True, input_gradient=False).values()) == got
    if target == "fused":  # the first norm learns, so that what follows it must hand a gradient down
        assert got == 3 * sum(flops(row).values())
    else:
        assert got < 3 * sum(flops(row).values())


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("target", MASKED)
def test_a_mask_saves_no_operation(target, backward):
    """The processor counts here, as it can look at the mask, with the one kernel that is counted rightly there."""
    size = Size(d_model=8, num_heads=2, num_layers=2, seq_len=80, batch=2)
    row = Row(target, size)
    assert flops(row, backward=backward) == flops(Row("fused", size), backward=backward)
    with sdpa_kernel(SDPBackend.MATH):
        assert counted(target, size, "cpu", backward=backward) == sum(flops(row, backward=backward).values())


def test_the_count_on_the_processor_is_wrong_which_is_why_there_are_closed_forms():
    """If one of these fails, torch has learned to count: pytorch #195460."""
    parts = flops(Row("fused", SMALL))
    assert counted("fused", SMALL, "cpu") == sum(parts.values()) - parts["products"]
    assert counted("nn.TransformerEncoder", SMALL, "cpu") == 0
    assert counted("LSTM", SMALL, "cpu") == flops(Row("LSTM", SMALL))["output"]


def test_by_hand():
    """What section B1 of the notes on measuring has: 670.1 MFLOP."""
    assert sum(flops(Row("fused", Size(**BY_HAND, batch=16))).values()) == 670_105_600
    assert parameters(Row("fused", Size(**BY_HAND))) == {
        "projections": 2 * (4 * 128 * 128 + 4 * 128),
        "feed-forward": 2 * (2 * 128 * 512 + 512 + 128),
        "norms": 5 * 256,
    }


@pytest.mark.parametrize("target", TARGETS)
def test_the_forward_pass_is_a_third_of_both_or_a_little_more(target):
    once, both = (sum(flops(Row(target, SMALL), backward=way).values()) for way in (False, True))
    assert 2.5 < both / once <= 3


def test_bytes_that_must_move():
    """Weights, input and output once; kept weights are written."""
    row, a = Row("fused", SMALL), SMALL.batch * SMALL.seq_len * SMALL.d_model
    least = sum(parameters(row).values()) + 2 * a
    kept = SMALL.num_layers * SMALL.batch * SMALL.num_heads * SMALL.seq_len**2
    assert bytes_moved(row, Setup()) == 4 * least
    assert bytes_moved(row, Setup(dtype="bfloat16")) == 2 * least
    assert bytes_moved(Row("with weights", SMALL), Setup(dtype="float64")) == 8 * (least + kept)
    assert bytes_moved(Row("LSTM", SMALL), Setup()) == 4 * (sum(parameters(Row("LSTM", SMALL)).values()) + 2 * a)
