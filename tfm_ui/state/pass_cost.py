"""Estimates the cost of a pass before it runs, in bytes that the pass writes. Pure."""

from tfm_core import TransformerConfig
from tfm_core.model.trained import names_a_file

# A pass of more bytes counts as slow: one shared core writes and reads this much in about 0.1 s.
HEAVY = 24_000_000
NUMBER = 4  # bytes of a float32
EXACT_UP_TO = 256  # tokens: pictures have a cell for each weight, and no more are read unless they are asked for
AT_ONCE = 2**21  # how many weights are summarised at a time: as many as fit into the processor's cache
SMALL = 8_000_000  # bytes of what depends on no size
# Bytes of freed memory that glibc keeps at the end of its heap while much is taken and freed: twice the largest block
# that tfm_core/allocator.py has made it reuse. At the end of a picture they are given back.
KEPT_BY_GLIBC = 62 * 2**20
DRAWN = 16  # numbers that are computed for each pair of tokens in a picture


def weight_bytes(config: TransformerConfig) -> int:
    """The bytes of the model's weights, without biases and norms, which are about a hundredth of them.

    None of a pretrained model that is mapped from a file: all processes share one copy, whatever is computed with it.
    """
    return 0 if is_mapped(config) else _bytes_of_weights(config)


def _bytes_of_weights(config: TransformerConfig) -> int:
    width, hidden = config.d_model, config.feed_forward_dim
    feed_forward = (3 if config.activation == "swiglu" else 2) * width * hidden
    projections = 2 * width * (width + config.kv_heads * config.head_dim)
    layer = projections * _attentions(config) + feed_forward * _stacks(config)
    return NUMBER * (config.vocab_size * width + config.num_layers * layer)


def is_mapped(config: TransformerConfig) -> bool:
    """Whether the weights are mapped from a file, so that no pass has them for itself."""
    return names_a_file(config.weights)


def pass_bytes(config: TransformerConfig, tokens: int) -> int:
    """The bytes that a first pass writes: model, scores and weights of all heads, vectors, and a picture.

    Weights that are mapped count, too: a pass reads all of them, which takes as long.
    """
    scores = 3 * config.num_heads * tokens**2 * _attentions(config)
    vectors = tokens * (12 * config.d_model + 2 * (config.d_ff or 4 * config.d_model)) * _stacks(config)
    return _bytes_of_weights(config) + NUMBER * (config.num_layers * (scores + vectors) + DRAWN * tokens**2)


def peak_bytes(config: TransformerConfig, tokens: int, *, bias: bool) -> int:
    """The most bytes that a first pass has in memory at a time.

    The model; of each layer so far what is kept: the stream, queries, keys and values, and the maps of its heads; and
    of the layer that runs all weights, beside a few scores.

    Args:
        config: of the model.
        tokens: of the longer text.
        bias: whether the positional scheme adds a bias to the scores.
    """
    pairs, vectors = config.num_heads * tokens**2, tokens * config.d_model
    hidden = config.d_ff or 4 * config.d_model
    kept = (
        config.num_layers
        * _attentions(config)
        * (4 * NUMBER * vectors + config.num_heads * min(tokens, EXACT_UP_TO) ** 2)
    )
    tables = 8 * tokens**2  # of all pairs, whatever the heads: masks, distances, and what pooling leaves
    running = NUMBER * ((2 if bias else 1) * pairs + tables + 3 * min(pairs, AT_ONCE) + 3 * tokens * hidden)
    logits = 2 * NUMBER * tokens * config.vocab_size
    return weight_bytes(config) + kept + max(running, logits) + SMALL


def _stacks(config: TransformerConfig) -> int:
    return 2 if config.architecture == "encoder-decoder" else 1


def _attentions(config: TransformerConfig) -> int:
    """The attentions in a layer, all stacks counted: an encoder-decoder has cross-attention as well."""
    return 3 if config.architecture == "encoder-decoder" else 1
