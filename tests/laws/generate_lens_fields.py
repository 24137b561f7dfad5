"""Fields of the Generate lens for test_passes.py: which of them need another pass."""

from typing import Any

LOOKS: dict[str, Any] = {"view": "kept", "step": 3, "layer": 2, "head": 3, "run": "0123456789ab", "at": 2}
# What is written depends on them, or whether attention is read again: a decoder runs, and other models write nothing.
EITHER = (
    "shows",
    "steps",
    "method",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "width",
    "seed",
    "full",
    "forced",
    "chat",
    "against",
    "other",
    "memory",
)
