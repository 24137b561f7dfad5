"""The final norm: each position's mean, variance and length before it and after it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_ui.lenses.model.machine import in_script, token_of
from tfm_ui.lenses.model.output import recipe
from tfm_ui.lenses.model.output.outcome import Outcome, outcome, sites, text_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NEAR = 1e-4  # how far float32 may be off


@dataclass(frozen=True)
class FinalNorm(Result):
    """What the final norm does.

    Attributes:
        out: the end of the pass.
        token: the chosen position, from 0.
    """

    out: Outcome
    token: int

    @property
    def norm(self) -> nn.LayerNorm | None:
        """The real module; None in post-norm."""
        machine = self.out.machine
        stack = machine.decoder if self.out.model.is_encoder_decoder else machine.stack
        return stack.final_norm

    @cached_property
    def lengths(self) -> tuple[Tensor, Tensor]:
        """The length of each position's vector, before and after the norm, (position)."""
        return self.out.before.double().norm(dim=-1), self.out.after.double().norm(dim=-1)

    def moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of each position's vector, (position)."""
        return x.double().mean(-1), x.double().var(-1, correction=0)

    def spread_without(self) -> float:
        """The standard deviation that the logits of the chosen position would have without the final norm."""
        with torch.no_grad():
            logits = self.out.machine.unembedding(self.out.before[self.token])
        return float(logits.double().std(correction=0))

    def sentence(self) -> str:
        """The chosen position before and after, and what that means for the logits."""
        name, root = self.out.names[self.token], formats.number(self.out.config.d_model**0.5)
        (before, after), logits = self.lengths, self.out.logits[self.token].double()
        mean, variance = self.moments(self.out.before)
        first = f"mean {_short(mean[self.token])}, variance {_short(variance[self.token])}"
        if self.norm is None:
            return (
                f"Post-norm has no final norm: each layer already ends in one. “{name}” leaves the last layer with "
                f"{first} and length {_short(before[self.token])}; √d_model is {root}."
            )
        mean, variance = self.moments(self.out.after)
        return (
            f"“{name}” leaves the last layer with {first} and length {_short(before[self.token])}; the "
            f"final norm makes that mean {_short(mean[self.token])}, variance "
            f"{_short(variance[self.token])} and length {_short(after[self.token])}, "
            f"where √d_model is {root}. Without it, this position’s logits would spread with a standard deviation of "
            f"{formats.number(self.spread_without())} instead of {formats.number(float(logits.std(correction=0)))}."
        )

    def laws(self) -> dict[str, bool]:
        """Whether the norm agrees with torch's own; without one, whether the last layer's output goes on as it is."""
        if self.norm is None:
            same = torch.equal(self.out.before, self.out.after)
            return {"the logits are made of what leaves the last layer, as it is": same}
        with torch.no_grad():
            theirs = F.layer_norm(
                self.out.before, self.norm.normalized_shape, self.norm.weight, self.norm.bias, self.norm.eps
            )
        off = float((theirs - self.out.after).abs().max())
        return {f"torch’s F.layer_norm gives the same vectors (largest error {formats.tiny(off)})": off < NEAR}

    def table(self) -> pd.DataFrame:
        """A row per position."""
        columns: dict[str, NDArray[np.float64]] = {}
        when = {"before": self.out.before} | ({} if self.norm is None else {"after": self.out.after})
        for name, x in when.items():
            mean, variance = self.moments(x)
            columns |= {f"mean {name}": mean.numpy(), f"variance {name}": variance.numpy()}
            columns |= {f"length {name}": x.double().norm(dim=-1).numpy()}
        return pd.DataFrame(columns, index=pd.Index(self.out.names, name="position"))

    def recipe(self) -> str:
        """A script that leaves `means`, `variances` and `lengths`: before the norm and, if there is one, after it."""
        header = in_script(self.out.model, self.out.config)
        return script(recipe.final_norm, **header, sites=sites(self.out.model), read=len(self.out.logits))


def final_norm(model: ModelState, state: ModelLensState) -> FinalNorm:
    """The final norm of the model on screen."""
    return FinalNorm(outcome(model, state), token_of(text_of(model), state))


def _short(value: Tensor) -> str:
    """The value with three decimals: a mean of 10⁻⁸ is a rounding error, and 0."""
    return formats.number(round(value.item(), 3))
