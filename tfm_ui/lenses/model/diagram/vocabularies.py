"""Two vocabularies and an output of its own: what code for translation has, and this library's transformer has not.

Here all embeddings of a model are one table. Where somebody's code has a table for the source and another one for the
target, or a bias at the output, the blocks that differ are counted anew; all others stay as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfm_core import TransformerConfig
from tfm_core.study.blocks import Block


def at_stack(config: TransformerConfig, stack: str, target_words: int) -> TransformerConfig:
    """The configuration as a stack has it: the decoder's vocabulary is the target's, if that is another one."""
    return replace(config, vocab_size=target_words) if stack == "decoder" and target_words else config


def with_vocabularies(
    stacks: Mapping[str, Sequence[Block]], config: TransformerConfig, target_words: int, bias: bool
) -> dict[str, list[Block]]:
    """Stack -> its blocks, with the parameters that the decoder's table and the output have.

    Args:
        stacks: the blocks of the configuration.
        config: the transformer. Tied, the output uses the table of the stack that it ends.
        target_words: token ids of the target; 0 where the target has the source's.
        bias: whether the output has a bias.
    """

    def counted(block: Block, stack: str) -> Block:
        words = at_stack(config, stack, target_words).vocab_size
        if block.kind == "embedding" and stack == "decoder" and target_words:
            return replace(block, parameters=words * config.d_model)
        if block.kind == "logits":
            matrix = 0 if config.tie_embeddings else words * config.d_model
            return replace(block, parameters=matrix + words * bias)
        return block

    if not target_words and not bias:
        return {stack: list(blocks) for stack, blocks in stacks.items()}
    return {stack: [counted(block, stack) for block in blocks] for stack, blocks in stacks.items()}
