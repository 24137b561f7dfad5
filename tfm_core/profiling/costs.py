"""What a row must cost, before anything is measured: parameters, operations, bytes moved, bytes at the peak."""

from tfm_core.profiling.closed_forms import ITEMSIZE, Parts, input_bytes
from tfm_core.profiling.plan import Row, Setup
from tfm_core.profiling.targets import TARGETS


def parameters(row: Row) -> Parts:
    """Numbers that are learned, by part."""
    return TARGETS[row.target].forms.parameters(row.size)


def flops(row: Row, *, backward: bool = False, input_gradient: bool = True) -> Parts:
    """Floating point operations of one pass, by part; norms, softmax, activations and additions count 0.

    Forward + backward is 3 times forward, as each product has two gradients of as many operations, less those that
    nobody needs (`Forms.spared`). What a fused kernel computes anew on its way back is no part of it.

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

    Each weight once, the input once, and what is handed out: the output, and where they are kept the attention weights,
    itemsize (parameters + B n d + B n d [+ A B h n^2]); with embedding and output ids of 8 bytes go in, and B n V
    logits come out. Real passes move more: operations per byte of this are a row's highest possible intensity.
    """
    forms = TARGETS[row.target].forms
    numbers = sum(forms.parameters(row.size).values()) + forms.results(row.size)
    return ITEMSIZE[setup.dtype] * numbers + input_bytes(row.size, setup)


def peak_memory(row: Row, setup: Setup, *, backward: bool = False) -> int:
    """Bytes at the peak of one call beyond weights and input: estimated from what our code and torch's hold at once.

    Formulas: `Held.forward`, `Held.training`, `Recurrent.peak_between`, `Convolution.peak_between`. Memory that the C
    library or the CUDA allocator keeps in reserve comes on top.

    Args:
        row: what runs.
        setup: its dtype, device and threads, on which the way of computing depends.
        backward: of forward + backward.
    """
    return round(ITEMSIZE[setup.dtype] * TARGETS[row.target].forms.peak(row.size, setup, backward=backward))
