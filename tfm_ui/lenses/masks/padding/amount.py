"""The largest move of an output by the number of PADs beside the sentence."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, padding_mask
from tfm_core.study.order import apart
from tfm_ui.lenses.masks.mask_code import function_of
from tfm_ui.lenses.masks.masked_passes import forward_under_mask, layer_sites, under_exactly
from tfm_ui.lenses.masks.padding.beside import TITLES, BesidePanel
from tfm_ui.lenses.masks.padding.padded import (
    Padded,
    ids,
    key_mask,
    laid,
    most_places,
    moved,
    of_batch,
    real,
    told,
    with_tokens,
)
from tfm_ui.live.cache import cached
from tfm_ui.live.script import script
from tfm_ui.live.texts import texts_of
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

AMOUNTS = (0, 1, 2, 4, 8, 16, 32, 64)  # of PADs


@cached()
def by_amount(batch: Padded, most: int) -> Mapping[int, tuple[Tensor, Tensor]]:
    """How many PADs -> the sentence's output (token, d_model) with PAD hidden, and without.

    Args:
        batch: the sentence that is looked at is run, one copy with the mask and one without it.
        most: places that tokens and padding may take together.
    """
    setting, outputs = batch.setting, {}
    text, side = setting.model.source_tokens, batch.side
    for pads in sorted({*AMOUNTS, batch.pads}):
        if batch.read + pads > most:
            break
        mask_with_padding = laid(setting, side, words=True, pads=pads)
        masks = torch.stack([mask_with_padding & key_mask(setting, side, pads), mask_with_padding])[:, None]
        source = ids(text, side, pads).expand(2, -1)
        rows = real(text, side, pads) if setting.place == "self" else batch.queries
        output = layer_sites(batch.setting.model)[-1]
        _, trace = forward_under_mask(setting, [output], mask=masks, source=source)
        with_it, without = trace[output][:, rows]
        outputs[pads] = (with_it, without)
    return outputs


def moves_by_amount(
    *,
    config: TransformerConfig,
    alone: Sequence[Tensor],
    among_tokens: Tensor,
    composed: Callable[[Tensor, Tensor, int, int], Tensor],
    texts: Sequence[int],
    left: bool,
    amounts: Sequence[int],
    argument: str,
    mask_site: str,
    output: str,
) -> dict[int, list[float]]:
    """The largest move of an output by the number of PADs, with padding hidden, and without."""
    model = Transformer(config).eval()

    def run(inputs: Sequence[Tensor], mask: Tensor) -> Tensor:
        _, trace = under_exactly(model, inputs, mask, argument, mask_site, [output])
        return trace[output]

    before, moves = run(alone, among_tokens)[0], {}
    for pads in amounts:
        padded = [torch.nn.functional.pad(alone[0], (pads, 0) if left else (0, pads)), *alone[1:]]
        first = pads if left else 0
        tokens = slice(first, first + alone[0].shape[1])
        queries, keys = (padded[text] for text in texts)
        rows, columns = (slice(None) if text else tokens for text in texts)  # the target is not padded
        mask_with_padding = composed(queries.clamp(min=1), keys.clamp(min=1), queries.shape[1], keys.shape[1])
        mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
        masks = (mask_with_padding & padding_mask(keys)[0, 0], mask_with_padding)
        moves[pads] = [apart(before, run(padded, mask)[0, rows]).max().item() for mask in masks]
    return moves


class PaddingAmount(BesidePanel):
    """The sentence beside more or less padding."""

    title = "By how much padding"
    how_to_read = "The largest move of an output (up, in powers of ten) against the number of PADs."
    canvas = CHART

    @cached_property
    def amounts(self) -> dict[int, tuple[float, float]]:
        """PADs -> the largest move of an output, with padding hidden and without."""
        end, model = self.runs["alone"].streams[-1], self.asked
        # as many places as all of these copies together may have
        most = max(self.batch.read, min(most_places(model, 2 * len(AMOUNTS)), model.most_tokens))
        return {
            pads: (float(moved(end, with_it).max()), float(moved(end, without).max()))
            for pads, (with_it, without) in by_amount(self.batch, most).items()
        }

    def sentence(self) -> str:
        """How the number of PADs matters."""
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
        """The largest move of an output, by the number of PADs."""
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
        return script(
            moves_by_amount,
            **header,
            composed=function_of(self.setting),
            output=layer_sites(self.setting.model)[-1],
            amounts=tuple(self.amounts),
            left=self.batch.side == "left",
            texts=tuple(int(text == "target") for text in texts_of(self.setting.place)),
        )
