"""One block of the live model: what flows in and out of it, recorded."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core.model.transformer import Stack
from tfm_core.study.blocks import Block
from tfm_ui.lenses.model.diagram import recipe
from tfm_ui.lenses.model.diagram.numbers import Machine
from tfm_ui.lenses.model.diagram.rows import costs_in_words
from tfm_ui.lenses.model.machine import in_script, transformer_of
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, token_labels

IN, OUT = "flows in", "flows out"


@dataclass(frozen=True)
class Flow(Result):
    """What flows in and out of the picked block.

    Attributes:
        machine: the diagram, of a live model.
        ends: "flows in" and "flows out" -> (token, d_model); nothing flows into the embedding but token ids, and what
            flows out of the logits is (token, vocab).
    """

    machine: Machine
    ends: dict[str, Tensor]

    @property
    def block(self) -> Block:
        """The block."""
        return self.machine.picked.block

    @cached_property
    def names(self) -> list[str]:
        """A label per token."""
        return token_labels.labels(self.machine.tokens)

    def means(self, end: str) -> float:
        """The mean length of the vectors of this end."""
        return float(self.ends[end].double().norm(dim=-1).mean())

    def sentence(self) -> str:
        """The mean lengths at both ends, and what the block costs."""
        said = [f"what {end} has a mean length of {formats.number(self.means(end))}" for end in self.ends]
        tokens = formats.plural(len(self.names), "token")
        costs = costs_in_words(self.machine.picked)
        return f"A vector for each of {tokens}, recorded from the live pass: {' and '.join(said)}. {costs}"

    def table(self) -> pd.DataFrame:
        """A row per token and end."""
        tables = {end: pd.DataFrame(values.numpy(), index=self.names) for end, values in self.ends.items()}
        return pd.concat(tables, names=["end", "token \\ dimension"])

    def laws(self) -> dict[str, bool]:
        """The block's own module, run on what flows in, gives what flows out."""
        off = float((_given(self) - self.ends[OUT]).abs().max())
        size = float(self.ends[OUT].abs().max())
        law = f"the block, run on what flows in, gives what flows out (largest error {formats.tiny(off)})"
        return {law: off <= 1e-5 * max(1.0, size)}

    def recipe(self) -> str:
        """A script that leaves `flows`."""
        return script(
            recipe.flows,
            **in_script(self.machine.model, self.machine.shown.config),
            ends={IN: list(self.block.reads), OUT: list(self.block.writes)},
        )


def _given(shown: Flow) -> Tensor:
    """What the picked block makes of what flows in: its module alone, outside the model."""
    block, machine = shown.block, shown.machine
    transformer = transformer_of(machine.model, machine.state)
    which = machine.stack if len(machine.counts) > 1 else "stack"
    stack, name = transformer.get_submodule(which), block.name.removeprefix(f"{which}.")
    assert isinstance(stack, Stack)
    x = shown.ends[IN][None] if IN in shown.ends else machine.tokens.batch
    with torch.no_grad():
        match block.kind:
            case "embedding":
                given = stack.embedding(x) * stack.config.d_model**0.5
            case "position":
                encoding = stack.positional.encode(x.shape[1])
                assert encoding is not None  # this block is drawn of schemes that add one
                given = x + encoding
            case "sum":
                given = x
            case "logits":
                given = transformer.unembedding(x)
            case "self_attention":
                mask = machine.recorded[f"{block.name}.mask"]
                given = stack.get_submodule(name)(x, mask=mask, positional=stack.positional)
            case "cross_attention":
                [source] = machine.counts["encoder"][-1].block.writes
                memory, mask = machine.recorded[source], machine.recorded[f"{block.name}.mask"]
                given = stack.get_submodule(name)(x, memory, mask=mask)
            case _:
                given = stack.get_submodule(name)(x)
    result: Tensor = given[0]
    return result


def flow(machine: Machine) -> Flow:
    """Both ends of the picked block."""
    block = machine.picked.block
    trace = machine.recorded
    ends = {
        end: torch.stack([trace[site][0] for site in sites]).sum(0)
        for end, sites in ((IN, block.reads), (OUT, block.writes))
        if sites
    }
    return Flow(machine, ends)
