"""What a row must cost, before anything is measured: parameters, operations, bytes moved and held, seconds."""

import math

from tfm_core.profiling.closed_forms import Parts, input_bytes
from tfm_core.profiling.plan import Row
from tfm_core.profiling.report import Machine
from tfm_core.profiling.setup import Setup
from tfm_core.profiling.targets import TARGETS

FLOPS = {
    "cpu": {"float32": 20e9, "float64": 10e9, "bfloat16": 10e9, "float16": 2e9},  # of one core
    "cuda": {"float32": 5e12, "float64": 0.2e12, "bfloat16": 20e12, "float16": 20e12},
}
BYTES = {"cpu": 10e9, "cuda": 200e9}
"""Cautious rates, a second, where a machine has not been measured: a rented core, a small GPU."""

CALL_SECONDS = {"cpu": 4e-6, "cuda": 10e-6}  # of an operator, however little it does


def parameters(row: Row) -> Parts:
    """Numbers that are learned, by part."""
    return TARGETS[row.target].forms.parameters(row.size)


def flops(row: Row, *, backward: bool = False, input_gradient: bool = True) -> Parts:
    """Floating point operations of one pass, by part; norms, softmax, activations and additions count 0.

    Forward + backward is 3 times forward, as each product has two gradients of as many operations, less those that
    nobody needs (`Forms.spared`). What a fused kernel computes a second time in its backward pass does not count.

    Args:
        row: what runs.
        backward: count forward + backward.
        input_gradient: whether the input asks for a gradient, as the embedding below a stack does.
    """
    forms = TARGETS[row.target].forms
    once = forms.flops(row.size)
    if not backward:
        return once
    spared = forms.spared(row.size, input_gradient=input_gradient)
    return {part: 3 * count - spared.get(part, 0) for part, count in once.items()}


def bytes_moved(row: Row, setup: Setup) -> int:
    """The least that a forward pass must read and write, if everything in between stayed in a cache.

    Each weight once, the input once, and the results: the output, and the attention weights where they are kept,
    itemsize (parameters + B n d + B n d [+ A B h n^2]); with embedding and output ids of 8 bytes go in, and B n V
    logits come out. Real passes move more: operations per byte of this are a row's highest possible intensity.
    """
    forms = TARGETS[row.target].forms
    numbers = sum(forms.parameters(row.size).values()) + forms.results(row.size)
    return setup.itemsize * numbers + input_bytes(row.size, setup)


def peak_memory(row: Row, setup: Setup, *, backward: bool = False) -> int:
    """Bytes at the peak of one call beyond weights and input: estimated from what our code and torch's hold at once.

    Formulas: `Held.forward`, `Held.training`, `Recurrent.peak_between`, `Convolution.peak_between`. Memory that the C
    library or the CUDA allocator keeps in reserve comes on top.

    Args:
        row: what runs.
        setup: its dtype, device and threads, on which the way of computing depends.
        backward: of forward + backward.
    """
    return round(setup.itemsize * TARGETS[row.target].forms.peak(row.size, setup, backward=backward))


def call_seconds(row: Row, setup: Setup, machine: Machine | None = None) -> float:
    """Seconds of one forward pass: products at a share of the rate, the rest at the bandwidth, and each call."""
    flops_rate, bytes_rate = _rates(setup, machine)
    forms = TARGETS[row.target].forms
    return (
        sum(forms.flops(row.size).values()) / (forms.efficiency * flops_rate)
        + setup.itemsize * forms.moved(row.size, setup) / bytes_rate
        + CALL_SECONDS[setup.device] * forms.calls(row.size)
    )


def _rates(setup: Setup, machine: Machine | None) -> tuple[float, float]:
    """Operations and bytes a second: measured where they were, else cautious ones."""
    cores = setup.threads if setup.device == "cpu" else 1
    flops, moved = FLOPS[setup.device][setup.dtype] * cores, BYTES[setup.device]
    if machine is None:
        return flops, moved
    measured = machine.flops_per_second, machine.bytes_per_second
    return (flops if math.isnan(measured[0]) else measured[0], moved if math.isnan(measured[1]) else measured[1])
