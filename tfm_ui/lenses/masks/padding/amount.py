"""The largest move of an output by the number of PADs beside the sentence."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from tfm_core import Transformer, padding_mask
from tfm_core.study.order import apart
from tfm_ui.lenses.masks import composition
from tfm_ui.lenses.masks.mask_code import function_of
from tfm_ui.lenses.masks.masked_passes import argument_of, at, layer_sites, under_exactly
from tfm_ui.lenses.masks.padding.beside import TITLES, BesidePanel
from tfm_ui.lenses.masks.padding.padded import (
    Padded,
    most_places,
    of_batch,
    told,
    with_tokens,
)
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer
from tfm_ui.live.places import texts_of
from tfm_ui.live.script import script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

AMOUNTS = (0, 1, 2, 4, 8, 16, 32, 64)  # of PADs


def beside_pads(
    alone: Sequence[Tensor],
    without_padding: Tensor,
    of_tokens: Callable[[Tensor, Tensor, int, int], Tensor],
    texts: Sequence[int],
    pads: int,
    *,
    left: bool,
) -> tuple[list[Tensor], Tensor, slice]:
    """What the model reads beside so many PADs, the mask with PAD taken for a word, and the rows that are outputs."""
    first = pads if left else 0
    tokens = slice(first, first + alone[0].shape[1])
    inputs = [torch.nn.functional.pad(alone[0], (pads, 0) if left else (0, pads)), *alone[1:]]
    queries, keys = (inputs[text] for text in texts)
    rows, columns = (slice(None) if text else tokens for text in texts)  # the target is not padded
    mask_with_padding = of_tokens(queries.clamp(min=1), keys.clamp(min=1), queries.shape[1], keys.shape[1])
    return inputs, with_tokens(mask_with_padding, rows, columns, without_padding), rows


def moves_by_amount(
    *,
    model: Transformer,
    alone: Sequence[Tensor],
    among_tokens: Tensor,
    of_tokens: Callable[[Tensor, Tensor, int, int], Tensor],
    texts: Sequence[int],
    left: bool,
    amounts: Sequence[int],
    argument: str,
    mask_site: str,
    output: str,
) -> dict[int, tuple[float, ...]]:
    """The largest move of an output by the number of PADs, with padding hidden, and without."""
    before = under_exactly(model, alone, among_tokens, argument, mask_site, [output])[1][output][0]
    moves = {}
    for pads in amounts:
        inputs, visible, rows = beside_pads(alone, among_tokens, of_tokens, texts, pads, left=left)
        both = torch.stack([visible & padding_mask(inputs[texts[1]])[0, 0], visible])[:, None]
        twice = [tokens.expand(2, -1) for tokens in inputs]
        _, trace = under_exactly(model, twice, both, argument, mask_site, [output])
        moves[pads] = tuple(apart(before, after[rows]).max().item() for after in trace[output])
    return moves


@cached()
def by_amount(batch: Padded, amounts: tuple[int, ...]) -> dict[int, tuple[float, ...]]:
    """PADs -> the largest move of an output of the sentence that is looked at, with padding hidden and without."""
    setting, (source, mask) = batch.setting, batch.alone
    model = setting.model

    def of_tokens(queries: Tensor, keys: Tensor, rows: int, columns: int) -> Tensor:
        return composition.composed(setting.composition, queries, keys, causal=setting.causal_anyway)

    return moves_by_amount(
        model=transformer(model.config),
        alone=[source, *[model.target_tokens.batch] * model.is_encoder_decoder],
        among_tokens=mask,
        of_tokens=of_tokens,
        **how_by_amount(batch, amounts),
    )


def how_by_amount(batch: Padded, amounts: tuple[int, ...]) -> dict[str, Any]:
    """The last arguments of `moves_by_amount`."""
    setting = batch.setting
    return {
        "texts": tuple(int(text == "target") for text in texts_of(setting.place)),
        "left": batch.side == "left",
        "amounts": amounts,
        "argument": argument_of(setting),
        "mask_site": at(setting, "*", "mask"),
        "output": layer_sites(setting.model)[-1],
    }


class PaddingAmount(BesidePanel):
    """The sentence beside more or less padding."""

    title = "By how much padding"
    how_to_read = "The largest move of an output (up, in powers of ten) against the number of PADs."
    canvas = CHART
    slow = True  # a pass for each amount, and of the longest texts of this page: as many as all other panels take

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of PADs."""
        # as many places as all of these copies together may have
        most = max(self.batch.read, min(most_places(self.asked, 2 * len(AMOUNTS)), self.asked.most_tokens))
        return tuple(pads for pads in sorted({*AMOUNTS, self.batch.pads}) if self.batch.read + pads <= most)

    @cached_property
    def amounts(self) -> dict[int, tuple[float, ...]]:
        """PADs -> the largest move of an output, with padding hidden and without."""
        return by_amount(self.batch, self.counts)

    def sentence(self) -> str:
        counts = [count for count in self.amounts if count]
        if not counts:
            return "There is no room for padding beside this sentence."
        first, last = (self.amounts[counts[i]] for i in (0, -1))
        span = (
            f"From {formats.plural(counts[0], 'PAD')} to {counts[-1]}"
            if len(counts) > 1
            else f"With {formats.plural(counts[0], 'PAD')}"
        )

        def way(i: int) -> str:
            return f"{told(first[i])} to {told(last[i])}" if len(counts) > 1 else told(first[i])

        bare = " Paint on PAD is left out here." if self.setting.paint and self.batch.side == "right" else ""
        return f"{span} the largest move of an output goes, hidden: {way(0)}; not hidden: {way(1)} of its length.{bare}"

    def table(self) -> pd.DataFrame:
        """A row per number of PADs."""
        index = pd.Index(list(self.amounts), name="PADs")
        columns = [f"largest move, {title.lower()}" for title in TITLES.values()]
        return pd.DataFrame(list(self.amounts.values()), index=index, columns=columns)

    def picture(self) -> Content:
        pads = list(self.amounts)
        hidden, free = ([move[side] for move in self.amounts.values()] for side in (0, 1))
        drawn = [Line("hidden", pads, hidden, "query"), Line("not hidden", pads, free, "key", "dashed")]
        chart = Chart(
            "PADs beside the sentence",
            "largest move of an output, as a share of its length",
            drawn,
            y_scale="log10",
            reach=(1e-8, 1.0),
            marks={"now": self.batch.pads},
        )
        return lines.content([chart], gap="exactly 0")

    def recipe(self) -> str:
        """A script that leaves `moves`, PADs -> the largest move of an output, with padding hidden and without."""
        header = of_batch(self.batch, words=True)
        for beside_this_padding in ("ids", "padded", "key_ids", "mask_with_padding", "rows", "columns"):
            del header[beside_this_padding]
        how = how_by_amount(self.batch, self.counts)
        return script(moves_by_amount, **header | {"of_tokens": function_of(self.setting)} | how)
