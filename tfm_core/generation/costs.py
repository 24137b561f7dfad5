"""What one more token costs in closed form, with a key-value cache and without: floating-point operations.

Symbols: L layers, d = d_model, f hidden units of the feed-forward network, V tokens of the vocabulary; n tokens that a
pass reads, m that are stored. A multiply-add counts as two operations; norms, softmax and activations, which grow with
n d and n (m + n) alone, are left out, as FlopCounterMode leaves them out.
"""

from tfm_core.model.config import TransformerConfig
from tfm_core.model.feed_forward import ACTIVATIONS


def pass_flops(config: TransformerConfig, new: int, stored: int = 0) -> int:
    """Operations of a pass that reads `new` tokens after `stored` ones: L (8 n d² + 4 n (m + n) d + 4 n d f) + 2 n d V.

    A gated feed-forward network has 6 n d f; where heads share keys and values, of d_kv dimensions together, it is 4 n
    d (d + d_kv) in place of 8 n d². A mask takes nothing away, as all scores are computed; and the logits are those of
    each token that is read, although who writes needs the last ones alone.

    Raises:
        ValueError: for a model that is no decoder with full attention.
    """
    if config.architecture != "decoder" or config.attention not in ("full", "fused"):
        raise ValueError(
            f"pass_flops: expected a decoder with full attention, got {config.architecture!r}, {config.attention!r}"
        )
    d, matrices = config.d_model, 3 if ACTIVATIONS[config.activation].gated else 2
    keys = config.head_dim * config.kv_heads
    layer = 4 * new * d * (d + keys) + 4 * new * (stored + new) * d + 2 * matrices * new * d * config.feed_forward_dim
    return config.num_layers * layer + 2 * new * d * config.vocab_size


def step_flops(config: TransformerConfig, length: int, *, cached: bool) -> int:
    """Operations for the token after a text of `length` tokens: of its last token alone, or of all of it."""
    return pass_flops(config, 1, length - 1) if cached else pass_flops(config, length)
