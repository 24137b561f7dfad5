"""Which model the diagram shows: the sidebar's, live, or a shape that is only counted; and what its blocks have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import pandas as pd
import torch
from torch import Tensor

from tfm_core import POSITIONAL, TransformerConfig, block_costs, stack_blocks
from tfm_core.positional.schemes import PLAIN
from tfm_core.study.blocks import Block, Cost, Term
from tfm_ui.lenses.model.diagram.vocabularies import at_stack, with_vocabularies
from tfm_ui.lenses.model.machine import LayerPanel, read
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.shapes import OWN, SHAPES, SHARED, THIS, WITH_BIAS, Shape
from tfm_ui.lenses.model.state import OUTSIDE_LAYERS, ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import config_code, script
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

OWN_SHAPE = ("own_d_model", "own_heads", "own_layers", "own_d_ff", "own_words")
ABOUT_OWN = "Your numbers stand in “More”; the kind of model is the sidebar’s."
LLAMA = (
    "These are the numbers of LLaMA 7B (Touvron et al. 2023), which has 6,738,415,616 parameters: its feed-forward "
    "network is gated, its output has a matrix of its own, and it has no biases."
)
ENDS = ("embedding", "transform", "logits", "head")
INSIDE = {"rotate": "turns Q, K", "bias_at": "adds a bias"}  # how a scheme enters the attention
TITLES = {
    "token_types": "+ token types",
    "cross_attention": "Cross-attention",
    "feed_forward": "Feed-forward",
    "sum": "+ residual",
    "transform": "Transform",
    "pooler": "Pooler",
    "logits": "Logits",
    "head": "Mean, classes",
}


@dataclass(frozen=True)
class Chosen:
    """The model of the diagram."""

    config: TransformerConfig
    lengths: dict[str, int]
    """Stack -> how many tokens it reads."""
    shape: Shape | None = None
    """The well-known shape, if it is one."""
    live: bool = True
    """Whether its weights are made and its tensors can be shown."""
    note: str = ""
    """What is to be known of the reader's numbers, and what had to give way; "" of other shapes."""
    target_words: int = 0
    """Token ids of the target, where it has a table of its own; 0 where both texts share one."""
    bias: bool = False
    """Whether the output has a bias that the configuration does not have."""

    @property
    def classes(self) -> int:
        """The number of a classifier's classes; 0 in all other models."""
        return self.shape.classes if self.shape else 0


def chosen(model: ModelState, state: ModelLensState) -> Chosen:
    """What the link asks for."""
    if state.shape == THIS:
        config = state.config(model)
        return Chosen(config, _lengths(config, len(model.source_tokens.ids), len(model.target_tokens.ids)))
    if shape := SHAPES.get(state.shape):
        lengths, ends = _lengths(shape.config, shape.tokens, shape.tokens), (shape.target_words, shape.bias)
        return Chosen(shape.config, lengths, shape, False, "", *ends)
    assert state.shape == OWN
    config, note = _own(state.config(model), state)
    note = " ".join(filter(None, [ABOUT_OWN, LLAMA if _is_llama(state) else "", note]))
    target_words = state.own_target * (config.architecture == "encoder-decoder")
    ends = target_words, state.own_output == WITH_BIAS
    return Chosen(config, _lengths(config, state.own_tokens, state.own_tokens), None, False, note, *ends)


def _is_llama(state: ModelLensState) -> bool:
    """Whether the reader's numbers are the ones that stand there at first."""
    fields = controls_of(ModelLensState)
    return all(getattr(state, name) == fields[name][1] for name in OWN_SHAPE)


def _lengths(config: TransformerConfig, source: int, target: int) -> dict[str, int]:
    both = config.architecture == "encoder-decoder"
    return {"encoder": source, "decoder": target} if both else {config.architecture: source}


def _own(config: TransformerConfig, state: ModelLensState) -> tuple[TransformerConfig, str]:
    """The reader's numbers in the sidebar's kind of model, and what had to give way."""
    width, asked = state.own_d_model, state.own_heads
    heads = max(number for number in range(1, min(asked, width) + 1) if width % number == 0)
    note = "" if heads == asked else f"{asked} heads do not divide d_model {width}: {heads} are counted. "
    if config.num_kv_heads:
        note += "Each head is counted with keys and values of its own. "
    made = replace(
        config,
        vocab_size=state.own_words,
        d_model=width,
        num_heads=heads,
        num_kv_heads=0,
        num_layers=state.own_layers,
        d_ff=state.own_d_ff,
        max_len=max(state.own_tokens, config.max_len),
        positional=PLAIN,
        tie_embeddings=config.tie_embeddings if state.own_output == SHARED else False,
    )
    try:
        with_positions = replace(made, positional=config.positional)
        counted_blocks(with_positions, 0)
    except ValueError as problem:
        return made, f"{note}Counted without positions: {problem}."
    return with_positions, note.strip()


@cached()
def counted_blocks(config: TransformerConfig, classes: int) -> dict[str, list[Block]]:
    """Stack -> its blocks, counted on torch's meta device."""
    return stack_blocks(config, classes)


def counts_and_costs(
    *, config: TransformerConfig, lengths: Mapping[str, int], classes: int, target_words: int, bias: bool
) -> tuple[Mapping[str, int], Mapping[str, tuple[int, int]]]:
    """Block -> its parameters; and its multiply-adds and the numbers that it writes."""
    stacks = with_vocabularies(stack_blocks(config, classes), config, target_words, bias)
    counts = {block.name: block.parameters for blocks in stacks.values() for block in blocks}
    costs = {}
    for stack, blocks in stacks.items():
        for block in blocks:
            of_stack, source = at_stack(config, stack, target_words), lengths.get("encoder", 0)
            cost = block_costs(block, of_stack, lengths[stack], source, classes)
            costs[block.name] = (sum(term.value for term in cost.time), sum(term.value for term in cost.space))
    return counts, costs


def added_up(trace: Mapping[str, Tensor], sites: Sequence[str]) -> Tensor:
    """The sum of what was recorded at these sites, (token, dimension); what is pooled is of one token."""
    return torch.stack([_of_text(trace, site) for site in sites]).sum(0)


def _of_text(trace: Mapping[str, Tensor], site: str) -> Tensor:
    """What was recorded at a site, without its batch axis, which positions lack; of what is pooled, one row."""
    recorded = trace[site]
    return recorded if recorded.dim() == 2 else recorded[0]


def written(terms: tuple[Term, ...]) -> tuple[str, str]:
    """A cost in symbols with its value, and its value alone."""
    value = formats.count(sum(term.value for term in terms))
    return (f"{' + '.join(term.symbols for term in terms)} = {value}", value) if terms else ("", "")


class Counted(NamedTuple):
    """A block with what it costs."""

    block: Block
    cost: Cost

    @property
    def name_in_link(self) -> str:
        """What the link calls the block: its name without the stack and the layer."""
        return self.block.name.removeprefix("encoder.").removeprefix("decoder.").split(".")[-1]

    @property
    def time(self) -> int:
        """Its multiply-adds."""
        return sum(term.value for term in self.cost.time)

    @property
    def space(self) -> int:
        """How many numbers it writes."""
        return sum(term.value for term in self.cost.space)

    def costs_in_words(self) -> str:
        """What it costs, in a sentence."""
        time, space = written(self.cost.time)[0], written(self.cost.space)[0]
        return f"It {f'needs {time} multiply-adds' if time else 'multiplies no matrices'} and writes {space} numbers."


class DiagramPanel(LayerPanel):
    """A panel on the model of the diagram, and on the block, the layer and the stack of it that are looked at."""

    is_live: ClassVar[bool] = False
    """Whether it shows tensors of the sidebar's model, which a shape that is only counted does not have."""

    @cached_property
    def chosen(self) -> Chosen:
        """The model that is drawn."""
        return chosen(self.model, replace(self.state, shape=THIS) if self.is_live else self.state)

    @property
    def config(self) -> TransformerConfig:
        """Its configuration."""
        return self.chosen.config

    @property
    def stack(self) -> str:
        """The stack that is looked at."""
        return self.state.stack if self.state.stack in self.chosen.lengths else next(iter(self.chosen.lengths))

    @property
    def block_name(self) -> str:
        """What the link calls the block that is looked at: in the view "block" the one that is open there."""
        of_machine: str = self.state.block
        return OUTSIDE_LAYERS.get(self.state.sub_layer, of_machine) if self.state.view == "block" else of_machine

    @property
    def layer(self) -> int:
        """The layer whose blocks are drawn, from 1."""
        return min(self.state.layer, self.config.num_layers)

    @cached_property
    def counts(self) -> dict[str, list[Counted]]:
        """Stack -> its blocks with what each costs, from the tokens to its end."""
        chosen, lengths = self.chosen, self.chosen.lengths
        # Which weights there are makes no difference: while the seed changes, nothing is counted again.
        blocks_of = counted_blocks(replace(self.config, seed=0), chosen.classes)
        stacks = with_vocabularies(blocks_of, self.config, chosen.target_words, chosen.bias)
        source = lengths.get("encoder", 0)
        return {
            stack: [
                Counted(block, block_costs(block, self.config_at(stack), lengths[stack], source, chosen.classes))
                for block in blocks
            ]
            for stack, blocks in stacks.items()
        }

    def config_at(self, stack: str) -> TransformerConfig:
        """The configuration with the vocabulary of a stack."""
        return at_stack(self.config, stack, self.chosen.target_words)

    @cached_property
    def items(self) -> list[Counted]:
        """All blocks, stack by stack."""
        return [item for blocks in self.counts.values() for item in blocks]

    @cached_property
    def picked(self) -> Counted:
        """The block that is looked at; where the model has no such block, the self-attention."""
        blocks = [item for item in self.counts[self.stack] if item.block.layer in (None, self.layer - 1)]
        names = {item.name_in_link: item for item in blocks}
        return names.get(self.block_name, names["self_attention"])

    @property
    def parameters(self) -> int:
        """The number of parameters in all."""
        return sum(item.block.parameters for item in self.items)

    @property
    def without_ends(self) -> int:
        """The number of parameters without the embedding and the output."""
        return sum(item.block.parameters for item in self.items if item.block.kind not in ENDS)

    def parameters_of(self, *kinds: str) -> int:
        """The parameters of all blocks of these kinds."""
        return sum(item.block.parameters for item in self.items if item.block.kind in kinds)

    def time_of(self, *kinds: str) -> int:
        """The multiply-adds of all blocks of these kinds."""
        return sum(item.time for item in self.items if item.block.kind in kinds)

    def masks(self, stack: str) -> bool:
        """Whether the attention of a stack is causal."""
        return stack == "decoder" or (self.chosen.shape is None and self.model.masks_the_future)

    def shape_out(self, block: Block, stack: str) -> tuple[str, str]:
        """The shape of what flows out of a block of a stack, in symbols and numbers, and in numbers alone."""
        if block.kind == "head":
            return f"(C) = ({self.chosen.classes})", str(self.chosen.classes)
        if block.kind == "pooler":
            pooled = formats.count(self.config.d_model)
            return f"(d) = ({pooled})", pooled
        symbol, width = (
            ("V", self.config_at(stack).vocab_size) if block.kind == "logits" else ("d", self.config.d_model)
        )
        n, size = formats.count(self.chosen.lengths[stack]), formats.count(width)
        return f"(n, {symbol}) = ({n}, {size})", f"{n} × {size}"

    def name_of(self, block: Block, stack: str) -> tuple[str, str]:
        """What stands in the box of a block, and what enters it from outside."""
        config = self.config
        norm = "Layer norm" if config.normalization == "layer" else "RMSNorm"
        if block.name.endswith("final_norm"):
            return "Final norm" if config.normalization == "layer" else f"Final {norm}", ""
        if block.name.endswith("embedding_norm"):
            return "Embedding norm" if config.normalization == "layer" else f"Embedding {norm}", ""
        match block.kind:
            case "embedding":
                return "Embedding × √d" if config.scale_embeddings else "Embedding", ""
            case "norm":
                return norm, ""
            case "position":
                return f"+ {config.positional} positions", ""
            case "feed_forward":
                return f"Feed-forward, {config.activation}", ""
            case "self_attention":
                text = "self-attention" if config.attention == "full" else f"{config.attention} self-attention"
                text = f"masked {text}" if self.masks(stack) else text
                ways = [INSIDE[way] for way in POSITIONAL[config.positional].enters() if way in INSIDE]
                return text[0].upper() + text[1:], f"{config.positional} {' and '.join(ways)}" if ways else ""
        return TITLES[block.kind], ""

    @property
    def heads(self) -> str:
        """How many heads there are, and how many of keys and values, where heads share these."""
        heads = formats.plural(self.config.num_heads, "head")
        if self.config.kv_heads == self.config.num_heads:
            return heads
        return f"{heads}, {formats.plural(self.config.kv_heads, 'key-value head')}"

    def shared_in_words(self) -> str:
        """Which heads share keys and values, in a sentence that a space follows; "" where none do."""
        heads, shared = self.config.num_heads, self.config.kv_heads
        if shared == heads:
            return ""
        if shared == 1:
            return f"All {heads} heads share one key-value head. "
        each = heads // shared
        return (
            f"{heads} heads share {shared} key-value heads: heads 1 to {each} the first, heads {each + 1} to "
            f"{2 * each} the second{', and so on' if shared > 2 else ''}. "
        )

    @property
    def has_output(self) -> bool:
        """Whether there are logits, or a classifier's head."""
        return any(item.block.kind in ("logits", "head") for item in self.items)

    def what_it_is(self) -> str:
        """Whether the model is live."""
        if self.chosen.live:
            weights = self.model.if_random("random weights", f"weights trained on {trained_on(self.model)}")
            return f"This is the sidebar’s model, live, with {weights}."
        megabytes = 4 * self.parameters / 1e6
        size = f"{formats.count(round(megabytes))} MB" if megabytes >= 10 else f"{max(megabytes, 0.01):.2f} MB"
        weights = f"Counted only: no weight is made, and as float32 they would take {size}."
        if self.state.run:
            weights = f"All of this is counted, not measured; as float32 the weights take {size}."
        if shape := self.chosen.shape:
            return f"{weights} {shape.code} have as many: {formats.count(shape.parameters)}. {shape.printed}".strip()
        return f"{weights} {self.chosen.note}".strip()

    @property
    def stream(self) -> list[Block]:
        """The blocks after which the residual stream is another: in post-norm the norms write it, too."""
        kinds = ("embedding", "token_types", "position", "sum", *(["norm"] if self.config.norm == "post" else []))
        norms = "final_norm", "embedding_norm"
        blocks = [item.block for item in self.counts[self.stack]]
        return [block for block in blocks if block.kind in kinds or block.name.endswith(norms)]

    @cached_property
    def recorded(self) -> Mapping[str, Tensor]:
        """What the live pass recorded: of a heavy model what the panels show, of others all, as other blocks follow."""
        blocks = [item.block for item in self.items] if not self.model.is_heavy else [self.picked.block]
        wanted = {site for block in blocks for site in (*block.reads, *block.writes)}
        wanted |= {f"{block.name}.mask" for block in blocks if block.kind.endswith("attention")}
        wanted |= {site for block in self.stream for site in block.writes}
        if any(block.kind == "cross_attention" for block in blocks):
            wanted |= set(self.counts["encoder"][-1].block.writes)
        return read(self.model, self.config, tuple(sorted(wanted)))

    def table_of(self, items: Sequence[Counted]) -> pd.DataFrame:
        """A row per block."""
        return pd.DataFrame(
            [
                {
                    "block": item.block.name,
                    "parameters": item.block.parameters,
                    "multiply-adds": item.time,
                    "as a formula": written(item.cost.time)[0],
                    "numbers written": item.space,
                    "their formula": written(item.cost.space)[0],
                }
                for item in items
            ]
        ).set_index("block")

    def recipe(self) -> str:
        """A script that leaves `counts` and `costs` by block."""
        chosen = self.chosen
        of_model = {"lengths": chosen.lengths, "classes": chosen.classes}
        of_model |= {"target_words": chosen.target_words, "bias": chosen.bias}
        return script(counts_and_costs, config=config_code(self.config), **of_model)
