"""What is to be measured: rows (a target at a size), and the setting that all of them share. Plain values alone."""

from dataclasses import dataclass, fields

from tfm_core.model.blocks import ACTIVATIONS
from tfm_core.model.config import TransformerConfig

LOWEST = {"d_model": 1, "num_heads": 1, "num_layers": 1, "seq_len": 1, "batch": 1, "d_ff": 0, "vocab_size": 0}
DTYPES = ("float32", "float64", "bfloat16", "float16")


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

    def __post_init__(self) -> None:
        for field, lowest in LOWEST.items():
            value = getattr(self, field)
            if type(value) is not int or value < lowest:
                raise ValueError(f"{field}: expected a whole number of at least {lowest}, got {value!r}")
        if self.vocab_size == 1:
            raise ValueError("vocab_size: expected 0 or at least 2, one beside PAD, got 1")
        if type(self.causal) is not bool:
            raise ValueError(f"causal: expected True or False, got {self.causal!r}")
        longest = self.config().max_len
        if self.positional == "learned" and self.seq_len > longest:
            raise ValueError(f"learned positions: expected at most {longest} tokens, got {self.seq_len}")

    def __repr__(self) -> str:
        """The call that makes it, without what is as it would be anyway."""
        given = ((field, getattr(self, field.name)) for field in fields(self))
        return f"Size({', '.join(f'{field.name}={value!r}' for field, value in given if value != field.default)})"

    def config(self, seed: int = 0) -> TransformerConfig:
        """The transformer; where embedding and output are left out, with the smallest ones."""
        return TransformerConfig(
            vocab_size=self.vocab_size or 1,
            architecture=self.architecture,
            d_model=self.d_model,
            num_heads=self.num_heads,
            num_layers=self.num_layers,
            d_ff=self.d_ff,
            positional=self.positional,
            norm=self.norm,
            activation=self.activation,
            tie_embeddings=True,
            seed=seed,
        )

    def in_words(self) -> str:
        """Its choices: encoder, causal, pre-norm, gelu, no positions; without embedding and output."""
        causal = ["causal"] if self.causal and self.architecture == "encoder" else []
        positions = f"{self.positional if self.positional != 'none' else 'no'} positions"
        chosen = ", ".join([self.architecture, *causal, f"{self.norm}-norm", self.activation, positions])
        if not self.vocab_size:
            return f"{chosen}; without embedding and output"
        return f"{chosen}; with embedding and output, one matrix for {self.vocab_size:,} token ids"

    @property
    def feed_forward_dim(self) -> int:
        """Hidden units of the feed-forward network, with d_ff = 0 resolved."""
        return self.d_ff or 4 * self.d_model

    @property
    def head_dim(self) -> int:
        """Width of one head's queries, keys and values."""
        return self.d_model // self.num_heads

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


@dataclass(frozen=True)
class Row:
    """One thing to measure: a key of `TARGETS`, and how large."""

    target: str
    size: Size


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all rows share.

    Attributes:
        device: "cpu" or "cuda".
        dtype: one of `DTYPES`, of weights and inputs.
        threads: of torch, on the processor.
        rounds: how often each row has its turn.
        backward: whether forward + backward is measured beside forward.
        seed: of weights and inputs.
    """

    device: str = "cpu"
    dtype: str = "float32"
    threads: int = 1
    rounds: int = 15
    backward: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device: expected 'cpu' or 'cuda', got {self.device!r}")
        if self.dtype not in DTYPES:
            raise ValueError(f"dtype: expected one of {', '.join(DTYPES)}, got {self.dtype!r}")
        for field in ("threads", "rounds"):
            if type(getattr(self, field)) is not int or getattr(self, field) < 1:
                raise ValueError(f"{field}: expected a whole number of at least 1, got {getattr(self, field)!r}")
        if type(self.seed) is not int or not 0 <= self.seed < 2**63:  # what torch's generators take
            raise ValueError(f"seed: expected a whole number from 0 to 2^63 - 1, got {self.seed!r}")


@dataclass(frozen=True)
class Plan:
    """A request: what is measured together, in interleaved rounds, so that all of it can be compared."""

    rows: tuple[Row, ...]
    setup: Setup = Setup()

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("rows: expected at least one, got none")


DEFAULT_SIZES = tuple(
    Size(d_model=d_model, num_heads=heads, num_layers=layers, seq_len=length)
    for d_model, heads, layers, length in (
        (64, 4, 2, 50),
        (128, 8, 4, 50),
        (256, 8, 6, 50),
        (128, 8, 4, 100),
        (128, 8, 4, 200),
    )
)
