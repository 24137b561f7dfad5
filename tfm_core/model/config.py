"""The one value that says which transformer is meant.

A `TransformerConfig` is constructor argument, cache key and link at once, so it holds nothing but numbers,
strings and booleans. An impossible one cannot be built.
"""

from dataclasses import dataclass

from tfm_core.model.attention import ATTENTION
from tfm_core.model.choices import check_choice, check_whole_numbers
from tfm_core.model.kind import MAX_LEN, check_kind
from tfm_core.model.trained import RANDOM
from tfm_core.positional.schemes import POSITIONAL

LOWEST = {
    "vocab_size": 1,
    "d_model": 1,
    "num_heads": 1,
    "num_layers": 1,
    "d_ff": 0,
    "max_len": 1,
    "pad_id": 0,
    "seed": 0,
}


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Everything that a `Transformer` is made from.

    Attributes:
        vocab_size: number of token ids, 0 to vocab_size - 1.
        architecture: "encoder" sees everything; "decoder" never looks ahead; "encoder-decoder" has both, and
            its decoder also looks at the encoder's output.
        d_model: width of the residual stream.
        num_heads: attention heads per layer; divides d_model.
        num_layers: layers of each stack.
        d_ff: hidden units of the feed-forward network; 0 means 4 d_model.
        max_len: longest sequence that learned positions know.
        positional: a key of `POSITIONAL`.
        norm: "pre" or "post"; pre-norm stacks end in a final norm.
        activation: a key of `ACTIVATIONS`.
        attention: a key of `ATTENTION`, for self-attention.
        dropout: share of units set to zero while training.
        tie_embeddings: one matrix for all embeddings and for the logits.
        pad_id: the token that nobody attends to.
        seed: of the random weights; see initialization.py.
        weights: "random", or the name of a run of `tfm_core.training` that has been trained here.

    Raises:
        ValueError: naming the field, what was expected and what came.
    """

    vocab_size: int
    architecture: str = "encoder"
    d_model: int = 32
    num_heads: int = 4
    num_layers: int = 2
    d_ff: int = 0
    max_len: int = MAX_LEN
    positional: str = "sinusoidal"
    norm: str = "pre"
    activation: str = "gelu"
    attention: str = "full"
    dropout: float = 0.0
    tie_embeddings: bool = False
    pad_id: int = 0
    seed: int = 0
    weights: str = RANDOM

    def __post_init__(self) -> None:
        check_whole_numbers(self, LOWEST)
        check_kind(self)
        check_choice("attention", self.attention, ATTENTION)
        if "bias_at" in POSITIONAL[self.positional].enters() and not ATTENTION[self.attention].has_scores:
            raise ValueError(
                f"attention: expected one with scores, to which positional={self.positional!r} adds a bias; "
                f"got {self.attention!r}, which has none"
            )
        if type(self.dropout) not in (int, float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 to below 1, got {self.dropout!r}")
        if type(self.tie_embeddings) is not bool:
            raise ValueError(f"tie_embeddings: expected True or False, got {self.tie_embeddings!r}")
        if type(self.weights) is not str or not self.weights:
            raise ValueError(f"weights: expected {RANDOM!r} or the name of a run, got {self.weights!r}")
        if self.pad_id >= self.vocab_size:
            raise ValueError(f"pad_id: expected an id below vocab_size={self.vocab_size}, got {self.pad_id}")

    @property
    def head_dim(self) -> int:
        """Width of one head's queries, keys and values: d_k."""
        return self.d_model // self.num_heads

    @property
    def feed_forward_dim(self) -> int:
        """Hidden units of the feed-forward network, with d_ff = 0 resolved."""
        return self.d_ff or 4 * self.d_model
