"""The model of the sidebar under each scheme, all its other weights the same: maps of one head, scores by distance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    MultiHeadAttention,
    TransformerConfig,
    attention_scores,
    attention_weights,
    causal_mask,
)
from tfm_core.model.initialization import fill_parameters
from tfm_core.positional.schemes import PLAIN
from tfm_core.study.analysis import ByDistance, mean_by_distance
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model_runs import HeadReading, run_schemes, site_of, sites_of_pass
from tfm_ui.lenses.positions.panel import A_AND_B, TextPanel, WeightMaps
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.live.origins import Heads, Origin
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.attention import SCORE_IS_SCALED
from tfm_ui.live.tensors.attention import title as title_of
from tfm_ui.live.tensors.step import Step, beside
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats, head_sentences
from tfm_ui.text.ties import one_of_ties, places_of_largest

OTHERS = ("head 3", "head 4", "head 5", "head 6", "head 7", "head 8")  # colours of what is neither A nor B


def under_each(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    schemes: Sequence[str],
    sites: Sequence[str],
    head: int,
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Scheme -> the weights of one head, (query, key); and its scores before the mask."""
    weights, scores = {}, {}
    for name in schemes:
        recorded = sites_of_pass(replace(config, positional=name), inputs, mask, sites)
        weights[name], scores[name] = (site[0, head] for site in recorded)
    return weights, scores


def means_by_distance(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    schemes: Sequence[str],
    sites: Sequence[str],
    head: int,
    read: int,
    looks_back_only: bool,
) -> Mapping[str, ByDistance]:
    """Scheme -> the mean score of one head at each distance, over all pairs of tokens that may look."""
    places = inputs[0].shape[1]
    tokens = torch.arange(places) < read  # the rest is padding
    visible = tokens[:, None] & tokens
    if looks_back_only:
        visible &= causal_mask(places)
    _, scores = under_each(config=config, inputs=inputs, mask=mask, schemes=schemes, sites=sites, head=head)
    by_distance = {name: mean_by_distance(table, visible) for name, table in scores.items()}
    return by_distance


class HeadPanel(TextPanel):
    """A panel of one head under each scheme that is run."""

    @cached_property
    def heads(self) -> dict[str, HeadReading]:
        """Scheme -> the head under it, A and B first."""
        layer, head = self.state.layer - 1, self.state.model_head - 1
        return {
            name: model_runs.one_head(self.model.varied(positional=name), layer, head)
            for name in run_schemes(self.model, self.state)
        }

    @property
    def tensors(self) -> Step:
        kind, layer = "encoder" if self.model.is_encoder_decoder else "self", self.state.layer - 1
        compared = [name for name in self.heads if name in self.state.sides]
        steps = {name: live_steps.attention(self.model.varied(positional=name), kind, layer) for name in compared}
        return beside(f"{title_of(kind, layer)} under {formats.listed(compared)}", steps, SCORE_IS_SCALED)

    @property
    def where(self) -> str:
        """Which head it is."""
        of = " of the encoder" if self.model.is_encoder_decoder else ""
        return f"layer {self.state.layer}, head {self.state.model_head}{of}"

    def in_script(self) -> dict[str, Any]:
        """The header of a recipe: the model, the schemes, and where the head's weights and scores are recorded."""
        sites = tuple(site_of(self.model, self.state.layer - 1, what) for what in ("weights", "scores"))
        of_head = {"schemes": tuple(self.heads), "sites": sites, "head": self.state.model_head - 1}
        return of_model(self.model) | of_head


class Maps(HeadPanel, WeightMaps):
    """The weights of the head under each scheme."""

    title = "The same weights, other positions"
    sources = (
        *(model_runs.reading, model_runs.compared_weights, MultiHeadAttention.forward),
        *(attention_scores, attention_weights, fill_parameters),
    )
    zooms = PREFIX + "part_maps"

    @property
    def how_to_read(self) -> str:
        return f"The attention of {self.where} under each scheme, on one scale. Rows look at columns."

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """The rows that are tokens and have a choice."""
        first = next(iter(self.heads.values()))
        return np.flatnonzero(first.visible[: self.read].sum(-1) > 1)

    def title_of(self, name: str) -> str:
        return self.state.title_of(name)

    def elsewhere(self, name: str) -> float:
        """The share of a row's weight that stands elsewhere than without positions, averaged over `rows`."""
        if not len(self.rows):
            return 0.0
        apart = np.abs(self.heads[name].weights[self.rows] - self.heads[PLAIN].weights[self.rows])
        return float(apart.sum(-1).mean() / 2)

    def sentence(self) -> str:
        """Where A and B differ most, and how far each scheme is from none at all."""
        now = f"Positions in the sidebar’s model: {self.model.positional}."
        if not len(self.rows):
            return f"{now} {head_sentences.NO_CHOICE}"
        sides = [name for name in (self.state.a, self.state.b) if name in self.heads and name != PLAIN]
        names = list(dict.fromkeys(sides)) or [name for name in self.heads if name != PLAIN][:1]
        moved = [f"{name} moves {formats.percent(self.elsewhere(name))}" for name in names]
        if not moved:
            return f"{now} No other scheme is run, so there is nothing to compare “{PLAIN}” with."
        return (
            f"{now} {self._apart()}Compared with no positions, {formats.listed(moved)} of a row’s weight to other "
            f"tokens ({self._averaged()})."
        )

    def _averaged(self) -> str:
        """Which rows are averaged. Rows without a choice, as a causal model's first, are the same under any scheme."""
        if len(self.rows) == self.read:
            return f"mean of all rows of {self.where}"
        rows = f"mean of the {len(self.rows)} rows" if len(self.rows) > 1 else "the one row"
        return f"{rows} of {self.where} with a choice"

    def _apart(self) -> str:
        """The pair of tokens whose weights differ most between A and B."""
        a, b = self.state.a, self.state.b
        if a == b or not {a, b} <= set(self.heads):
            return ""
        under_a, under_b = self.heads[a].weights, self.heads[b].weights
        most = places_of_largest(np.abs(under_a - under_b)[self.rows], size=float(max(under_a.max(), under_b.max())))
        row, key = divmod(most[0], under_a.shape[1])
        query = self.rows[row]
        return (
            f"A and B differ most where “{self.names[query]}” looks at “{self.names[key]}”{one_of_ties(len(most))}: "
            f"{formats.share(under_a[query, key])} under {a}, {formats.share(under_b[query, key])} under {b}. "
        )

    def laws(self) -> dict[str, bool]:
        """What the schemes have in common."""
        off = max(float(np.abs(head.weights[: self.read].sum(-1) - 1).max()) for head in self.heads.values())
        plain = self.model.varied(positional=PLAIN).config
        shared = {name: model_runs.shared_weights(replace(plain, positional=name), plain) for name in self.heads}
        total = next(iter(shared.values())).of
        added = [
            f"{name} adds {formats.plural(weights.added, 'tensor')}"
            for name, weights in shared.items()
            if weights.added
        ]
        fewest = min(weights.alike for weights in shared.values())
        same = f"all {total}" if fewest == total else f"{fewest} of {total}"
        return {
            f"{same} weight tensors of the model without positions are the same under each scheme, bit for bit"
            + (f" ({', '.join(added)})" if added else ""): fewest == total,
            f"each row sums to 1 under each scheme (largest error {formats.tiny(off)})": off < 1e-5,
        }

    def recipe(self) -> str:
        """A script that leaves `weights` and `scores`, scheme -> (query, key)."""
        return script(under_each, **self.in_script())


class Distance(HeadPanel):
    """The mean score of the same head at each distance."""

    title = "Mean score by distance"
    sources = (mean_by_distance, model_runs.head_reading, Heads.with_scores, Origin.scores, attention_scores)
    canvas = CHART

    @property
    def how_to_read(self) -> str:
        return f"q·k / √dₖ, and the bias where there is one, in {self.where}; over all pairs that may look."

    @property
    def looks_back_only(self) -> bool:
        """Whether the stack that reads the text may not look ahead."""
        return self.model.looks_back_only and not self.model.is_encoder_decoder

    @property
    def first(self) -> ByDistance:
        """The means under the first scheme: all have the same distances and pairs."""
        return next(iter(self.heads.values())).by_distance

    def picture(self) -> Content:
        rest, curves = iter(OTHERS * len(self.heads)), []
        for name, head in self.heads.items():
            side, scores = self.state.sides.get(name, ""), head.by_distance
            colour, style = A_AND_B[side] if side else (next(rest), "solid")
            curves.append(
                Line(self.state.title_of(name), scores.distance.tolist(), scores.mean.tolist(), colour, style)
            )
        ahead = "" if self.looks_back_only else "; below 0 the key is ahead"
        heading = "mean score, before the softmax"
        return lines.content([Chart(f"distance, query − key, in tokens{ahead}", heading, curves[::-1])])

    def sentence(self) -> str:
        """How the mean score falls or rises with distance, under A and B."""
        distance, pairs = self.first.distance, int(self.first.pairs.sum())
        near, far = int(distance.abs().argmin()), int(distance.abs().argmax())
        if near == far:
            return f"{formats.plural(pairs, 'pair')}, at one distance alone: nothing to compare."
        ends = []
        for name in (name for name in self.heads if name in self.state.sides):
            mean = self.heads[name].by_distance.mean
            ends.append(f"from {formats.number(mean[near].item())} to {formats.number(mean[far].item())} under {name}")
        nearest, farthest = (_tokens(int(distance[place])) for place in (near, far))
        return (
            f"From a distance of {nearest} to one of {farthest} the mean score goes {formats.listed(ends)}. Far "
            f"distances have few pairs: {int(self.first.pairs[far])} at {farthest}, of {formats.count(pairs)} in all."
        )

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {f"mean score, {name}": head.by_distance.mean.numpy() for name, head in self.heads.items()}
        index = pd.Index(self.first.distance.numpy(), name="query − key")
        return pd.DataFrame({"pairs": self.first.pairs.numpy(), **columns}, index=index)

    def recipe(self) -> str:
        """A script that leaves `by_distance`, scheme -> what `mean_by_distance` gives."""
        back = {"looks_back_only": self.looks_back_only}
        return script(means_by_distance, **self.in_script(), read=self.read, **back)


def _tokens(distance: int) -> str:
    ahead = " ahead" if distance < 0 else ""
    return formats.plural(abs(distance), "token") + ahead
