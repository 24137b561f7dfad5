"""What a scheme adds to the scores: its bias by head and distance, and what it comes to."""

from dataclasses import dataclass
from itertools import groupby

import pandas as pd
import torch
from torch import Tensor

from tfm_core.study.ties import ties
from tfm_ui.lenses.positions.schemes import Scheme, specs_of
from tfm_ui.lenses.positions.see import recipe
from tfm_ui.lenses.positions.state import OWN_SCALES, PositionsState
from tfm_ui.live import tables, windows
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part
from tfm_ui.pictures.map_scale import Scale, holding
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Bias(Result):
    """One scheme's bias.

    Attributes:
        scheme: that adds one to the scores.
        length: how many positions are shown.
        distance: key - query, from 1 - length to length - 1.
        values: (head, distance).
        buckets: the bucket of each distance, (distance); None if the scheme has no buckets.
        seed: of the weights.
        alone: whether each head's colours are for its own values, so that no two heads can be compared by them.
    """

    scheme: Scheme
    length: int
    distance: Tensor
    values: Tensor
    buckets: Tensor | None
    seed: int
    alone: bool = False

    @property
    def scale(self) -> Scale:
        """The scale that all heads share. It ends at 0 where no bias is positive."""
        low, high = (end.item() for end in self.values.aminmax())
        return holding(low, high)

    @property
    def scales(self) -> list[Scale]:
        """The scale of each head."""
        sizes = self.values.abs().amax(-1).tolist()
        return [self.scale.resized(size) if self.alone else self.scale for size in sizes]

    @property
    def names(self) -> list[str]:
        """The name of each head, with its scale where each head has its own."""
        heads = [f"head {i + 1}" for i in range(len(self.values))]
        if not self.alone:
            return heads
        ends = (scale.texts(whole=False) for scale in self.scales)
        return [f"{head}: {low} to {high}" for head, (low, high) in zip(heads, ends, strict=True)]

    @property
    def how_to_read(self) -> str:
        """The map in words."""
        many = len(self.values) > 1
        scale = "each head on a scale of its own" if self.alone else "all heads on one scale"
        return (
            "What is added to the score of each query position (row) and key position (column)"
            f"{f', {scale}' if many else ''}."
        )

    def part(self, value: str) -> Part:
        """The part of a matrix that the control's value stands for. With more heads, fewer cells of each are sent."""
        heads = len(self.values)
        side = tables.SIDE if heads <= 4 else 128 if heads <= 16 else 64
        return windows.part_of(value, self.length, self.length, side)

    @property
    def slopes(self) -> list[float]:
        """How much each head's bias falls with a step of distance; [] if it does not fall evenly."""
        step = self.values[:, self.length]  # at distance 1
        even = torch.equal(self.values, step[:, None] * self.distance.abs())
        return (-step).tolist() if even and not self.scheme.is_trained else []

    def sentence(self) -> str:
        """What it comes to."""
        low, high = (formats.number(end.item()) for end in self.values.aminmax())
        heads = formats.plural(len(self.values), "head")
        said = [f"What is added to the scores of {heads} goes from {low} to {high}."]
        if self.scheme.is_trained:
            spread = self.values if self.buckets is None else self.scheme.module.get_parameter("weight")
            deviation = f"with a standard deviation of {spread.std(correction=0):.2f}."
            said.append(
                f"It was learned, with “{self.scheme.trained_on}”, {deviation}"
                if self.scheme.trained_on
                else f"Before training it is noise: random numbers of the model’s seed, {self.seed}, {deviation}"
            )
        return " ".join(said)

    def about_distance(self) -> str:
        """How it depends on the distance."""
        if self.buckets is not None:
            return self._about_buckets()
        if not (slopes := self.slopes):
            return self.sentence()
        if len(slopes) == 1:
            return f"The bias falls by {slopes[0]:.4g} with every step of distance."
        return f"Each head’s bias falls by its slope with every step of distance: {_listed(slopes)}."

    @property
    def shared(self) -> list[tuple[int, int, int]]:
        """The buckets that several distances of one sign share, each with its first and its last distance."""
        if self.buckets is None:
            return []
        runs = groupby(zip(self.distance.tolist(), self.buckets.tolist(), strict=True), key=lambda pair: pair[1])
        spans = [(bucket, [distance for distance, _ in run]) for bucket, run in runs]
        return [(bucket, span[0], span[-1]) for bucket, span in spans if len(span) > 1]

    def _about_buckets(self) -> str:
        """Which distances share a bucket."""
        assert self.buckets is not None
        used = len(set(self.buckets.tolist()))
        total = self.scheme.module.get_parameter("weight").shape[0]
        said = [f"{formats.count(len(self.distance))} distances fall into {used} of {total} buckets."]
        if self.shared:
            sizes = torch.tensor([last + 1 - first for _, first, last in self.shared])
            widest = ties(sizes, 0)
            where = [f"{_span(first, last)} share bucket {bucket}" for bucket, first, last in self.shared]
            spans = formats.listed([where[i] for i in widest])
            holds = "The widest holds" if len(widest) == 1 else f"The {len(widest)} widest hold"
            each = "" if len(widest) == 1 else " each"
            said.append(f"{holds} {formats.count(int(sizes.max()))}{each}: distances {spans}.")
        else:
            said.append("No two distances share one: they are too few.")
        return " ".join(said)

    def table(self) -> pd.DataFrame:
        """A row per distance, a column per head."""
        heads = {f"head {i + 1}": row.double().numpy() for i, row in enumerate(self.values)}
        columns = ({} if self.buckets is None else {"bucket": self.buckets.numpy()}) | heads
        return pd.DataFrame(columns, index=pd.Index(self.distance.numpy(), name="distance key − query"))

    def recipe(self) -> str:
        """A script that leaves the matrices in `values`, side -> (head, query, key)."""
        return script(recipe.bias, schemes=specs_of([self.scheme]), length=self.length)


@dataclass(frozen=True)
class BiasByDistance(Result):
    """The same bias by distance: its matrices hold no more."""

    bias: Bias

    def sentence(self) -> str:
        """How it depends on the distance."""
        return self.bias.about_distance()

    def table(self) -> pd.DataFrame:
        """A row per distance, a column per head."""
        return self.bias.table()

    def recipe(self) -> str:
        """A script that leaves the matrices in `values`, side -> (head, query, key)."""
        return self.bias.recipe()


def _span(first: int, last: int) -> str:
    """Two distances in words, with the sign − of typography, as in −63 to −46."""
    return f"{first} to {last}".replace("-", "−")


def _listed(slopes: list[float]) -> str:
    if len(slopes) <= 8:
        return ", ".join(f"{slope:.4g}" for slope in slopes)
    ends = (slopes.index(pick(slopes)) for pick in (max, min))
    steepest, gentlest = (f"{slopes[head]:.4g} in head {head + 1}" for head in ends)
    return f"from {steepest}, the steepest, to {gentlest}"


def bias(model: ModelState, state: PositionsState, scheme: Scheme) -> Bias:
    """The bias of a scheme that is added to the scores."""
    distance = torch.arange(1 - state.length, state.length)
    values = scheme.module.bias_at(distance)
    assert values is not None, f"expected a scheme that is added to the scores, got {scheme.name}"
    buckets, alone = getattr(scheme.module, "buckets", None), state.bias_scale == OWN_SCALES
    values = values.contiguous()  # T5’s numbers of one head are not adjacent: pooling them takes ten times as long
    return Bias(scheme, state.length, distance, values, buckets and buckets(distance), model.seed, alone)
