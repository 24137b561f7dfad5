"""What the diagram says: parameters by block and in all, what each block costs, and which numbers are live."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from torch import Tensor

from tfm_core import Tokens
from tfm_core.study.blocks import Block
from tfm_ui.lenses.model.diagram import recipe
from tfm_ui.lenses.model.diagram.chosen import chosen, counted
from tfm_ui.lenses.model.diagram.rows import Row, picked, picked_stack, rows, written
from tfm_ui.lenses.model.diagram.shapes import Chosen, Counted
from tfm_ui.lenses.model.machine import read, token_of, transformer_of
from tfm_ui.lenses.model.naming import trained_on
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties, places_of_largest

ENDS = ("embedding", "logits", "head")


@dataclass(frozen=True)
class Machine(Result):
    """The diagram.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        shown: the model that is drawn.
        counts: stack -> its blocks, with what each costs.
    """

    model: ModelState
    state: ModelLensState
    shown: Chosen
    counts: Mapping[str, list[Counted]]

    @cached_property
    def items(self) -> list[Counted]:
        """All blocks, stack by stack."""
        return [item for blocks in self.counts.values() for item in blocks]

    @property
    def parameters(self) -> int:
        """The number of parameters in all."""
        return sum(item.block.parameters for item in self.items)

    @property
    def without_ends(self) -> int:
        """The number of parameters without the embedding and the output."""
        return sum(item.block.parameters for item in self.items if item.block.kind not in ENDS)

    @property
    def picked(self) -> Counted:
        """The block that is looked at."""
        return picked(self.shown, self.state, dict(self.counts))

    @property
    def stack(self) -> str:
        """The stack that is looked at."""
        return picked_stack(self.shown, self.state)

    @property
    def tokens(self) -> Tokens:
        """The text that this stack reads."""
        decoder = self.model.is_encoder_decoder and self.stack == "decoder"
        return self.model.target_tokens if decoder else self.model.source_tokens

    @property
    def token(self) -> int:
        """The token that is followed, from 0: at most the last of the text."""
        return token_of(self.tokens, self.state)

    @property
    def stream(self) -> list[Block]:
        """The blocks after which the residual stream is another: in post-norm the norms write it, too."""
        inside = ("norm",) if self.shown.config.norm == "post" else ()
        blocks = [item.block for item in self.counts[self.stack]]
        return [
            block
            for block in blocks
            if block.kind in ("embedding", "position", "sum", *inside) or block.name.endswith("final_norm")
        ]

    @cached_property
    def recorded(self) -> Mapping[str, Tensor]:
        """What the live pass recorded: of a heavy model what the panels show, of others all, as other blocks follow."""
        blocks = [item.block for item in self.items] if not self.model.is_heavy else [self.picked.block]
        wanted = {site for block in blocks for site in (*block.reads, *block.writes)}
        wanted |= {f"{block.name}.mask" for block in blocks if block.kind.endswith("attention")}
        wanted |= {site for block in self.stream for site in block.writes}
        if any(block.kind == "cross_attention" for block in blocks):
            wanted |= set(self.counts["encoder"][-1].block.writes)
        return read(self.model, self.shown.config, tuple(sorted(wanted)))

    def rows_of(self, stack: str) -> list[Row]:
        """The rows of the drawing."""
        return rows(self.shown, self.state, stack, dict(self.counts), masked=self.masks(stack))

    def called(self, stack: str) -> str:
        """The name of a stack: that of the whole model, if it has one only."""
        if len(self.counts) > 1:
            return stack
        return "decoder-only" if stack == "decoder" or self.masks(stack) else stack

    def masks(self, stack: str) -> bool:
        """Whether the attention of a stack is causal."""
        return stack == "decoder" or (self.shown.shape is None and self.model.masks_the_future)

    def time_of(self, kind: str) -> int:
        """The multiply-adds of all blocks of a kind."""
        return sum(term.value for item in self.items if item.block.kind == kind for term in item.cost.time)

    def sentence(self) -> str:
        """How many parameters there are, where most of them are, which part computes most, and what is live."""
        kinds = {"attention": ("self_attention", "cross_attention"), "feed-forward": ("feed_forward",)}
        kinds |= {"logits": ("logits",)} if not self.shown.classes else {"the head": ("head",)}
        times = {name: sum(self.time_of(kind) for kind in each) for name, each in kinds.items()}
        most = places_of_largest(np.array(list(times.values()), float))
        share = times[list(times)[most[0]]] / sum(times.values())
        return (
            f"{formats.count(self.parameters)} parameters; {formats.count(self.without_ends)} of them are neither in "
            f"the embedding nor in the output. {formats.percent(share)} of the multiply-adds are in "
            f"{list(times)[most[0]]}{one_of_ties(len(most))}. {self.what_it_is()}"
        )

    def what_it_is(self) -> str:
        """Whether the model is live."""
        if self.shown.live:
            weights = self.model.if_random("random weights", f"weights trained on {trained_on(self.model)}")
            return f"This is the sidebar’s model, live, with {weights}."
        megabytes = round(4 * self.parameters / 1e6)
        size = f"{formats.count(megabytes)} MB" if megabytes else "less than 1 MB"
        weights = f"Counted only: no weight is made, and as float32 they would take {size}."
        if self.shown.shape:
            shape = self.shown.shape
            return f"{weights} {shape.code} have as many: {formats.count(shape.parameters)}. {shape.printed}".strip()
        return f"{weights} {self.shown.note}".strip()

    def laws(self) -> dict[str, bool]:
        """The sum beside the real modules, here or in somebody else's code."""
        laws = {}
        if self.shown.live:
            real = sum(each.numel() for each in transformer_of(self.model, self.state).parameters())
            laws[f"the blocks sum to the live model’s {formats.count(real)} parameters"] = real == self.parameters
        if shape := self.shown.shape:
            number = self.without_ends if shape.without_ends else self.parameters
            where = "without embedding and output" if shape.without_ends else "in all"
            code = shape.code[0].lower() + shape.code.removesuffix(",")[1:]
            laws[f"{formats.count(number)} {where}, as many as {code}"] = number == shape.parameters
        return laws

    def table(self) -> pd.DataFrame:
        """A row per block."""
        return pd.DataFrame(
            [
                {
                    "block": item.block.name,
                    "parameters": item.block.parameters,
                    "multiply-adds": sum(term.value for term in item.cost.time),
                    "as a formula": written(item.cost.time)[0],
                    "numbers written": sum(term.value for term in item.cost.space),
                    "their formula": written(item.cost.space)[0],
                }
                for item in self.items
            ]
        ).set_index("block")

    def recipe(self) -> str:
        """A script that leaves `counts` and `costs` by block."""
        return script(
            recipe.machine,
            config=config_code(self.shown.config),
            lengths=self.shown.lengths,
            classes=self.shown.classes,
        )


def machine(model: ModelState, state: ModelLensState) -> Machine:
    """The diagram of this link."""
    shown = chosen(model, state)
    return Machine(model, state, shown, counted(shown))


def config_in_words(machine: Machine) -> str:
    """The configuration in a line."""
    config = machine.shown.config
    kind = config.architecture if len(machine.counts) > 1 else machine.called(config.architecture)
    layers = "+".join([str(config.num_layers)] * (2 if config.architecture == "encoder-decoder" else 1))
    deep = f"{layers} {'layer' if layers == '1' else 'layers'}"
    sizes = f"d_model {formats.count(config.d_model)}, {formats.plural(config.num_heads, 'head')}, {deep}"
    words = f"d_ff {formats.count(config.feed_forward_dim)}, {formats.plural(config.vocab_size, 'token id')}"
    return f"{kind}, {config.norm}-norm, {sizes}, {words}"
