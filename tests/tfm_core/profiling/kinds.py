"""Kinds of models: every choice at least once, those that act on each other together."""

import torch

from tfm_core.profiling import TARGETS, Size

OTHERS = ("LSTM", "GRU", "convolution")  # which are no transformers
MASKED = ("window", "strided")

KINDS: tuple[dict[str, object], ...] = (
    {"norm": "post", "activation": "relu"},
    {"activation": "silu", "positional": "sinusoidal", "causal": True},
    {"activation": "swiglu", "positional": "learned"},
    {"norm": "post", "activation": "swiglu", "positional": "rope", "causal": True},
    {"positional": "rope"},
    {"positional": "alibi", "causal": True},
    {"norm": "post", "positional": "learned", "causal": True},
    {"architecture": "decoder"},
    {"architecture": "decoder", "norm": "post", "positional": "t5", "activation": "relu"},
    {"architecture": "encoder-decoder", "positional": "learned"},
    {"architecture": "encoder-decoder", "norm": "post", "positional": "alibi", "activation": "swiglu"},
    {"vocab_size": 30, "norm": "post", "activation": "relu"},
    {"vocab_size": 30, "causal": True, "positional": "sinusoidal"},
    {"vocab_size": 30, "architecture": "decoder", "positional": "rope", "activation": "swiglu"},
    {"vocab_size": 30, "architecture": "encoder-decoder", "positional": "t5", "norm": "post"},
    {"vocab_size": 30, "ends": "embedding", "norm": "post", "activation": "relu"},
    {"vocab_size": 30, "ends": "embedding", "architecture": "encoder-decoder", "positional": "learned"},
    {"vocab_size": 30, "ends": "output", "causal": True, "positional": "rope"},
    {"vocab_size": 30, "ends": "output", "architecture": "encoder-decoder", "norm": "post"},
)
# The plain kind: small, and as small as can be.
PLAIN_KINDS: tuple[dict[str, object], ...] = (
    {},
    {"d_model": 6, "num_heads": 1, "num_layers": 1, "seq_len": 1, "batch": 1, "d_ff": 5},
)


def sized(kind: dict[str, object], **numbers: int) -> Size:
    """A size of this kind."""
    return Size(**{**numbers, **kind})


def described(kind: dict[str, object]) -> str:
    """The kind in words, for the test's name."""
    return " ".join(f"{name}={value}" for name, value in kind.items())


def possible(size: Size) -> list[str]:
    """The targets that can be of this kind."""
    return [name for name, target in TARGETS.items() if not target.lacks(size)]


def input_of(size: Size, device: str = "cpu") -> torch.Tensor:
    """What a model of this size reads: token ids where it embeds them, else their vectors."""
    if size.embeds:
        return torch.randint(1, size.vocab_size, (size.batch, size.seq_len), device=device)
    return torch.randn(size.batch, size.seq_len, size.d_model, device=device)
