"""How many parameters each block of a transformer has: counted on its real modules, without making its weights."""

from collections import Counter
from dataclasses import replace

import torch

from tfm_core.model.classifier import SequenceClassifier
from tfm_core.model.config import TransformerConfig
from tfm_core.model.trained import RANDOM
from tfm_core.model.transformer import Transformer


def block_parameters(config: TransformerConfig, classes: int = 0) -> dict[str, int]:
    """Block -> its number of parameters, from the bottom of each stack to its top; the values sum to the model's count.

    The names are those of the modules, as in a recording: `embedding`, `layers.0.self_attention`,
    `layers.0.feed_forward_norm`, ..., `final_norm`, `unembedding`, where there are any `token_types`, `embedding_norm`,
    `transform` and `pooler`; in an encoder-decoder after `encoder.` and
    `decoder.`; with `classes`, the `head` of a `SequenceClassifier` in place of `unembedding`. A matrix that several
    blocks share (`tie_embeddings`) counts where it stands first, and the other blocks, as all without parameters, have
    no entry. The model is built on torch's meta device: nothing is drawn or kept, so that any size can be counted.
    Kaplan et al. 2020, table 1, count the same in closed form, without biases and norms.

    Args:
        config: the transformer; whose values its weights have makes no difference.
        classes: of a `SequenceClassifier`; 0 for a `Transformer`.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, block_parameters
        >>> config = TransformerConfig(vocab_size=50, d_model=8, num_heads=2)
        >>> counts = block_parameters(config)
        >>> counts["embedding"]
        400
        >>> sum(counts.values()) == sum(parameter.numel() for parameter in Transformer(config).parameters())
        True
    """
    config = replace(config, weights=RANDOM)  # whose values they have makes no difference
    with torch.device("meta"):
        model = SequenceClassifier(config, classes) if classes else Transformer(config)
    counts = Counter[str]()
    for name, parameter in model.named_parameters():  # a shared one comes once
        counts[_block(name)] += parameter.numel()
    return dict(counts)


def _block(parameter: str) -> str:
    """The block of a parameter, by its name: in a layer the sub-layer or its norm, else the module that holds it."""
    path = parameter.removeprefix("stack.").split(".")
    if path[0] == "transform":
        return path[0]
    return ".".join(path[: path.index("layers") + 3] if "layers" in path else path[:-1])
