"""How many parameters each block of a transformer has: counted on its real modules, without making its weights."""

from collections.abc import Iterator

import torch
from torch import nn

from tfm_core.model.config import TransformerConfig
from tfm_core.model.layer import TransformerLayer
from tfm_core.model.transformer import Stack, Transformer


def block_parameters(config: TransformerConfig) -> dict[str, int]:
    """Block -> its number of parameters, from the bottom of each stack to its top; the values sum to the model's count.

    The names are those of the modules, as in a recording: `embedding`, `layers.0.self_attention`,
    `layers.0.feed_forward_norm`, ..., `final_norm`, `unembedding`; in an encoder-decoder behind `encoder.` and
    `decoder.`. A matrix that several blocks share (`tie_embeddings`) counts where it stands first, and the others have
    0. The model is built on torch's meta device: nothing is drawn or kept, so that any size can be counted.
    """
    with torch.device("meta"):
        model = Transformer(config)
    counted: set[int] = set()
    counts = {}
    for name, block in _blocks(model):
        new = {id(parameter): parameter.numel() for parameter in block.parameters() if id(parameter) not in counted}
        counted |= set(new)
        counts[name] = sum(new.values())
    return counts


def _blocks(model: Transformer) -> Iterator[tuple[str, nn.Module]]:
    """The blocks of the model with their names; a scheme of positions without a table is none."""
    for stack_name, stack in model.named_children():
        if not isinstance(stack, Stack):
            yield stack_name, stack
            continue
        prefix = f"{stack_name}." if model.config.architecture == "encoder-decoder" else ""
        for name, part in stack.named_children():
            if name == "layers":
                for number, layer in enumerate(stack.layers):
                    assert isinstance(layer, TransformerLayer)
                    for inside, block in layer.named_children():
                        if any(True for _ in block.parameters()):
                            yield f"{prefix}layers.{number}.{inside}", block
            elif any(True for _ in part.parameters()):
                yield prefix + name, part
