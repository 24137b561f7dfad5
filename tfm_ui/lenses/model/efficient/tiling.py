"""How a fused kernel computes attention: tile by tile, one step at a time, on the first tokens of the text."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    POSITIONAL,
    Transformer,
    TransformerConfig,
    recording,
    scaled_dot_product_attention,
    tiled_attention,
)
from tfm_core.model.attention import for_each_head
from tfm_core.study.tiling import Tile, tiles
from tfm_ui.lenses.model.efficient.compared import Efficient, attend
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import and_scores
from tfm_ui.page.drawing import Drawing
from tfm_ui.pictures import knobs, lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.maps import ABSENT, MASKED, Axis, Map
from tfm_ui.pictures.panel import Source
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

READ = 12  # tokens: as many as can be read on a projector
SITES = ("*query", "*key", "value", "mask")  # "*" for the turned ones of RoPE


def first_of_head(
    trace: Mapping[str, Tensor], site: str, head: int, read: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Query, key and value of a head at the first tokens, as its scores are made of them, and which pairs it sees.

    They are what the attention at the site has recorded, in float64.
    """
    rotated = "rotated_" if f"{site}.rotated_query" in trace else ""
    names = (f"{rotated}query", f"{rotated}key", "value")
    heads = trace[f"{site}.{rotated}query"].shape[1]  # which may share keys and values
    query, key, value = (for_each_head(trace[f"{site}.{name}"], heads)[0, head].double() for name in names)
    visible = trace[f"{site}.mask"].expand(1, head + 1, len(query), len(key))[0, head]
    return query[:read], key[:read], value[:read], visible[:read, :read]


def tile_by_tile(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    site: str,
    head: int,
    read: int,
    side: int,
) -> tuple[Sequence[Tile], Tensor, Tensor]:
    """The steps of one head's attention over the first tokens; their result; and the plain one, in float64."""
    with torch.no_grad(), recording(f"{site}.*") as trace:
        Transformer(config).eval()(*inputs, mask=mask)
    query, key, value, visible = first_of_head(trace, site, head, read)
    steps = list(tiles(query, key, value, visible, rows=side, columns=side))
    result = tiled_attention(steps)
    plain, _ = scaled_dot_product_attention(query, key, value, visible)
    return steps, result, plain


@cached()
def steps_of(
    model: ModelState, config: TransformerConfig, site: str, head: int, side: int
) -> tuple[Sequence[Tile], Tensor, Tensor]:
    """The same of the live model."""
    _, inside = attend(model, config, "full", site, SITES)
    parts = first_of_head(inside, site, head, READ)
    steps = tuple(tiles(*parts, rows=side, columns=side))
    return steps, tiled_attention(steps), scaled_dot_product_attention(*parts)[0]


class EfficientTiles(Efficient):
    """The computation after a number of steps, on the layer and head of the comparison, without a bias of scores."""

    title = "The fused kernel, tile by tile"
    sources: Sequence[Source] = (tiles, tiled_attention, F.scaled_dot_product_attention)
    locked = True
    shape = ""

    @property
    def side(self) -> int:
        """Queries and keys in a tile."""
        return min(self.state.tile, READ, len(self.names))

    @cached_property
    def _all(self) -> tuple[Sequence[Tile], Tensor, Tensor]:
        return steps_of(self.model, self.config, self.site, self.head - 1, self.side)

    @property
    def steps(self) -> Sequence[Tile]:
        """All steps."""
        return self._all[0]

    @property
    def result(self) -> Tensor:
        """What all steps end in, (query, head_dim)."""
        return self._all[1]

    @property
    def plain(self) -> Tensor:
        """softmax(Q Kᵀ / √dₖ) V, (query, head_dim)."""
        return self._all[2]

    @property
    def step(self) -> int:
        """How many steps are done."""
        return min(self.state.tile_step, len(self.steps))

    @property
    def how_to_read(self) -> str:
        biased = "bias_at" in POSITIONAL[self.model.positional].enters()
        bias = " Without the bias of the positions." if biased else ""
        return (
            f"The first {formats.plural(len(self.plain), 'token')}, in tiles of {self.side} × {self.side}; "
            "▸ marks the tile of this step. Beside the scores: what they come to with the maximum m and sum l so far. "
            "A GPU does rows of tiles at the same time, and skips tiles in which all is hidden."
            f"{bias}{self.shared_with}"
        )

    def picture(self) -> Content:
        """The scores that have been read, and what they come to so far."""
        scores, shares = _cells(self.scores.numpy()), _cells(self.shares.numpy())
        top = max([float(abs(score)) for score in scores[np.isfinite(scores)]], default=1.0)
        rows, columns = (
            [f"{at}{'▸' * (places.start < at <= places.stop)} {name}" for at, name in enumerate(self.first, 1)]
            for places in (self.now.queries, self.now.keys)
        )
        return maps.content(
            [
                Map(name="scores read so far", values=scores, scale=around_zero(top), unit="score"),
                Map(name="exp(score − m) / l so far", values=shares, scale=from_zero(1.0), unit="share"),
            ],
            rows=Axis(rows, "query", "query", "query"),
            columns=Axis(columns, "key", "key", "key"),
            absent="no tile has been here",
            blank="hidden",
        )

    def tools(self) -> None:
        """Draw the slider of the step."""
        Drawing("model_efficient_knob", ((self.model, ""), (self.state, PREFIX))).draw("model_efficient_knob")

    @cached_property
    def end(self) -> Self:
        """The same after its last step."""
        return type(self)(self.model, replace(self.state, tile_step=len(self.steps)))

    @property
    def first(self) -> list[str]:
        """A label per token that is read."""
        return self.names[:READ]

    @property
    def now(self) -> Tile:
        """The tile of the last step."""
        return self.steps[self.step - 1]

    @cached_property
    def scores(self) -> Tensor:
        """The scores read so far, (query, key): NaN where hidden, inf where no tile has been."""
        read = torch.full((len(self.plain),) * 2, math.inf, dtype=torch.float64)
        for tile in self.steps[: self.step]:
            read[tile.queries, tile.keys] = tile.scores.masked_fill(tile.scores == -math.inf, math.nan)
        return read

    @cached_property
    def last(self) -> dict[int, Tile]:
        """Query -> the last tile that changed what is held for it."""
        return {
            query: tile for tile in self.steps[: self.step] for query in range(tile.queries.start, tile.queries.stop)
        }

    def held(self, name: str) -> list[float]:
        """The running "maximum", "total" or "factor" of each query; NaN before its first tile."""
        values = []
        for query in range(len(self.plain)):
            tile = self.last.get(query)
            values.append(math.nan if tile is None else float(getattr(tile, name)[query - tile.queries.start, 0]))
        return values

    @cached_property
    def shares(self) -> Tensor:
        """exp(score - maximum) / sum so far, (query, key): at the end the weights. NaN and inf as in `scores`."""
        shares = self.scores.clone()
        for query, tile in self.last.items():
            row = query - tile.queries.start
            reached = self.scores[query].isfinite()
            shares[query, reached] = (self.scores[query, reached] - tile.maximum[row]).exp() / tile.total[row]
        return shares

    @cached_property
    def off(self) -> float:
        """The largest difference between the tiled and the plain result."""
        return float((self.result - self.plain).abs().max())

    def sentence(self) -> str:
        """What the last step did."""
        tile, size = self.now, len(self.plain)
        at = f"{_run('query', 'queries', tile.queries)}, {_run('key', 'keys', tile.keys)}"
        grown = grown_in(tile)
        if not bool(tile.scores.isfinite().any()):
            done = "all of these pairs are hidden, so nothing changes"
        elif grown:
            done = (
                f"{formats.plural(grown, 'query', 'queries')} met a larger score than before, so "
                f"{'its sum and output were' if grown == 1 else 'their sums and outputs were'} made smaller first"
            )
        else:
            done = "no sum or output had to be made smaller"
        off = f"differs from the plain one by at most {formats.tiny(self.off)}, which is rounding"
        return (
            f"Step {self.step} of {len(self.steps)}: {at}; {done}. Never more than {self.side**2} of {size**2} scores "
            f"are held at a time. After the last step the result {off if self.off else 'equals the plain one'}."
        )

    def laws(self) -> dict[str, bool]:
        """The end is plain attention."""
        law = f"tile by tile gives softmax(QKᵀ / √dₖ) V (largest difference, in float64: {formats.tiny(self.off)})"
        return {law: self.off <= 1e-12 * max(1.0, float(self.plain.abs().max()))}

    def table(self) -> pd.DataFrame:
        """A row per query: what is held for it after this step."""
        return pd.DataFrame(
            {
                "running maximum m": self.held("maximum"),
                "running sum l": self.held("total"),
                "last factor": self.held("factor"),
                "length of the output so far": [
                    float(self.last[q].result[q - self.last[q].queries.start].norm()) if q in self.last else math.nan
                    for q in range(len(self.plain))
                ],
                "length of the plain output": self.plain.norm(dim=-1).tolist(),
            },
            index=pd.Index(self.first, name="query"),
        )

    def recipe(self) -> str:
        """A script that leaves `steps`, `result` and `plain`."""
        return self.script(tile_by_tile, site=self.site, head=self.head - 1, read=len(self.plain), side=self.side)


class EfficientRunning(EfficientTiles):
    """What is held for each query after this step."""

    title = "What is held for each query"
    how_to_read = (
        "After this step, beside what it will be after the last. A query before its first tile has no "
        "value: a cross on the axis. Milakov and Gimelshein 2018; Dao et al. 2022."
    )
    sources = (tiles,)
    locked = False
    canvas = CHART

    def sentence(self) -> str:
        """How many queries are done, begun and not begun, and one of them with its numbers."""
        begun, whole = len(self.last), len(self.plain)
        done = sum(tile.keys.stop == whole for tile in self.last.values())
        query = max(self.last)
        maximum, total = (self.held(name)[query] for name in ("maximum", "total"))
        ends = " and ".join(formats.number(self.end.held(name)[query]) for name in ("maximum", "total"))
        of_query = (
            f"“{self.first[query]}” holds the maximum and the sum {formats.number(maximum)} and "
            f"{formats.number(total)}, and in the end {ends}."
            if math.isfinite(maximum)
            else f"“{self.first[query]}” has seen no key yet."
        )
        return f"{begun} of {formats.plural(whole, 'query', 'queries')} have begun, {done} have ended. {of_query}"

    def picture(self) -> Content:
        """The running maximum and sum of each query, beside what they will be."""
        queries = list(range(1, len(self.plain) + 1))
        charts = [
            Chart(
                "query, by its place in the text",
                heading,
                [
                    Line("after the last step", queries, _drawn(self.end.held(name)), "muted", "dashed"),
                    Line("now", queries, _drawn(self.held(name)), "query"),
                ],
                reach=(0,),
            )
            for name, heading in (("maximum", "running maximum m"), ("total", "running sum l"))
        ]
        return lines.content(charts, gap="no key seen yet")

    def tools(self) -> None:
        """Draw no slider of its own."""


def knob(model: ModelState, state: ModelLensState) -> Content:
    """The slider of the step; it moves both pictures while it is dragged."""
    tiling = EfficientTiles(model, state)
    count = max(2, len(tiling.steps))
    return knobs.content([Knob("Step", f"{PREFIX}tile_step", tiling.step, 1, count, stops=range(1, count + 1))])


KNOB = {"model_efficient_knob": Picture(KNOBS, knob, needs=and_scores(3))}


def grown_in(tile: Tile) -> int:
    """How many queries met a larger score than before, in this step."""
    return int(((tile.factor < 1) & (tile.factor > 0)).sum())


def _run(singular: str, plural: str, places: slice) -> str:
    """Places in words, from 1: "query 1", "keys 2 to 4"."""
    first, last = places.start + 1, places.stop
    return f"{singular} {first}" if first == last else f"{plural} {first} to {last}"


def _cells(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """The values as cells of a map: MASKED for NaN, ABSENT for inf."""
    cells = values.astype(np.float32)
    cells[np.isnan(values)], cells[np.isinf(values)] = MASKED, ABSENT
    return cells


def _drawn(values: list[float]) -> list[float]:
    """A query that has seen no key has the maximum -inf, which no axis has."""
    return [value if np.isfinite(value) else float("nan") for value in values]
