"""The pictures of the view "block", as functions of the link."""

from collections.abc import Mapping

import numpy as np
from torch import Tensor

from tfm_core import NORMS
from tfm_ui.lenses.model.block.both import Both, Lengths, both
from tfm_ui.lenses.model.block.chosen import Chosen, chosen
from tfm_ui.lenses.model.block.moments import Moments
from tfm_ui.lenses.model.block.numbers import steps
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.tables import SIDE, Part, matrix
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

DROPPED = "dropped: 0"
CELLS = 3 * SIDE**2  # more are pooled to half the side
PLACE = "token, by its place in the text"


def block_steps(model: ModelState, state: ModelLensState) -> Content:
    """The steps of the block, token x dimension, on one scale."""
    shown = steps(model, state)
    tables = dict(shown.shown.values())
    gone = shown.chain.factors == 0
    dropped = shown.tables["dropped"][0]
    if dropped in tables:
        tables[dropped] = tables[dropped].masked_fill(gone, float(MASKED))
    return _maps(shown, tables, shown.sentence())


def both_norms(model: ModelState, state: ModelLensState) -> Content:
    """The sum under both norms, and what leaves post-norm, on one scale."""
    shown = both(chosen(model, state))
    return _maps(shown.block, shown.tables, shown.sentence())


def _maps(shown: Chosen, tables: Mapping[str, Tensor], about: str) -> Content:
    """Maps token x dimension, in which a click chooses the cell that is derived."""
    width = shown.model.d_model
    side = SIDE if len(tables) * len(shown.names) * width <= CELLS else SIDE // 2
    part = part_of(shown.state.block_part, len(shown.names), width, side)
    whole = part.exact and (part.rows, part.columns) == (part.height, part.width)
    top = max(float(values.nan_to_num().abs().max()) for values in tables.values())
    return maps.content(
        [
            Map(name=name, values=pooled(matrix(values), part), scale=around_zero(top), unit="one scale")
            for name, values in tables.items()
        ],
        rows=Axis(part.row_names(shown.names), "token", "token"),
        # The numbers on a counted axis would begin at 0 for a part, too.
        columns=Axis(
            part.column_names([str(i + 1) for i in range(width)]), "dimension of d_model", "dimension", counted=whole
        ),
        about=about,
        picked=_picked(shown, part),
        asks=(PREFIX + "token", PREFIX + "block_dim"),
        square=False,
        read=-(-min(part.rows, max(0, shown.read - part.top)) // part.block[0]),  # rounded up
        part=None if whole else part,
        zooms=PREFIX + "block_part",
        blank=DROPPED,
        counted_from=1,
    )


def _picked(shown: Chosen, part: Part) -> tuple[int, int] | None:
    """The chosen cell in the part that is looked at; None if it lies elsewhere."""
    row, column = shown.token - part.top, shown.dim - part.left
    inside = 0 <= row < part.rows and 0 <= column < part.columns
    return (row // part.block[0], column // part.block[1]) if inside else None


def moments(model: ModelState, state: ModelLensState) -> Content:
    """Mean and variance of each token, before and after the norm."""
    shown = Moments(chosen(model, state))
    columns = shown.columns
    places = list(range(1, shown.block.read + 1))
    charts = [
        Chart(
            PLACE,
            what,
            [
                Line("before the norm", places, columns[f"{what} before the norm"].tolist(), "query"),
                Line("after the norm", places, columns[f"{what} after the norm"].tolist(), "result", "dashed"),
            ],
            reach=(0,),
        )
        for what in ("mean", "variance")
    ]
    return lines.content(charts, about=shown.sentence())


def length_by_token(model: ModelState, state: ModelLensState) -> Content:
    """How long the vectors are before and after the block, under both norms."""
    shown: Both = both(chosen(model, state))
    places = list(range(1, shown.block.read + 1))
    highest = max(float(np.max(end)) for ends in shown.lengths.values() for end in ends)
    charts = [
        Chart(
            PLACE,
            f"length, {norm}-norm",
            [
                Line("before the block", places, shown.lengths[norm][0].tolist(), "query"),
                Line("after the block", places, shown.lengths[norm][1].tolist(), "result", "dashed"),
            ],
            reach=(0, highest),
        )
        for norm in NORMS
    ]
    return lines.content(charts, about=Lengths(shown).sentence())


PICTURES = {
    "model_block": Picture(MAPS, block_steps),
    "model_block_moments": Picture(CHART, moments),
    "model_block_both": Picture(MAPS, both_norms),
    "model_block_lengths": Picture(CHART, length_by_token),
}
