"""One block of the live model: what flows in and out of it, recorded."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core import Tokens
from tfm_core.study.blocks import Block
from tfm_ui.lenses.model.diagram import recipe
from tfm_ui.lenses.model.diagram.numbers import Machine
from tfm_ui.lenses.model.machine import in_script, read
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
        return token_labels.labels(tokens_of(self.machine))

    def means(self, end: str) -> float:
        """The mean length of the vectors of this end."""
        return float(self.ends[end].double().norm(dim=-1).mean())

    def sentence(self) -> str:
        """The mean lengths at both ends."""
        said = [f"{end} with a mean length of {formats.number(self.means(end))}" for end in self.ends]
        vectors = formats.plural(len(self.names), "vector")
        return f"{vectors}, one for each token, {' and '.join(said)}. They are recorded from the live pass."

    def table(self) -> pd.DataFrame:
        """A row per token and end."""
        tables = {end: pd.DataFrame(values.numpy(), index=self.names) for end, values in self.ends.items()}
        return pd.concat(tables, names=["end", "token"])

    def laws(self) -> dict[str, bool]:
        """All numbers are finite."""
        return {"all numbers are finite": all(bool(values.isfinite().all()) for values in self.ends.values())}

    def recipe(self) -> str:
        """A script that leaves `flows`."""
        return script(
            recipe.flows,
            **in_script(self.machine.model, self.machine.shown.config),
            ends={IN: list(self.block.reads), OUT: list(self.block.writes)},
        )


def tokens_of(machine: Machine) -> Tokens:
    """The text that the picked stack reads."""
    decoder = machine.model.is_encoder_decoder and machine.stack == "decoder"
    return machine.model.target_tokens if decoder else machine.model.source_tokens


def flow(machine: Machine) -> Flow:
    """Both ends of the picked block."""
    block = machine.picked.block
    trace = read(machine.model, machine.shown.config, tuple(sorted({*block.reads, *block.writes})))
    ends = {
        end: torch.stack([trace[site][0] for site in sites]).sum(0)
        for end, sites in ((IN, block.reads), (OUT, block.writes))
        if sites
    }
    return Flow(machine, ends)
