"""The one value that says which transformer is meant.

A `TransformerConfig` is constructor argument, cache key and link at once, so it holds nothing but numbers,
strings and booleans. An impossible one cannot be built.
"""

import math
from dataclasses import dataclass

from tfm_core.model.attention import ATTENTION
from tfm_core.model.choices import check_choice, check_whole_numbers
from tfm_core.model.kind import HEADS, MAX_LEN, check_kind
from tfm_core.model.trained import RANDOM
from tfm_core.positional.schemes import PAIRINGS, POSITIONAL

LOWEST = {
    "vocab_size": 1,
    "d_model": 1,
    "num_heads": 1,
    "num_layers": 1,
    "num_kv_heads": 0,
    "d_ff": 0,
    "max_len": 1,
    "position_offset": 0,
    "sliding_window": 0,
    "num_token_types": 0,
    "pad_id": -1,
    "seed": 0,
}
SWITCHES = (
    "qkv_bias",
    "output_bias",
    "feed_forward_bias",
    "scale_embeddings",
    "embedding_norm",
    "padding_takes_position",
    "pooler",
    "tie_embeddings",
)


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Everything that a `Transformer` is made from; sizes are called as in Vaswani et al. 2017, table 3.

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
        pad_id: the token that nobody attends to; -1 if there is none.
        seed: of the random weights; see initialization.py.
        weights: "random", the name of a run of `tfm_core.training` that has been trained here, or of a pretrained
            model.

    What models that others have trained do otherwise (`tfm_core.pretrained`):

    Attributes:
        num_kv_heads: heads of keys and values, each shared by as many heads: grouped-query attention, Ainslie et al.
            2023. 0 means num_heads.
        normalization: a key of `NORMALIZATIONS`: "layer" or "rms".
        norm_eps: what is added to the variance within the norms.
        qkv_bias, output_bias, feed_forward_bias: whether the projections of query, key and value, the output projection
            of the attention, and the linear maps of the feed-forward network have biases.
        scale_embeddings: whether embeddings are multiplied by sqrt(d_model).
        embedding_norm: whether a norm comes after embeddings and positions (BERT).
        num_token_types: rows of a table of token types, such as first and second sentence (BERT); 0 for no table.
        positional_base: of the frequencies, in positional schemes of waves.
        rope_pairing: a key of `PAIRINGS`: which dimensions turn together.
        position_offset: in which row of a table of positions the first one stands (2 in RoBERTa and OPT); there are so
            many rows more than max_len.
        padding_takes_position: whether positions count padding (not in RoBERTa).
        sliding_window: how many keys a query sees back, itself among them (Mistral); 0 for all.
        head: a key of `HEADS`: what makes logits.
        pooler: whether a dense layer and a tanh make one vector of that of the first token (BERT): `pooled`.

    Raises:
        ValueError: naming the field, what was expected and what came.

    Examples:
        >>> from tfm_core import TransformerConfig
        >>> config = TransformerConfig(vocab_size=4096, architecture="decoder", d_model=64, num_heads=4)
        >>> config.head_dim, config.feed_forward_dim
        (16, 256)
        >>> TransformerConfig(vocab_size=4096, norm="middle")
        Traceback (most recent call last):
            ...
        ValueError: norm: expected one of pre, post; got 'middle'
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
    num_kv_heads: int = 0
    normalization: str = "layer"
    norm_eps: float = 1e-5
    qkv_bias: bool = True
    output_bias: bool = True
    feed_forward_bias: bool = True
    scale_embeddings: bool = True
    embedding_norm: bool = False
    num_token_types: int = 0
    positional_base: float = 10000.0
    rope_pairing: str = "halves"
    position_offset: int = 0
    padding_takes_position: bool = True
    sliding_window: int = 0
    head: str = "logits"
    pooler: bool = False

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
        check_choice("head", self.head, HEADS)
        check_choice("rope_pairing", self.rope_pairing, PAIRINGS)
        for name in SWITCHES:
            if type(getattr(self, name)) is not bool:
                raise ValueError(f"{name}: expected True or False, got {getattr(self, name)!r}")
        for name in ("norm_eps", "positional_base"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 < value < math.inf:
                raise ValueError(f"{name}: expected a number above 0, got {value!r}")
        if type(self.weights) is not str or not self.weights:
            raise ValueError(f"weights: expected {RANDOM!r} or the name of a run, got {self.weights!r}")
        if self.pad_id >= self.vocab_size:
            raise ValueError(f"pad_id: expected an id below vocab_size={self.vocab_size}, got {self.pad_id}")

    @property
    def head_dim(self) -> int:
        """Width of one head's queries, keys and values: d_k."""
        return self.d_model // self.num_heads

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values, with num_kv_heads = 0 resolved."""
        return self.num_kv_heads or self.num_heads

    @property
    def feed_forward_dim(self) -> int:
        """Hidden units of the feed-forward network, with d_ff = 0 resolved."""
        return self.d_ff or 4 * self.d_model
