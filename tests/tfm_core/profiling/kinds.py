"""Kinds of models: every choice at least once, those that act on each other together."""

from tfm_core.profiling import TARGETS, Size

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


def sized(kind: dict[str, object], **numbers: int) -> Size:
    """A size of this kind."""
    return Size(**{**numbers, **kind})


def described(kind: dict[str, object]) -> str:
    """The kind in words, for the test's name."""
    return " ".join(f"{name}={value}" for name, value in kind.items())


def possible(size: Size) -> list[str]:
    """The targets that can be of this kind."""
    return [name for name, target in TARGETS.items() if not target.lacks(size)]
