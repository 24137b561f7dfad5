"""What the view "output" says of the probabilities: of the likeliest tokens at a position, and of every position."""

import math
from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_ui.lenses.model.machine import in_script, token_of
from tfm_ui.lenses.model.naming import name_of
from tfm_ui.lenses.model.output import recipe
from tfm_ui.lenses.model.output.outcome import Outcome, outcome, probabilities, ranks_of, text_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units
from tfm_ui.text.ties import one_of_ties, places_of_largest

ROUNDING = 1e-9  # of float64
NOTHING = "The weights are random: this says nothing about language."


@dataclass(frozen=True)
class Likeliest(Result):
    """The likeliest tokens at the chosen position.

    Attributes:
        out: the end of the pass.
        token: the chosen position, from 0.
        temperature: what the logits are divided by.
        top: how many tokens are listed.
    """

    out: Outcome
    token: int
    temperature: float
    top: int

    @cached_property
    def ids(self) -> list[int]:
        """The likeliest tokens, in descending order of their logits."""
        ids: list[int] = self.out.logits[self.token].topk(min(self.top, self.out.vocab)).indices.tolist()
        return ids

    @cached_property
    def names(self) -> list[str]:
        """The names of the likeliest tokens."""
        return [name_of(self.out.model, i) for i in self.ids]

    @cached_property
    def logits(self) -> Tensor:
        """The logits of the likeliest tokens."""
        return self.out.logits[self.token][self.ids]

    def every(self, temperature: float) -> Tensor:
        """The probabilities of all tokens at the chosen position."""
        return probabilities(self.out.logits[self.token], temperature)

    @cached_property
    def shares(self) -> Tensor:
        """The probabilities of those listed at the chosen temperature, (token), float64."""
        return self.every(self.temperature)[self.ids]

    @cached_property
    def plain(self) -> Tensor:
        """The probabilities of those listed at temperature 1."""
        return self.every(1.0)[self.ids]

    @property
    def even(self) -> float:
        """The probability of a token if all were equally likely."""
        return 1 / self.out.vocab

    @property
    def where(self) -> str:
        """Which position it is."""
        return f"position {self.token + 1}, “{self.out.names[self.token]}”"

    def sentence(self) -> str:
        """The likeliest token, how much likelier than others it is, and what the temperature does to that."""
        alike = one_of_ties(len(places_of_largest(self.out.logits[self.token].numpy())))
        first = self.shares[0].item()
        said = [
            f"At {self.where}, the likeliest of {formats.count(self.out.vocab)} tokens is {self.names[0]}{alike}, "
            f"{formats.percent(first, 3)}: {units.times(first / self.even)} an even share.",
            f"The {len(self.ids)} that are listed have {formats.percent(float(self.shares.sum()), 3)} together.",
            self._of_temperature(),
            self.out.model.if_random(NOTHING, self.out.right_at(self.token)),
        ]
        return " ".join(filter(None, said))

    def _of_temperature(self) -> str:
        if self.temperature == 1:
            return ""
        does = "widens" if self.temperature < 1 else "narrows"
        return (
            f"Dividing by {self.temperature:g} {does} all gaps between logits: at temperature 1 {self.names[0]} "
            f"has {formats.percent(self.plain[0].item(), 3)}. The order stays."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of a softmax, each with the error that was measured."""
        off = abs(float(self.every(self.temperature).sum()) - 1)
        in_logs = (self.out.logits[self.token].double() / self.temperature).log_softmax(-1)[self.ids]
        gaps = (self.logits[0] - self.logits).double() / self.temperature
        apart = float((in_logs[0] - in_logs - gaps).abs().max())
        matrix = self.out.machine.unembedding.weight.detach()[self.ids]
        product = float((matrix @ self.out.after[self.token] - self.logits).abs().max())
        return {
            f"the {formats.count(self.out.vocab)} probabilities sum to 1 (error {formats.tiny(off)})": off < ROUNDING,
            f"ln(p₁ / p) is the gap to the largest logit / temperature (largest error {formats.tiny(apart)})": apart
            < 1e-4,
            "each logit is the dot product of the final vector with the token’s row of the output matrix (largest "
            f"error {formats.tiny(product)})": product < 1e-3,
        }

    def table(self) -> pd.DataFrame:
        """A row per listed token."""
        return pd.DataFrame(
            {
                "id": self.ids,
                "logit": self.logits.numpy(),
                "logit / temperature": (self.logits.double() / self.temperature).numpy(),
                "probability": self.shares.numpy(),
                "probability at temperature 1": self.plain.numpy(),
            },
            index=pd.Index(self.names, name="token"),
        )

    def recipe(self) -> str:
        """A script that leaves `ids`, `logits` and `shares`."""
        header = in_script(self.out.model, self.out.config)
        return script(recipe.likeliest, **header, token=self.token, temperature=self.temperature, top=len(self.ids))


@dataclass(frozen=True)
class ByPosition(Result):
    """The likeliest token of each position."""

    out: Outcome
    temperature: float

    @cached_property
    def shares(self) -> Tensor:
        """All probabilities, (position, vocab), float64."""
        return probabilities(self.out.logits, self.temperature)

    @cached_property
    def ids(self) -> Tensor:
        """The likeliest token of each position."""
        ids: Tensor = self.out.logits.argmax(-1)
        return ids

    @cached_property
    def entropies(self) -> Tensor:
        """The entropy of each position's probabilities, in nats."""
        entropies: Tensor = torch.special.entr(self.shares).sum(-1)
        return entropies

    @cached_property
    def ranks(self) -> Tensor:
        """The rank, at each position, of the token that stands there itself, from 1."""
        return ranks_of(self.out.logits, self.out.ids)

    def sentence(self) -> str:
        """How sure the model is, from the surest position to the least sure."""
        most, highest = self.shares.amax(-1).numpy(), math.log(self.out.vocab)
        surest, count = places_of_largest(most), len(most)
        alike, itself = one_of_ties(len(surest)), int((self.ranks == 1).sum())
        low, high = (formats.number(float(end)) for end in self.entropies.aminmax())
        return (
            f"The largest probability of a token is at “{self.out.names[surest[0]]}”{alike}: "
            f"{formats.percent(float(most[surest[0]]), 3)} for {name_of(self.out.model, int(self.ids[surest[0]]))}. "
            f"Entropies: {units.span(low, high)} nats; {formats.number(highest)} is an even choice among all "
            f"{formats.count(self.out.vocab)} tokens. At {itself} of {formats.plural(count, 'position')} the "
            f"likeliest token is the token that stands there itself. "
            + self.out.model.if_random(NOTHING, self.out.right_in_all())
        )

    def laws(self) -> dict[str, bool]:
        """Each row is a distribution."""
        off = float((self.shares.sum(-1) - 1).abs().max())
        over = max(0.0, float(self.entropies.max()) - math.log(self.out.vocab))
        return {
            f"each position’s probabilities sum to 1 (largest error {formats.tiny(off)})": off < ROUNDING,
            f"no entropy is above ln {formats.count(self.out.vocab)} (by {formats.tiny(over)})": over < ROUNDING,
        }

    def table(self) -> pd.DataFrame:
        """A row per position."""
        return pd.DataFrame(
            {
                "likeliest": [name_of(self.out.model, i) for i in self.ids.tolist()],
                "probability": 100 * self.shares.amax(-1).numpy(),
                "entropy": self.entropies.numpy(),
                "rank of itself": self.ranks.numpy(),
            },
            index=pd.Index(self.out.names, name="position"),
        )

    def recipe(self) -> str:
        """A script that leaves `ids`, `shares` and `entropies`."""
        header = in_script(self.out.model, self.out.config)
        return script(recipe.by_position, **header, read=len(self.out.logits), temperature=self.temperature)


def likeliest(model: ModelState, state: ModelLensState) -> Likeliest:
    """The likeliest tokens at the chosen position."""
    return Likeliest(outcome(model, state), token_of(text_of(model), state), state.temperature, state.top)


def by_position(model: ModelState, state: ModelLensState) -> ByPosition:
    """The likeliest token of each position."""
    return ByPosition(outcome(model, state), state.temperature)
