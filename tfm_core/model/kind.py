"""Which kind of transformer is meant: what a model's configuration and a size to be measured both say of it.

The choices are the tables of the parts themselves: whoever adds an activation or a positional encoding there need not
come here.
"""

from collections.abc import Collection
from typing import Protocol

from tfm_core.model.choices import check_choice
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.positional.schemes import POSITIONAL

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
"""Encoder, decoder, or both, the decoder with cross-attention: Vaswani et al. 2017, figure 1.

Examples:
    >>> from tfm_core import ARCHITECTURES
    >>> ARCHITECTURES
    ('encoder', 'decoder', 'encoder-decoder')
"""
NORMS = ("pre", "post")
"""Where the norms of a layer stand. Pre-norm: x + f(norm(x)), Xiong et al. 2020; post-norm: norm(x + f(x)), Vaswani et
al. 2017, section 3.1.

Examples:
    >>> from tfm_core import NORMS
    >>> NORMS
    ('pre', 'post')
"""
MAX_LEN = 1024  # the longest sequence that learned positions know, where nothing else is said

HEADS = {
    "logits": "a matrix makes logits of the last hidden states",
    "masked": "a dense layer, its activation and a norm come before it, and it has a bias: BERT's masked-word head",
    "none": "there are no logits: what comes out are the last hidden states",
}

KINDS: dict[str, Collection[str]] = {
    "architecture": ARCHITECTURES,
    "positional": POSITIONAL,
    "norm": NORMS,
    "normalization": NORMALIZATIONS,
    "activation": ACTIVATIONS,
}


class Kind(Protocol):
    """What every description of a transformer has; the names are the keys of `KINDS`."""

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""

    @property
    def num_heads(self) -> int:
        """Attention heads per layer."""

    @property
    def num_kv_heads(self) -> int:
        """Heads of keys and values; 0 means num_heads."""

    @property
    def positional(self) -> str:
        """A key of `POSITIONAL`."""


def check_kind(kind: Kind) -> None:
    """Refuse a kind that cannot be built.

    Raises:
        ValueError: naming the field, what was expected and what came.
    """
    for field, choices in KINDS.items():
        check_choice(field, getattr(kind, field), choices)
    if kind.d_model % kind.num_heads:
        raise ValueError(f"num_heads: expected a divisor of d_model={kind.d_model}, got {kind.num_heads}")
    if kind.num_heads % (kind.num_kv_heads or kind.num_heads):
        raise ValueError(
            f"num_kv_heads: expected 0 or a divisor of num_heads={kind.num_heads}, got {kind.num_kv_heads}"
        )
    POSITIONAL[kind.positional].check(d_model=kind.d_model, num_heads=kind.num_heads)
