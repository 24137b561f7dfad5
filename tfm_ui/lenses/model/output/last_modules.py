"""The last two modules: the final norm, and the output matrix, which may be tied to the embedding."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from tfm_core import Transformer, TransformerConfig
from tfm_core.model.initialization import fill_parameters
from tfm_core.model.normalization import Norm
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.model.machine import config_of, same_numbers
from tfm_ui.lenses.model.output.outcome import OutputPanel, probabilities, run
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import passes
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Source
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats, units

MATRIX = 5_000_000  # numbers that are drawn in a tick
NEAR = 1e-4  # how far float32 may be off
MATRICES = ("embedding.weight", "unembedding.weight")  # the ends of the names of what is tied


def moments(vectors: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Mean, variance and length of vectors at each position, in float64: (position, d_model) -> (position)."""
    vectors = [x.double() for x in vectors]
    means, variances = [x.mean(-1) for x in vectors], [x.var(-1, correction=0) for x in vectors]
    return means, variances, [x.norm(dim=-1) for x in vectors]


def final_norm(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str], read: int
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Mean, variance and length of each position's vector after the last layer, and after the final norm if any."""
    recorded, _ = run(config, inputs, mask, sites)
    vectors = [x[:read] for x in recorded]
    means, variances, lengths = moments(vectors)
    return means, variances, lengths


def of_tokens(logits: Tensor, ids: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The logit and the probability of the token with this id, at each position, (position)."""
    shares = probabilities(logits, temperature)
    return logits.gather(-1, ids[:, None])[:, 0], shares.gather(-1, ids[:, None])[:, 0]


def parameters_of(model: Transformer) -> int:
    """The number of parameters, counted on the real modules; what is tied counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def needs_of_both(model: ModelState, state: ModelLensState) -> int:
    """A pass, and the output matrix of the untied model, which is drawn; the logits of both; and probabilities."""
    config = config_of(model, state)
    return passes.needs(model) + NUMBER * config.vocab_size * (2 * config.d_model + 7 * model.longest)


def tied_and_untied(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, read: int, temperature: float
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, int]]:
    """The logit and the probability of the token that stands at each position itself, and the number of parameters."""
    itself = inputs[-1][0, :read]  # the ids of the text whose next tokens are predicted
    logits, shares, parameters = {}, {}, {}
    for name, tie in {"tied": True, "untied": False}.items():
        (recorded,), model = run(replace(config, tie_embeddings=tie), inputs, mask, ["logits"])
        logits[name], shares[name] = of_tokens(recorded[:read], itself, temperature)
        parameters[name] = parameters_of(model)
    return logits, shares, parameters


class OutputNorm(OutputPanel):
    """What the final norm does."""

    canvas = CHART

    @property
    def norm(self) -> Norm | None:
        """The real module; None in post-norm."""
        return self.last_stack.final_norm

    @cached_property
    def moments(self) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """Mean, variance and length of each position's vector, before the norm and, if there is one, after it."""
        return moments(self.vectors)

    def spread_without(self) -> float:
        """The standard deviation that the logits of the chosen position would have without the final norm."""
        with torch.no_grad():
            logits = self.modules.unembedding(self.vectors[0][self.token])
        return float(logits.double().std(correction=0))

    @property
    def title(self) -> str:
        return "The final norm" if self.norm is not None else "No final norm"

    @property
    def how_to_read(self) -> str:
        return (
            "The length of each position’s vector when it leaves the last layer, and what the logits are made "
            f"of. {self.model.if_random('Random weights: gain is 1 and shift 0.')}".strip()
        )

    @property
    def shape(self) -> str:
        return f"position × d_model = {len(self.names)} × {self.config.d_model}"

    @property
    def sources(self) -> Sequence[Source]:
        program = nn.RMSNorm.forward if isinstance(self.norm, nn.RMSNorm) else nn.LayerNorm.forward
        return (moments, OutputNorm.spread_without, Stack.run, program)

    def sentence(self) -> str:
        """The chosen position before and after, and what that means for the logits."""
        name, root = self.names[self.token], formats.number(self.config.d_model**0.5)
        (mean, *means), (variance, *variances), (length, *lengths) = (
            [_short(values[self.token]) for values in each] for each in self.moments
        )
        first = f"mean {mean}, variance {variance}"
        if self.norm is None:
            return (
                f"Post-norm has no final norm: each layer already ends in one. “{name}” leaves the last layer with "
                f"{first} and length {length}; √d_model is {root}."
            )
        spread = formats.number(float(self.logits[self.token].double().std(correction=0)))
        return (
            f"“{name}” leaves the last layer with {first} and length {length}; the final norm makes that mean "
            f"{means[0]}, variance {variances[0]} and length {lengths[0]}, where √d_model is {root}. Without it, this "
            f"position’s logits would spread with a standard deviation of {formats.number(self.spread_without())} "
            f"instead of {spread}."
        )

    def laws(self) -> dict[str, bool]:
        """Whether the norm agrees with torch's own; without one, whether the last layer's output goes on as it is."""
        before, after, norm = self.vectors[0], self.vectors[-1], self.norm
        if norm is None:
            return {"the logits are made of what leaves the last layer, as it is": torch.equal(before, after)}
        name = "F.rms_norm" if isinstance(norm, nn.RMSNorm) else "F.layer_norm"
        with torch.no_grad():
            theirs = (
                F.rms_norm(before, norm.weight.shape, norm.weight, norm.eps)
                if isinstance(norm, nn.RMSNorm)
                else F.layer_norm(before, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
            )
        off = float((theirs - after).abs().max())
        size = max(1.0, float(after.abs().max()))
        return {f"torch’s {name} gives the same vectors (largest error {formats.tiny(off)})": off < NEAR * size}

    def table(self) -> pd.DataFrame:
        """A row per position."""
        columns: dict[str, NDArray[Any]] = {}
        for when, mean, variance, length in zip(("before", "after"), *self.moments, strict=False):
            columns |= {f"mean {when}": mean.numpy(), f"variance {when}": variance.numpy()}
            columns |= {f"length {when}": length.numpy()}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="position"))

    def picture(self) -> Content:
        """The length of each position's vector before and after the final norm."""
        positions, (_, _, lengths) = range(1, len(self.names) + 1), self.moments
        series = zip(("after the last layer", "after the final norm"), lengths, ("query", "result"), strict=False)
        drawn = [Line(name, positions, length.tolist(), colour) for name, length, colour in series]
        return lines.content([Chart("position", "length ‖x‖", drawn, reach=[0], marks=self.marks)])

    def recipe(self) -> str:
        """A script that leaves `means`, `variances` and `lengths`: before the norm and, if there is one, after it."""
        return self.script(final_norm, sites=self.sites, read=self.read)


class OutputTied(OutputPanel):
    """The model with one matrix for embeddings and logits, beside the model with a matrix for each: all else is the
    same. What they say of the token that stands at a position itself is compared.
    """

    tied = True
    title = "Tied and untied embeddings"
    how_to_read = (
        "The probability, at each position, of the very token that stands there, at this temperature; all "
        "other weights are the same."
    )
    sources = (of_tokens, Transformer._tie, fill_parameters, probabilities)
    canvas = CHART
    needs = needs_of_both

    @property
    def slow(self) -> bool:
        """Whether the other model’s matrix takes longer to draw than a tick may."""
        return self.vocab * self.config.d_model > MATRIX

    @cached_property
    def sides(self) -> Mapping[str, "OutputTied"]:
        """ "tied" and "untied"."""
        return {"tied": self, "untied": _Untied(self.model, self.state)}

    @cached_property
    def itself(self) -> tuple[Tensor, Tensor]:
        """The logit and the probability of the token that stands there, (position)."""
        return of_tokens(self.logits, self.ids, self.state.temperature)

    @cached_property
    def cosines(self) -> Tensor:
        """The cosine between the final vector and the embedding of the token that stands there, (position)."""
        with torch.no_grad():
            return torch.cosine_similarity(self.vectors[-1], self.last_stack.embedding(self.ids), dim=-1)

    @property
    def parameters(self) -> int:
        """The number of parameters of this side."""
        return parameters_of(self.modules)

    @property
    def saved(self) -> int:
        """How many parameters the untied model has in addition."""
        return self.sides["untied"].parameters - self.parameters

    def sentence(self) -> str:
        """What tying saves, and what it does to the token that has just been read."""
        vocab, name, every = formats.count(self.vocab), self.names[self.token], self.logits[self.token].double()
        ours, theirs = (formats.number(side.itself[0][self.token].item()) for side in self.sides.values())
        mean, spread = formats.number(float(every.mean())), formats.number(float(every.std(correction=0)))
        return (
            f"Tied, one matrix of {vocab} × {self.config.d_model} numbers is the embedding and "
            f"gives the logits: {formats.count(self.parameters)} parameters. Untied there are "
            f"{formats.count(self.saved)} more. At “{name}”, the logit of “{name}” itself is {ours} tied and {theirs} "
            f"untied; all {vocab} logits tied have mean {mean} and standard deviation "
            f"{spread}. The token that stands at a position is the likeliest there at {self.first} of "
            f"{formats.plural(len(self.names), 'position')} tied, and at {self.sides['untied'].first} untied."
        )

    def why(self) -> str:
        """Why a tied model with random weights tends to repeat."""
        low, high = (formats.number(float(end)) for end in self.cosines.aminmax())
        return (
            "A logit is the dot product of the final vector with the token’s row of the output matrix. Tied, the row "
            "of the token just read is its embedding, and the residual stream begins with that embedding: the cosines "
            f"between the final vectors and these rows are {units.span(low, high)}, where two unrelated random vectors "
            "have 0 on average."
        )

    def laws(self) -> dict[str, bool]:
        """What both models share, and the difference of their numbers of parameters."""
        tied, untied = (dict(side.modules.named_parameters()) for side in self.sides.values())
        shared = [name for name in tied if not name.endswith(MATRICES)]
        same = all(same_numbers(tied[name], untied[name]) for name in shared)
        matrices = len(untied) - len(tied)
        shape = f"{formats.count(self.vocab)} × {self.config.d_model}"
        more = f"{formats.plural(matrices, 'matrix', 'matrices')} of {shape}"
        return {
            f"all {len(shared)} other tensors are the same in both models, bit for bit": same,
            f"the difference of {formats.count(self.saved)} parameters is {more}": self.saved
            == matrices * self.vocab * self.config.d_model,
        }

    def table(self) -> pd.DataFrame:
        """A row per position."""
        columns: dict[str, NDArray[Any]] = {}
        for name, side in self.sides.items():
            logits, shares = side.itself
            columns |= {f"logit, {name}": logits.numpy(), f"probability, {name}": shares.numpy()}
            columns |= {f"rank, {name}": side.ranks.numpy()}
        columns["cosine with its embedding, tied"] = self.cosines.numpy()
        return pd.DataFrame(columns, index=pd.Index(self.names, name="position"))

    def picture(self) -> Content:
        """The probability of the token that stands at each position, tied and untied."""
        positions = range(1, len(self.names) + 1)
        tied, untied = (side.itself[1].tolist() for side in self.sides.values())
        drawn = [
            Line("tied", positions, tied, "result"),
            Line("untied", positions, untied, "key"),
            Line("even share", positions, [1 / self.vocab] * len(positions), "muted", "dashed"),
        ]
        chart = Chart("position", "probability of the token itself", drawn, y_scale="log10", marks=self.marks)
        return lines.content([chart], gap="under the smallest number")

    def recipe(self) -> str:
        """A script that leaves `logits`, `shares` and `parameters` of both models."""
        return self.script(tied_and_untied, read=self.read, temperature=self.state.temperature)


class _Untied(OutputTied):
    """The other side."""

    tied = False


def _short(value: Tensor) -> str:
    """The value with three decimals: a mean of 10⁻⁸ is a rounding error, and 0."""
    return formats.number(round(value.item(), 3))
