"""What a scheme adds to the scores: its bias by head and distance, and what it comes to."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from tfm_ui.lenses.positions.panel import OneSide
from tfm_ui.lenses.positions.schemes import lone_scheme
from tfm_ui.lenses.positions.state import OWN_SCALES, PREFIX
from tfm_ui.live.script import script
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.positions.bias import Biases
from tfm_ui.text import formats


def biases(*, schemes: Mapping[str, Mapping[str, Any]], length: int) -> Mapping[str, Tensor | None]:
    """Side -> what its scheme adds to the scores, (head, query, key)."""
    values = {side: lone_scheme(**spec).bias(length, length) for side, spec in schemes.items()}
    return values


class Bias(OneSide):
    """The bias of one scheme, as a matrix for each head."""

    places = ("bias_at",)
    canvas = MAPS

    @property
    def how_to_read(self) -> str:
        scale = "each head on a scale of its own" if self.bias.alone else "all heads on one scale"
        return (
            "What is added to the score of each query position (row) and key position (column)"
            f"{f', {scale}' if len(self.values) > 1 else ''}."
        )

    @property
    def shape(self) -> str:
        return self.bias.shape

    @cached_property
    def bias(self) -> Biases:
        """The biases, as they are drawn and told."""
        distance, scheme = torch.arange(1 - self.state.length, self.state.length), self.scheme.module
        values, origin = scheme.bias_at(distance), ""
        assert values is not None
        if self.scheme.is_trained:
            learned = torch.cat([parameter.flatten() for parameter in scheme.parameters()])
            origin = self.where_from("it is", "It was", learned)
        return Biases(
            values.contiguous(),  # T5’s numbers of one head are not adjacent: pooling them takes ten times as long
            scheme.buckets(distance),
            scheme.num_buckets,
            origin,
            alone=self.state.bias_scale == OWN_SCALES,
        )

    @property
    def values(self) -> Tensor:
        """(head, distance)."""
        return self.bias.values

    def picture(self) -> Content:
        return self.bias.content(self.state.square, prefix=PREFIX)

    def sentence(self) -> str:
        return self.bias.sentence()

    def table(self) -> pd.DataFrame:
        """A row per distance, a column per head."""
        heads = {f"head {i + 1}": row.double().numpy() for i, row in enumerate(self.values)}
        columns = ({} if self.bias.buckets is None else {"bucket": self.bias.buckets.numpy()}) | heads
        return pd.DataFrame(columns, index=pd.Index(self.bias.distance.numpy(), name="distance key − query"))

    def recipe(self) -> str:
        """A script that leaves the matrices in `values`, side -> (head, query, key)."""
        return script(biases, **self.in_script(defined=False), length=self.state.length)


class BiasA(Bias, side="A"):
    """The bias of A."""


class BiasB(Bias, side="B"):
    """The bias of B."""


class BiasByDistance(Bias):
    """The same by distance: its matrices hold no more."""

    canvas = CHART

    @property
    def title(self) -> str:
        return f"{self.scheme.title}, by distance"

    @property
    def how_to_read(self) -> str:
        matrix = "A matrix holds no more than this: a number for each distance of key and query."
        if self.bias.buckets is None:
            return matrix
        learned = ", a parameter of the model" if self.scheme.is_trained else ""
        return f"{matrix} Below, the bucket that each distance falls into: one number per head and bucket{learned}."

    @property
    def shape(self) -> str:
        return f"{formats.count(len(self.bias.distance))} distances"

    def picture(self) -> Content:
        return self.bias.by_distance()

    def sentence(self) -> str:
        return self.bias.sentence_by_distance()


class DistanceA(BiasByDistance, side="A"):
    """The bias of A by distance."""


class DistanceB(BiasByDistance, side="B"):
    """The bias of B by distance."""
