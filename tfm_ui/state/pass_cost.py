"""How much work a pass of a model is, estimated before it runs. Pure."""

from tfm_core import TransformerConfig

# Bytes beyond which a pass takes long: what one shared core writes and reads in about 0.1 s.
HEAVY = 24_000_000
NUMBER = 4  # bytes of a float32
DRAWN = 16  # numbers that are made of each pair of tokens on the way to its picture


def weight_bytes(config: TransformerConfig) -> int:
    """Of the model itself; biases and norms, which are a hundredth of it, are left out."""
    width, hidden = config.d_model, config.d_ff or 4 * config.d_model
    feed_forward = (3 if config.activation == "swiglu" else 2) * width * hidden
    layer = 4 * width**2 * _attentions(config) + feed_forward * _stacks(config)
    return NUMBER * (config.vocab_size * width + config.num_layers * layer)


def pass_bytes(config: TransformerConfig, tokens: int) -> int:
    """What a first pass writes: the model, each head's scores and weights, the vectors, and a picture of it."""
    scores = 3 * config.num_heads * tokens**2 * _attentions(config)
    vectors = tokens * (12 * config.d_model + 2 * (config.d_ff or 4 * config.d_model)) * _stacks(config)
    return weight_bytes(config) + NUMBER * (config.num_layers * (scores + vectors) + DRAWN * tokens**2)


def _stacks(config: TransformerConfig) -> int:
    return 2 if config.architecture == "encoder-decoder" else 1


def _attentions(config: TransformerConfig) -> int:
    """In a layer of all stacks together: a decoder's has a second one where there is an encoder."""
    return 3 if config.architecture == "encoder-decoder" else 1
