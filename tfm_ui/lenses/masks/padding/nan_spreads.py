"""How a NaN spreads from one row through the model, layer by layer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, recording
from tfm_core.study.empty_rows import instead, minus_a_billion, minus_infinity
from tfm_ui.lenses.masks.masked_passes import at, forward_under_mask, layer_sites, under_exactly
from tfm_ui.lenses.masks.padding.empty_row import EmptyRowsPanel, emptied_by
from tfm_ui.lenses.masks.padding.padded import ROUNDING, STREAM_TITLE, Padded, moved, told, with_tokens, without_keys
from tfm_ui.live.cache import cached
from tfm_ui.live.script import script
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.text import formats


def spreads() -> dict[str, Callable[[Tensor], Tensor] | None]:
    """The ways to treat a row without a key that run through the whole model, in the place of ours."""
    return {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}


SPREADS = spreads()
INFINITE, LARGE, OURS = SPREADS


@dataclass(frozen=True)
class WeightOnEmptyRows:
    """The weight, in the heads of the second layer, of rows without a key.

    Attributes:
        blind: how many rows with keys may not look there.
        largest: (head), the largest weight that one of them gives; NaN if one is.
    """

    blind: int
    largest: list[float]


@dataclass(frozen=True)
class TreatedPass:
    """One way to treat an empty row, through the whole model; padding included.

    Attributes:
        streams: as in `Run`.
        logits: (token, vocab).
        on_empty_rows: None where there is no second layer, or where keys are another text's.
    """

    streams: Tensor
    logits: Tensor
    on_empty_rows: WeightOnEmptyRows | None


def treated_passes(batch: Padded, row: int) -> Mapping[str, TreatedPass]:
    """The whole model under a mask with a row without a key, each way of `SPREADS` in the place of ours.

    Args:
        batch: its chosen sentence is run.
        row: as in `without_keys`.
    """
    return _treated_passes(batch, emptied_by(batch, row))


@cached()
def _treated_passes(batch: Padded, row: int) -> Mapping[str, TreatedPass]:
    setting, sites, ways = batch.setting, layer_sites(batch.setting.model), {}
    mask, empty, _ = without_keys(batch, row)
    blind = ~mask[:, empty].any(-1) & mask.any(-1)  # rows with keys that may look at none of these
    second = at(setting, 1, "weights") if setting.model.num_layers > 1 and setting.place != "cross" else ""
    for name, weights_of in SPREADS.items():
        edits = instead(weights_of, at(setting, "*", "").removesuffix(".")) if weights_of else None
        largest: list[float] = []

        def look(_: str, weights: Tensor, largest: list[float] = largest) -> None:
            given = weights[0][:, blind][:, :, empty].flatten(1)
            largest += given.amax(1).tolist() if given.numel() else [0.0] * len(given)

        logits, trace = forward_under_mask(
            setting, sites, mask=mask, source=batch.chosen_source, edits=edits, watch={second: look} if second else None
        )
        streams = torch.stack([trace[site][0] for site in sites])
        ways[name] = TreatedPass(streams, logits[0], WeightOnEmptyRows(int(blind.sum()), largest) if second else None)
    return ways


def spread_through_the_model(
    *,
    config: TransformerConfig,
    padded: Sequence[Tensor],
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    emptied: Sequence[int],
    argument: str,
    mask_site: str,
    attention: str,
    sites: Sequence[str],
) -> tuple[dict[str, list[Tensor]], dict[str, Tensor]]:
    """Streams, way -> for each place (token, d_model), and logits, way -> (token, vocab)."""
    mask = with_tokens(mask_with_padding, rows, columns, among_tokens)
    mask[emptied] = False
    model = Transformer(config).eval()
    streams, logits = {}, {}
    for way, weights_of in spreads().items():
        edits = instead(weights_of, attention) if weights_of else {}
        output, trace = under_exactly(model, padded, mask, argument, mask_site, sites, edits)
        streams[way], logits[way] = [trace[site][0] for site in sites], output[0]
    return streams, logits


class NanSpreads(EmptyRowsPanel):
    """The whole model with each treatment in all its layers."""

    title = "How a NaN spreads"
    how_to_read = (
        "Each token after each layer, the treatment in the place of ours in all of them: NaN, or how far it is from "
        "ours."
    )
    sources = (instead, minus_infinity, minus_a_billion, forward_under_mask, recording)

    @cached_property
    def runs(self) -> Mapping[str, TreatedPass]:
        """Way -> the pass."""
        return treated_passes(self.batch, self.state.row)

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (place, row), how far each vector is from ours; NaN where it is NaN."""
        return {name: moved(self.runs[OURS].streams, run.streams) for name, run in self.runs.items()}

    def nans(self, name: str) -> list[int]:
        """How many rows are NaN, at each place."""
        counts: list[int] = np.isnan(self.shares[name]).sum(1).tolist()
        return counts

    def lost(self, name: str) -> float:
        """The share of logits that are NaN."""
        return float(self.runs[name].logits.isnan().float().mean())

    def sentence(self) -> str:
        """How far it comes, and what the other ways cost."""
        total = formats.plural(len(self.queries), "row")
        counts = dict(zip(self.titles, self.nans(INFINITE), strict=True))
        steps = [f"{count} of {total} after {title}" for title, count in counts.items() if title.startswith("layer")]
        return (
            f"{INFINITE}: NaN in {', '.join(steps[:3])}{', and so on' if len(steps) > 3 else ''}; in "
            f"{formats.percent(self.lost(INFINITE))} of the logits. {self._why()} {self._quiet()}"
        )

    def _why(self) -> str:
        model, counts, onto = self.setting.model, self.nans(INFINITE), self.runs[INFINITE].on_empty_rows
        if not self.others:
            return "No row has a key: all are NaN at once."
        if model.num_layers == 1:
            return "There is no second layer for it to spread in."
        if counts[2] == counts[1]:
            return "In layer 2 it stays where it is."
        if onto is None:
            return "It spreads where the decoder looks at its own text: 0 × NaN = NaN, even where causality hides it."
        row, it = ("the row", "it") if len(self.rows) == 1 else ("the rows", "them")
        if not onto.blind:
            whose = "its key and value are" if it == "it" else "their keys and values are"
            return f"In layer 2 {whose} NaN for all who may look at {it}."
        give = "gives" if onto.blind == 1 else "give"
        weight = formats.weight(onto.largest[self.head])
        return (
            f"Hiding {row} from others does not help: in layer 2 (head {self.head + 1}) "
            f"{formats.plural(onto.blind, 'row')} that may not look there {give} {it} a weight of {weight}, and "
            f"{weight} × NaN = NaN."
        )

    def _quiet(self) -> str:
        """What the way without a NaN costs."""
        apart = self.shares[LARGE][-1]
        emptied, rest = (float(apart[rows].max(initial=0)) for rows in (self.rows, self.others))
        rows, most = ("the row is", "") if len(self.rows) == 1 else ("the rows are", "up to ")
        others = (
            f", others {'by rounding alone' if rest < ROUNDING else f'by up to {told(rest)}'}" if self.others else ""
        )
        far = f"{most}{told(emptied)} of a length away from ours{others}"
        return f"{LARGE}: no NaN to warn anyone, and in the end {rows} {far}."

    def picture(self) -> Content:
        """Each row after each layer: NaN, or how far it is from ours."""
        scale = from_zero(max(float(np.nanmax(shares)) for shares in self.shares.values()))
        return maps.content(
            [
                Map(name=name, values=shares, scale=scale, unit="of a length from ours")
                for name, shares in self.shares.items()
            ],
            rows=Axis(self.titles, STREAM_TITLE, "place"),
            columns=Axis(self.queries, "token (column)", "token"),
            square=False,
            blank="NaN",
        )

    def laws(self) -> dict[str, bool]:
        """Which ways stay without a NaN."""
        return {f"{name}: no NaN in any row of any layer": not sum(self.nans(name)) for name in self.runs}

    def table(self) -> pd.DataFrame:
        """A row per way, place and token."""
        frames = [
            pd.DataFrame(
                {
                    "way": name,
                    "place": title,
                    "row": range(1, len(row) + 1),
                    "token": self.queries,
                    "NaN": np.isnan(row),
                    "difference from ours": row,
                }
            )
            for name, shares in self.shares.items()
            for title, row in zip(self.titles, shares, strict=True)
        ]
        return pd.concat(frames, ignore_index=True)

    def recipe(self) -> str:
        """A script that leaves, by way, `streams`, for each place (token, d_model), and `logits`, (token, vocab)."""
        return script(
            spread_through_the_model,
            **self.in_script(),
            attention=at(self.setting, "*", "").rstrip("."),
            sites=layer_sites(self.setting.model),
        )
