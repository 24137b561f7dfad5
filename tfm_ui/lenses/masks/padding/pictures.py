"""The view "padding", as functions of the link: a sentence alone and in its batch."""

import numpy as np
import torch

from tfm_ui.lenses.masks.padding.alone import Alone
from tfm_ui.lenses.masks.padding.amounts import ByAmount
from tfm_ui.lenses.masks.padding.beside import TITLES, run_beside
from tfm_ui.lenses.masks.padding.padded import batch_needs
from tfm_ui.lenses.masks.padding.shares import ROUNDING, STREAM_TITLE, titles_of
from tfm_ui.lenses.masks.padding.weights import RUNS, Weights
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.live import tables, windows
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import ABSENT, MAPS, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState


def masks_padding(model: ModelState, state: MasksState) -> Content:
    """How far each token's vector is from what it is alone, from layer to layer."""
    beside = run_beside(model, state)
    most = max(float(shares.max()) for shares in beside.shares.values())
    scale = from_zero(most if most > ROUNDING else 1.0)  # rounding is not blown up
    return maps.content(
        [
            Map(name=title, values=beside.shares[way], scale=scale, unit="of its length")
            for way, title in TITLES.items()
        ],
        rows=Axis(titles_of(beside.batch.setting.model), STREAM_TITLE, "place"),
        columns=Axis(beside.names, "token (column)", "token"),
        square=False,
        about=Alone(beside).sentence(),
    )


def masks_padding_weights(model: ModelState, state: MasksState) -> Content:
    """One head alone, and in the batch with padding hidden and without."""
    result = Weights(run_beside(model, state))
    beside = result.beside
    part = windows.part_of(windows.WHOLE, len(beside.names), len(beside.keys))
    scale = from_zero(max(float(weights.max()) for weights in beside.weights.values()))
    tensors = {way: torch.from_numpy(weights) for way, weights in result.maps.items()}
    drawn = {way: windows.pooled(tables.matrix(weights), part) for way, weights in tensors.items()}
    first = np.arange(0, part.columns, part.block[1])
    there = np.add.reduceat(np.isin(np.arange(part.columns), beside.open_columns, invert=True), first)
    drawn["alone"][:, there == 0] = ABSENT
    return maps.content(
        [Map(name=RUNS[way], values=weights, scale=scale, unit="weight") for way, weights in drawn.items()],
        rows=Axis(part.row_names(beside.names), "query (row): looks", "query", "query"),
        columns=Axis(part.column_names(beside.keys), "key (column): is looked at", "key", "key"),
        places=([place + 1 for place in range(0, part.rows, part.block[0])], [int(at) + 1 for at in first]),
        part=part,
        square=part.columns <= 3 * part.rows,  # else a short sentence in much padding would be a thread
        about=result.sentence(),
    )


def masks_padding_amount(model: ModelState, state: MasksState) -> Content:
    """The largest move of an output, by the number of PADs."""
    beside = run_beside(model, state)
    pads = list(beside.amounts)
    hidden, free = ([move[side] for move in beside.amounts.values()] for side in (0, 1))
    drawn = [Line("hidden", pads, hidden, "query"), Line("not hidden", pads, free, "key", "dashed")]
    chart = Chart(
        "PADs beside the sentence",
        "largest move of an output, as a share of its length",
        drawn,
        y_scale="log10",
        reach=(1e-8, 1.0),
        marks={"now": beside.batch.pads},
    )
    return lines.content([chart], about=ByAmount(beside).sentence(), gap="exactly 0")


PICTURES = {
    "masks_padding": Picture(MAPS, masks_padding, needs=batch_needs),
    "masks_padding_weights": Picture(MAPS, masks_padding_weights, needs=batch_needs),
    "masks_padding_amount": Picture(CHART, masks_padding_amount, needs=batch_needs),
}
