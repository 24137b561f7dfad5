"""Operations in closed form beside torch's own count, to the last; bytes that must move."""

from contextlib import contextmanager, nullcontext

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from tests.tfm_core.profiling.kinds import KINDS, MASKED, OTHERS, PLAIN_KINDS, input_of, sized
from tfm_core.profiling import TARGETS, Row, Setup, Size
from tfm_core.profiling.costs import bytes_moved, flops, parameters

SMALL = Size(d_model=12, num_heads=4, num_layers=3, seq_len=9, batch=2, d_ff=20)
NUMBERS = {"d_model": 16, "num_heads": 4, "num_layers": 2, "seq_len": 5, "batch": 2, "d_ff": 20}
LONG = {"seq_len": 600, "batch": 1, "num_layers": 1}  # attention is computed another way
KERNELS = ("fused flash", "fused efficient", "fused cudnn")  # which torch does not count on a processor
WAYS = ((False, False), (True, True), (True, False))  # whether backward too, and whether the input asks for a gradient


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
        x = input_of(size, device).requires_grad_(backward and input_gradient and not size.embeds)
    with FlopCounterMode(display=False) as counter, torch.set_grad_enabled(backward):
        y = module(x)
        if backward:
            y.sum().backward()
    return counter.get_total_flops()


@pytest.mark.crossed(kind=[*KINDS, *PLAIN_KINDS, LONG], target=TARGETS, way=WAYS)
def test_operations_are_as_many_as_torch_counts(kind, target, way):
    """The meta device counts; where tokens or masks are looked at, the processor by kernels that it counts rightly."""
    size, (backward, input_gradient) = sized(kind, **NUMBERS), way
    looks_at_numbers = size.embeds or size.looks_back_only or size.num_stacks == 2 or target in MASKED
    device = "cpu" if looks_at_numbers and target not in OTHERS else "meta"
    is_like_another = target in OTHERS and not size.vocab_size and kind not in PLAIN_KINDS  # as far as these know
    if TARGETS[target].lacks(size) or (device == "cpu" and target in KERNELS) or is_like_another:
        return
    with slow_path(), sdpa_kernel(SDPBackend.MATH) if device == "cpu" else nullcontext():
        got = counted(target, size, device, backward=backward, input_gradient=input_gradient)
    expected = flops(Row(target, size), backward=backward, input_gradient=input_gradient)
    assert sum(expected.values()) == got


def test_the_count_on_the_processor_is_wrong_which_is_why_there_are_closed_forms():
    """If one of these fails, torch has learned to count: pytorch #195460."""
    parts = flops(Row("fused", SMALL))
    assert counted("fused", SMALL, "cpu") == sum(parts.values()) - parts["products"]
    assert counted("nn.TransformerEncoder", SMALL, "cpu") == 0
    assert counted("LSTM", SMALL, "cpu") == flops(Row("LSTM", SMALL))["output"]


def test_bytes_that_must_move():
    """Weights, input and output once; kept weights are written."""
    row, a = Row("fused", SMALL), SMALL.batch * SMALL.seq_len * SMALL.d_model
    least = sum(parameters(row).values()) + 2 * a
    kept = SMALL.num_layers * SMALL.batch * SMALL.num_heads * SMALL.seq_len**2
    assert bytes_moved(row, Setup()) == 4 * least
    assert bytes_moved(row, Setup(dtype="bfloat16")) == 2 * least
    assert bytes_moved(Row("with weights", SMALL), Setup(dtype="float64")) == 8 * (least + kept)
    assert bytes_moved(Row("LSTM", SMALL), Setup()) == 4 * (sum(parameters(Row("LSTM", SMALL)).values()) + 2 * a)
