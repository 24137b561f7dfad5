"""The view "padding", as functions of the link: a sentence alone and in its batch."""

import numpy as np
import torch

from tfm_ui.lenses.masks.padding import numbers as padding
from tfm_ui.lenses.masks.padding.batch import ROUNDING, titles_of
from tfm_ui.lenses.masks.padding.weights import RUNS, Weights
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.live import windows
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import ABSENT, Axis, Map
from tfm_ui.state.model_state import ModelState

PLACES = "residual stream"  # what the rows of maps of layers are


def masks_padding(model: ModelState, state: MasksState) -> Content:
    """How far each token's vector is from what it is alone, from layer to layer."""
    seen = padding.view(model, state)
    most = max(float(shares.max()) for shares in seen.shares.values())
    scale = from_zero(most if most > ROUNDING else 1.0)  # rounding is not blown up
    return maps.content(
        [
            Map(name=title, values=seen.shares[way], scale=scale, unit="of its length")
            for way, title in padding.TITLES.items()
        ],
        rows=Axis(titles_of(seen.batch), PLACES, "place"),
        columns=Axis(seen.names, "token (column)", "token"),
        square=False,
        about=seen.sentence(),
    )


def masks_padding_weights(model: ModelState, state: MasksState) -> Content:
    """One head alone, and in the batch with padding hidden and without."""
    seen = Weights(padding.view(model, state))
    beside = seen.beside
    part = windows.part_of(windows.WHOLE, len(beside.names), len(beside.keys))
    scale = from_zero(max(float(weights.max()) for weights in beside.weights.values()))
    drawn = {way: windows.pooled(windows.matrix(torch.from_numpy(own)), part) for way, own in seen.maps.items()}
    first = np.arange(0, part.columns, part.block[1])
    there = np.add.reduceat(np.isin(np.arange(part.columns), beside.open_columns, invert=True), first)
    drawn["alone"][:, there == 0] = ABSENT
    return maps.content(
        [Map(name=RUNS[way], values=own, scale=scale, unit="weight") for way, own in drawn.items()],
        rows=Axis(part.row_names(beside.names), "query (row): looks", "query", "query"),
        columns=Axis(part.column_names(beside.keys), "key (column): is looked at", "key", "key"),
        places=([place + 1 for place in range(0, part.rows, part.block[0])], [int(at) + 1 for at in first]),
        part=part,
        square=part.columns <= 3 * part.rows,  # else a short sentence in much padding would be a thread
        about=seen.sentence(),
    )


def masks_padding_amount(model: ModelState, state: MasksState) -> Content:
    """The largest move of an output, by the number of PADs."""
    seen = padding.view(model, state)
    pads = list(seen.amounts)
    hidden, free = ([move[side] for move in seen.amounts.values()] for side in (0, 1))
    drawn = [Line("hidden", pads, hidden, "query"), Line("not hidden", pads, free, "key", "dashed")]
    chart = Chart(
        "PADs beside the sentence",
        "largest move of an output, as a share of its length",
        drawn,
        y_scale="log10",
        reach=(1e-8, 1.0),
        marks={"now": seen.batch.pads},
    )
    return lines.content([chart], about=seen.about_amounts(), gap="exactly 0")
