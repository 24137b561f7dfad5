"""Tied or untied: the model with one matrix for embeddings and logits, beside the model with a matrix for each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer
from tfm_ui.lenses.model.machine import in_script, token_of
from tfm_ui.lenses.model.output import recipe
from tfm_ui.lenses.model.output.outcome import Outcome, outcome, probabilities, ranks_of, text_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

MATRICES = ("embedding.weight", "unembedding.weight")  # the ends of the names of what is tied


@dataclass(frozen=True)
class Side:
    """The token that stands at a position itself, as one of both models rates it there.

    Attributes:
        out: the end of its pass.
        temperature: what the logits are divided by.
    """

    out: Outcome
    temperature: float

    @cached_property
    def logits(self) -> Tensor:
        """The logit of the token that stands there, (position)."""
        return self.out.logits.gather(-1, self.out.ids[:, None])[:, 0]

    @cached_property
    def shares(self) -> Tensor:
        """The probability of the token that stands there, (position), float64."""
        return probabilities(self.out.logits, self.temperature).gather(-1, self.out.ids[:, None])[:, 0]

    @cached_property
    def ranks(self) -> Tensor:
        """The rank of the token that stands there, 1 for the likeliest, (position)."""
        return ranks_of(self.out.logits, self.out.ids)

    @property
    def first(self) -> int:
        """The number of positions at which the token itself is the likeliest."""
        return int((self.ranks == 1).sum())

    @cached_property
    def cosines(self) -> Tensor:
        """The cosine between the final vector and the embedding of the token that stands there, (position)."""
        machine = self.out.machine
        stack = machine.decoder if self.out.model.is_encoder_decoder else machine.stack
        with torch.no_grad():
            return torch.cosine_similarity(self.out.after, stack.embedding(self.out.ids), dim=-1)

    @property
    def parameters(self) -> int:
        """The number of parameters, counted on the real modules; what is tied counts once."""
        return sum(parameter.numel() for parameter in self.out.machine.parameters())


@dataclass(frozen=True)
class TiedAndUntied(Result):
    """Both models.

    Attributes:
        sides: "tied" and "untied".
        token: the chosen position, from 0.
    """

    sides: dict[str, Side]
    token: int

    @property
    def out(self) -> Outcome:
        """The outcome of the tied model."""
        return self.sides["tied"].out

    @property
    def saved(self) -> int:
        """How many parameters the untied model has in addition."""
        return self.sides["untied"].parameters - self.sides["tied"].parameters

    def sentence(self) -> str:
        """What tying saves, and what it does to the token that has just been read."""
        tied, untied = self.sides["tied"], self.sides["untied"]
        config, name = self.out.config, self.out.names[self.token]
        every = self.out.logits[self.token].double()
        ours, theirs = (formats.number(side.logits[self.token].item()) for side in (tied, untied))
        mean, spread = formats.number(float(every.mean())), formats.number(float(every.std(correction=0)))
        return (
            f"Tied, one matrix of {formats.count(config.vocab_size)} × {config.d_model} numbers is the embedding and "
            f"gives the logits: {formats.count(tied.parameters)} parameters. Untied there are "
            f"{formats.count(self.saved)} more. At “{name}”, the logit of “{name}” itself is {ours} tied and {theirs} "
            f"untied; all {formats.count(config.vocab_size)} logits tied have mean {mean} and standard deviation "
            f"{spread}. The token that stands at a position is the likeliest there at {tied.first} of "
            f"{formats.plural(len(self.out.names), 'position')} tied, and at {untied.first} untied."
        )

    def why(self) -> str:
        """Why a tied model with random weights tends to repeat."""
        cosines = self.sides["tied"].cosines
        low, high = (formats.number(float(end)) for end in cosines.aminmax())
        return (
            "A logit is the dot product of the final vector with the token’s row of the output matrix. Tied, the row "
            "of the token just read is its embedding, and the residual stream begins with that embedding: the cosines "
            f"between the final vectors and these rows are {units.span(low, high)}, where two unrelated random vectors "
            "have 0 on average."
        )

    def laws(self) -> dict[str, bool]:
        """What both models share, and the difference of their numbers of parameters."""
        tied, untied = (side.out.machine for side in self.sides.values())
        shared = [name for name, _ in _others(tied)]
        same = all(
            torch.equal(mine, theirs) for (_, mine), (_, theirs) in zip(_others(tied), _others(untied), strict=True)
        )
        matrices = len(_matrices(untied)) - len(_matrices(tied))
        size = self.out.config.vocab_size * self.out.config.d_model
        shape = f"{formats.count(self.out.config.vocab_size)} × {self.out.config.d_model}"
        more = f"{formats.plural(matrices, 'matrix', 'matrices')} of {shape}"
        return {
            f"all {len(shared)} other tensors are the same in both models, bit for bit": same,
            f"the difference of {formats.count(self.saved)} parameters is {more}": self.saved == matrices * size,
        }

    def table(self) -> pd.DataFrame:
        """A row per position."""
        columns: dict[str, NDArray[Any]] = {}
        for name, side in self.sides.items():
            columns |= {f"logit, {name}": side.logits.numpy(), f"probability, {name}": side.shares.numpy()}
            columns |= {f"rank, {name}": side.ranks.numpy()}
        columns["cosine with its embedding, tied"] = self.sides["tied"].cosines.numpy()
        return pd.DataFrame(columns, index=pd.Index(self.out.names, name="position"))

    def recipe(self) -> str:
        """A script that leaves `logits`, `shares` and `parameters` of both models."""
        header = in_script(self.out.model, self.out.config)
        side = self.sides["tied"]
        return script(recipe.tied_and_untied, **header, read=len(self.out.names), temperature=side.temperature)


def tied_and_untied(model: ModelState, state: ModelLensState) -> TiedAndUntied:
    """The tied and the untied model; everything but their matrices is the same."""
    sides = {
        name: Side(outcome(model, state, tied=tied), state.temperature)
        for name, tied in {"tied": True, "untied": False}.items()
    }
    return TiedAndUntied(sides, token_of(text_of(model), state))


def _others(machine: Transformer) -> list[tuple[str, Tensor]]:
    return [(name, x.detach()) for name, x in machine.named_parameters() if not name.endswith(MATRICES)]


def _matrices(machine: Transformer) -> list[str]:
    return [name for name, _ in machine.named_parameters() if name.endswith(MATRICES)]
