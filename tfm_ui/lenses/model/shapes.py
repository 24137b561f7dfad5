"""Shapes of models that the diagram counts without making their weights: well-known ones, and the reader's numbers."""

from dataclasses import dataclass

from tfm_core import TransformerConfig

GPT2_WORDS, PAPER_WORDS = 50_257, 37_000


THIS, OWN = "this model", "your numbers"  # what can be asked for beside these shapes
# Where the matrix of the output comes from, of the reader's numbers, and whether it has a bias.
SHARED, OWN_MATRIX, WITH_BIAS = OUTPUTS = ("the embedding’s matrix", "own matrix", "own matrix and bias")


@dataclass(frozen=True)
class Shape:
    """A model that is only counted."""

    config: TransformerConfig
    tokens: int
    """How many it reads; in an encoder-decoder of either text."""
    parameters: int
    """How many the same shape has in somebody else's code."""
    code: str
    """What that code is; a plural."""
    without_ends: bool = False
    """Whether it has neither the embedding nor the output."""
    printed: str = ""
    """Which number was printed where; "" if none was."""
    classes: int = 0
    """Of a classifier."""
    target_words: int = 0
    """Token ids of the target, where it has a table of its own; 0 where both texts share one."""
    bias: bool = False
    """Whether the output has a bias."""


def _encoder(vocab_size: int, layers: int) -> TransformerConfig:
    return TransformerConfig(
        vocab_size=vocab_size,
        d_model=128,
        num_heads=8,
        num_layers=layers,
        d_ff=512,
        norm="post",
        activation="relu",
        tie_embeddings=True,
    )


SHAPES = {
    "paper’s base": Shape(
        TransformerConfig(
            vocab_size=PAPER_WORDS,
            architecture="encoder-decoder",
            d_model=512,
            num_heads=8,
            num_layers=6,
            d_ff=2048,
            norm="post",
            activation="relu",
            tie_embeddings=True,
        ),
        100,
        44_138_496,
        "torch.nn.Transformer’s layers of this shape, without its two final norms,",
        without_ends=True,
        printed="Vaswani et al. 2017, table 3, print 65 million for their base model, with its embedding.",
    ),
    "two vocabularies": Shape(
        TransformerConfig(
            vocab_size=10_000,
            architecture="encoder-decoder",
            d_model=512,
            num_heads=8,
            num_layers=6,
            d_ff=2048,
            norm="post",
            activation="relu",
        ),
        100,
        57_458_496,
        "torch.nn.Transformer’s layers of this shape, without its two final norms, a torch.nn.Embedding for each text "
        "and a torch.nn.Linear with its bias",
        target_words=8_000,
        bias=True,
    ),
    "GPT-2 small": Shape(
        TransformerConfig(
            vocab_size=GPT2_WORDS,
            architecture="decoder",
            d_model=768,
            num_heads=12,
            num_layers=12,
            d_ff=3072,
            max_len=1024,
            positional="learned",
            tie_embeddings=True,
        ),
        1024,
        124_439_808,
        "The weights of transformers’ GPT2LMHeadModel of this shape",
        printed="Radford et al. 2019, table 2, print 117 million for it.",
    ),
    "small GPT": Shape(
        TransformerConfig(
            vocab_size=50_000,
            architecture="decoder",
            d_model=256,
            num_heads=8,
            num_layers=4,
            d_ff=1024,
            tie_embeddings=True,
        ),
        256,
        15_959_552,
        "An embedding, 4 encoder layers and a norm of torch.nn, with embedding and output tied,",
    ),
    "one layer": Shape(
        _encoder(1000, 1),
        32,
        198_272,
        "The weights of torch.nn.TransformerEncoderLayer(128, 8, 512)",
        without_ends=True,
    ),
    "six layers": Shape(
        _encoder(1000, 6),
        32,
        1_317_632,
        "Six torch.nn.TransformerEncoderLayer(128, 8, 512) and an embedding of 1,000 words",
    ),
    "classifier": Shape(
        TransformerConfig(
            vocab_size=500, d_model=64, num_heads=4, num_layers=3, d_ff=256, norm="post", activation="relu"
        ),
        32,
        182_147,
        "An embedding, 3 encoder layers and a linear head for 3 classes of torch.nn",
        classes=3,
    ),
}
