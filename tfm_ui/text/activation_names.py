"""What activations are called in sentences; a new one has the name of its entry."""

from tfm_core import ACTIVATIONS

CALLED = {name: name for name in ACTIVATIONS} | {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "swiglu": "SwiGLU"}
