"""The size of what is measured: a transformer's numbers and choices, and what follows from them by counting."""

from dataclasses import dataclass, fields

from tfm_core.model.choices import check_choice, check_whole_numbers
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.kind import HEADS, MAX_LEN, check_kind
from tfm_core.positional.schemes import POSITIONAL, Positional, called

LOWEST = {
    "d_model": 1,
    "num_heads": 1,
    "num_layers": 1,
    "seq_len": 1,
    "batch": 1,
    "d_ff": 0,
    "vocab_size": 0,
    "num_kv_heads": 0,
    "num_token_types": 0,
    "position_offset": 0,
    "max_len": 1,
}
# Fields that a size and a `TransformerConfig` have in common, as they are, beside what `Kind` has.
OF_CONFIG = (
    "architecture",
    "d_model",
    "num_heads",
    "num_layers",
    "d_ff",
    "max_len",
    "positional",
    "norm",
    "activation",
    "num_kv_heads",
    "normalization",
    "qkv_bias",
    "output_bias",
    "feed_forward_bias",
    "embedding_norm",
    "num_token_types",
    "position_offset",
    "pooler",
    "tie_embeddings",
)
ENDS = {"both": "embedding and output", "embedding": "embedding, without output", "output": "output, without embedding"}


@dataclass(frozen=True, kw_only=True, repr=False)
class Size:
    """What a cost depends on: a transformer's numbers and choices, and what it reads.

    Attributes:
        d_model: width of the residual stream.
        num_heads: attention heads per layer; divides d_model.
        num_layers: layers of each stack.
        seq_len: tokens of each sequence; in an encoder-decoder of the source and of the target.
        batch: sequences side by side.
        d_ff: hidden units of the feed-forward network; 0 means 4 d_model.
        norm, activation, positional, architecture: as in `TransformerConfig`.
        causal: whether an encoder gets a causal mask; decoders always have one.
        vocab_size: token ids that the embedding and the output know, of which PAD is the first; they share one matrix.
            0 leaves both out: then what goes in and out is the residual stream.
        ends: which of the two there is where there are token ids, one of `ENDS`: the other end is the residual stream.
        num_kv_heads, normalization, qkv_bias, output_bias, feed_forward_bias, embedding_norm, num_token_types,
        position_offset, max_len, head, pooler: as in `TransformerConfig`.
        tie_embeddings: whether embedding and output share one matrix, where there are both.

    Raises:
        ValueError: naming the field, what was expected and what came.
    """

    d_model: int
    num_heads: int
    num_layers: int
    seq_len: int
    batch: int = 16
    d_ff: int = 0
    norm: str = "pre"
    activation: str = "gelu"
    positional: str = "none"
    architecture: str = "encoder"
    causal: bool = False
    vocab_size: int = 0
    ends: str = "both"
    num_kv_heads: int = 0
    normalization: str = "layer"
    qkv_bias: bool = True
    output_bias: bool = True
    feed_forward_bias: bool = True
    embedding_norm: bool = False
    num_token_types: int = 0
    position_offset: int = 0
    max_len: int = MAX_LEN
    head: str = "logits"
    pooler: bool = False
    tie_embeddings: bool = True

    def __post_init__(self) -> None:
        check_whole_numbers(self, LOWEST)
        if self.vocab_size == 1:
            raise ValueError("vocab_size: expected 0 or at least 2, one beside PAD, got 1")
        check_choice("ends", self.ends, ENDS)
        if type(self.causal) is not bool:
            raise ValueError(f"causal: expected True or False, got {self.causal!r}")
        check_kind(self)
        check_choice("head", self.head, HEADS)
        if self.scheme.ends_at_max_len() and self.seq_len > self.max_len:
            raise ValueError(f"{self.positional} positions: expected at most {self.max_len} tokens, got {self.seq_len}")

    def __repr__(self) -> str:
        """The call that makes it, without what is as it would be anyway."""
        given = ((field, getattr(self, field.name)) for field in fields(self))
        return f"Size({', '.join(f'{field.name}={value!r}' for field, value in given if value != field.default)})"

    def in_words(self) -> str:
        """Its choices: encoder, causal, pre-norm, gelu, no positions; without embedding and output."""
        causal = ["causal"] if self.causal and self.architecture == "encoder" else []
        positions = f"{called(self.positional)} positions"
        chosen = ", ".join([self.architecture, *causal, f"{self.norm}-norm", self.activation, positions])
        if not self.vocab_size:
            return f"{chosen}; without embedding and output"
        matrix = "one matrix" if self.ends == "both" else "a matrix"
        return f"{chosen}; with {ENDS[self.ends]}, {matrix} for {self.vocab_size:,} token ids"

    @property
    def scheme(self) -> type[Positional]:
        """Its positional scheme."""
        return POSITIONAL[self.positional]

    @property
    def embeds(self) -> bool:
        """Whether token ids go in, and not the residual stream."""
        return self.vocab_size > 0 and self.ends != "output"

    @property
    def gives_logits(self) -> bool:
        """Whether logits come out, and not the residual stream."""
        return self.vocab_size > 0 and self.ends != "embedding"

    @property
    def feed_forward_dim(self) -> int:
        """Hidden units of the feed-forward network, with d_ff = 0 resolved."""
        return self.d_ff or 4 * self.d_model

    @property
    def head_dim(self) -> int:
        """Width of one head's queries, keys and values."""
        return self.d_model // self.num_heads

    @property
    def key_width(self) -> int:
        """Width of keys, and of values, of all heads that have their own."""
        return self.head_dim * (self.num_kv_heads or self.num_heads)

    @property
    def looks_back_only(self) -> bool:
        """Whether no token of the output depends on later ones."""
        return self.causal or self.architecture != "encoder"

    @property
    def num_stacks(self) -> int:
        """Stacks of layers: 2 in an encoder-decoder."""
        return 2 if self.architecture == "encoder-decoder" else 1

    @property
    def num_feed_forwards(self) -> int:
        """Feed-forward networks, one in each layer of each stack."""
        return self.num_stacks * self.num_layers

    @property
    def num_attentions(self) -> int:
        """Attentions in all: one in each layer, and in a decoder beside an encoder the one that looks across."""
        return self.num_feed_forwards + (self.num_layers if self.num_stacks == 2 else 0)

    @property
    def is_gated(self) -> bool:
        """Whether the feed-forward network has a gate, and so three matrices."""
        return ACTIVATIONS[self.activation].gated

    @property
    def stream(self) -> int:
        """Numbers of the residual stream, B n d."""
        return self.batch * self.seq_len * self.d_model

    @property
    def scores(self) -> int:
        """Numbers of one layer's scores, B h n^2."""
        return self.batch * self.num_heads * self.seq_len**2

    @property
    def outputs(self) -> int:
        """Numbers of the output, B n d; logits B n V."""
        return self.batch * self.seq_len * (self.vocab_size if self.gives_logits else self.d_model)

    @property
    def table(self) -> int:
        """Numbers of the matrix of the embedding, or of the output, V d; 0 where both are left out."""
        return self.vocab_size * self.d_model
