"""What a row must cost, before anything is measured: parameters, operations, bytes moved, bytes at the peak."""

from tfm_core.profiling.closed_forms import Parts
from tfm_core.profiling.plan import Row, Setup
from tfm_core.profiling.targets import TARGETS

ITEMSIZE = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


def parameters(row: Row) -> Parts:
    """Numbers that are learned, by part."""
    return TARGETS[row.target].forms.parameters(row.size)


def flops(row: Row, *, backward: bool = False) -> Parts:
    """Floating point operations of one pass, by part; norms, softmax, activations and additions count 0.

    Args:
        row: what runs.
        backward: of forward + backward: 3 times forward, as each product F has two gradients of F operations each,
            less those that nobody needs (`Forms.spared`). What a fused kernel computes anew on its way back is no
            part of it.
    """
    forms = TARGETS[row.target].forms
    once = forms.flops(row.size)
    if not backward:
        return once
    spared = forms.spared(row.size)
    return {part: 3 * count - spared.get(part, 0) for part, count in once.items()}
