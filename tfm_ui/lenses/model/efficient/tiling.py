"""How a fused kernel computes attention: tile by tile, one step at a time, on the first tokens of the text."""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core import (
    POSITIONAL,
    Tile,
    TransformerConfig,
    scaled_dot_product_attention,
    tiled_attention,
    tiles,
)
from tfm_ui.lenses.model.efficient import recipe
from tfm_ui.lenses.model.efficient.compared import Compared, attend
from tfm_ui.lenses.model.machine import in_script
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

READ = 12  # tokens: as many as can be read on a projector


SITES = ("*query", "*key", "value", "mask")  # "*" for the turned ones of RoPE


@cached()
def first_tokens(model: ModelState, config: TransformerConfig, site: str) -> dict[str, Tensor]:
    """What an attention computes with of the first tokens: (head, READ, head_dim), and its mask."""
    _, trace = attend(model, config, site, SITES)
    first = {name.removeprefix(f"{site}."): values for name, values in trace.items()}
    mask = first["mask"].expand(1, config.num_heads, *(first[name].shape[-2] for name in ("query", "key")))
    return {name: values[0, :, :READ].clone() for name, values in (first | {"mask": mask[..., :READ]}).items()}


@cached()
def steps_of(
    model: ModelState, config: TransformerConfig, site: str, head: int, side: int
) -> tuple[tuple[Tile, ...], Tensor, Tensor]:
    """The steps, their result and the plain attention, in float64."""
    first = {name: values[head] for name, values in first_tokens(model, config, site).items()}
    query, key = (first.get(f"rotated_{name}", first[name]).double() for name in ("query", "key"))
    value, mask = first["value"].double(), first["mask"]
    steps = tuple(tiles(query, key, value, mask, rows=side, columns=side))
    plain, _ = scaled_dot_product_attention(query, key, value, mask)
    return steps, tiled_attention(steps), plain


@dataclass(frozen=True)
class Tiling(Result):
    """The computation after a number of steps.

    Attributes:
        whole: the attentions side by side, whose layer and head are read.
        steps: all steps.
        step: how many are done.
        side: queries and keys in a tile.
        result: what all steps end in, (query, head_dim).
        plain: softmax(Q Kᵀ / √dₖ) V, the same shape.
    """

    whole: Compared
    steps: tuple[Tile, ...]
    step: int
    side: int
    result: Tensor
    plain: Tensor

    @property
    def names(self) -> list[str]:
        """A label per token that is read."""
        return self.whole.names[: len(self.plain)]

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
        grown = int(((tile.factor < 1) & (tile.factor > 0)).sum())
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
            index=pd.Index(self.names, name="query"),
        )

    def recipe(self) -> str:
        """A script that leaves `steps`, `result` and `plain`."""
        whole = self.whole
        return script(
            recipe.tile_by_tile,
            **in_script(whole.model, whole.config),
            site=whole.site,
            head=whole.head,
            read=len(self.plain),
            side=self.side,
        )


def tiling(whole: Compared, state: ModelLensState) -> Tiling:
    """The chosen step, on the layer and head of the comparison, without a bias of the scores."""
    read = min(READ, len(whole.names))
    side = min(state.tile, read)
    steps, result, plain = steps_of(whole.model, whole.config, whole.site, whole.head, side)
    return Tiling(whole, steps, min(state.tile_step, len(steps)), side, result, plain)


def _run(singular: str, plural: str, places: slice) -> str:
    """Places in words, from 1: "query 1", "keys 2 to 4"."""
    first, last = places.start + 1, places.stop
    return f"{singular} {first}" if first == last else f"{plural} {first} to {last}"


@dataclass(frozen=True)
class Held(Result):
    """What is held for each query after this step."""

    tiling: Tiling

    def sentence(self) -> str:
        """How many queries are done, begun and not begun, and one of them with its numbers."""
        now, end = self.tiling, at_end(self.tiling)
        begun = len(now.last)
        done = sum(now.last[query].keys.stop == len(now.plain) for query in now.last)
        query = max(now.last)
        held = f"{formats.number(now.held('maximum')[query])} and {formats.number(now.held('total')[query])}"
        ends = f"{formats.number(end.held('maximum')[query])} and {formats.number(end.held('total')[query])}"
        said = (
            f"“{now.names[query]}” holds the maximum and the sum {held}, and in the end {ends}."
            if math.isfinite(now.held("maximum")[query])
            else f"“{now.names[query]}” has seen no key yet."
        )
        return f"{begun} of {formats.plural(len(now.plain), 'query', 'queries')} have begun, {done} have ended. {said}"

    def laws(self) -> dict[str, bool]:
        """The laws of the step."""
        return self.tiling.laws()

    def table(self) -> pd.DataFrame:
        """The table of the step."""
        return self.tiling.table()

    def recipe(self) -> str:
        """The recipe of the step."""
        return self.tiling.recipe()


def biased(model: ModelState) -> bool:
    """Whether the model adds a bias to the scores, which the small example leaves out."""
    return "bias_at" in POSITIONAL[model.positional].enters()


def at_end(shown: Tiling) -> Tiling:
    """The same after its last step."""
    return replace(shown, step=len(shown.steps))
