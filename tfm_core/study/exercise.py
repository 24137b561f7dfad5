"""An exercise: a small transformer's inputs and weights, to be computed by hand or by code of the reader's.

Everything is drawn from a seed, so that a link of a few settings gives the same numbers everywhere. The steps that are
asked for stand in `steps.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

POSITIONALS = ("sines", "RoPE", "ALiBi")
MASKS = ("causal and padding", "causal", "padding", "none")
NORM_EPS = 1e-3  # as in Keras: so large that its place, inside of the root or outside, can be told
BATCH = 2
VOCAB = 24
PAD_ID = 0
MOST = {"d_model": 4096, "num_heads": 128, "seq": 64}


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """What an exercise depends on: a small transformer as in Vaswani et al. 2017, section 3, to be computed.

    Attributes:
        d_model: width; num_heads divides it, and a head's width is even under RoPE.
        num_heads: heads of the attention.
        seq: tokens of each of the two sentences; the second ends in two tokens of padding where padding is masked.
        positional: "sines" (added to the embeddings), "RoPE" (turns queries and keys) or "ALiBi" (a bias).
        mask: which masks hold: "causal and padding", "causal", "padding" or "none".
        norm: where the norms stand: "pre" or "post".
        activation: of the feed-forward network: "gelu" or "relu".
        cached: how many of the first tokens are keys and values alone, as with a cache: the others are the queries.
        seed: what all numbers are drawn from.
        eps: of the norms.

    Raises:
        ValueError: naming the field, what was expected and what came.

    Examples:
        >>> from tfm_core import Exercise
        >>> exercise = Exercise(d_model=16, num_heads=4, mask="causal")
        >>> exercise.head_dim, exercise.is_causal, exercise.has_padding
        (4, True, False)
    """

    d_model: int = 16
    num_heads: int = 2
    seq: int = 6
    positional: str = "sines"
    mask: str = "causal and padding"
    norm: str = "pre"
    activation: str = "gelu"
    cached: int = 0
    seed: int = 0
    eps: float = NORM_EPS

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"Exercise: expected {name} from 1 to {most}, got {getattr(self, name)}")
        if self.d_model % self.num_heads:
            raise ValueError(f"Exercise: expected num_heads that divides {self.d_model}, got {self.num_heads}")
        if self.positional == "RoPE" and self.head_dim % 2:
            raise ValueError(f"Exercise: expected an even width of a head under RoPE, got {self.head_dim}")
        if not 0 <= self.cached < self.seq:
            raise ValueError(f"Exercise: expected cached from 0 to {self.seq - 1}, got {self.cached}")
        for name, choices in {
            "positional": POSITIONALS,
            "mask": MASKS,
            "norm": ("pre", "post"),
            "activation": ("gelu", "relu"),
        }.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"Exercise: expected {name} of {', '.join(choices)}; got {getattr(self, name)!r}")

    @property
    def head_dim(self) -> int:
        """Width of a head, the papers' d_k."""
        return self.d_model // self.num_heads

    @property
    def queries(self) -> int:
        """How many tokens are queries: all but those that are cached."""
        return self.seq - self.cached

    @property
    def is_causal(self) -> bool:
        """Whether no query may see a later key."""
        return "causal" in self.mask

    @property
    def has_padding(self) -> bool:
        """Whether the second sentence ends in padding, which is hidden."""
        return "padding" in self.mask and self.queries > 2


@lru_cache(maxsize=8)
def given(exercise: Exercise) -> Mapping[str, Tensor]:
    """What the exercise gives, by name: token ids int64, all else float32.

    Weights are (out, in), as nn.Linear has them: a projection is x @ W.T + b.
    """
    generator = torch.Generator().manual_seed(exercise.seed)
    d_model, d_ff = exercise.d_model, 4 * exercise.d_model

    def drawn(*shape: int, spread: float, around: float = 0.0) -> Tensor:
        return torch.randn(shape, generator=generator) * spread + around

    ids = torch.randint(1, VOCAB, (BATCH, exercise.seq), generator=generator)
    if exercise.has_padding:
        ids[-1, -2:] = PAD_ID
    tensors = {"ids": ids, "embedding": drawn(VOCAB, d_model, spread=d_model**-0.5)}
    for name in ("Q", "K", "V", "O"):
        tensors[f"W_{name}"] = drawn(d_model, d_model, spread=1.5 * d_model**-0.5)
        tensors[f"b_{name}"] = drawn(d_model, spread=0.5)
    tensors |= {
        "W_1": drawn(d_ff, d_model, spread=1.5 * d_model**-0.5),
        "b_1": drawn(d_ff, spread=0.5),
        "W_2": drawn(d_model, d_ff, spread=1.5 * d_ff**-0.5),
        "b_2": drawn(d_model, spread=0.5),
    }
    for name in ("1", "2", "final"):
        tensors[f"gain_{name}"] = drawn(d_model, spread=0.3, around=1.0)
        tensors[f"shift_{name}"] = drawn(d_model, spread=0.3)
    return tensors


Needs = Callable[[Exercise], Any]  # whether an exercise has what a mistake is about
