"""The view "model": one head under each scheme, its mean score by distance, the shuffle, where schemes enter."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_ui.lenses.positions.in_model import entry_canvas as entry
from tfm_ui.lenses.positions.in_model import numbers as in_model
from tfm_ui.lenses.positions.in_model import shuffle
from tfm_ui.lenses.positions.in_model.entry import diagram
from tfm_ui.lenses.positions.sides import A_AND_B
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live import windows
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MASKED, Axis, Map
from tfm_ui.state.model_state import ModelState

OTHERS = ("head 3", "head 4", "head 5", "head 6", "head 7", "head 8")


def positions_maps(model: ModelState, state: PositionsState) -> Content:
    """One head under each scheme, on one scale."""
    seen = in_model.view(model, state)
    part = windows.part_of(state.part_maps, model.seq_len, model.seq_len)
    drawn = [
        Map(name=title, values=pooled(head.weights, head.visible, part), scale=from_zero(seen.top), unit="weight")
        for title, head in zip(seen.titles, seen.heads.values(), strict=True)
    ]
    return weights(drawn, seen.names, part, len(model.source_tokens.pieces), seen.about_maps(), PREFIX + "part_maps")


def weights(
    drawn: Sequence[Map], names: Sequence[str], part: windows.Part, read: int, about: str, zooms: str = ""
) -> Content:
    """Maps of weights of one text, pooled to a part of them; `zooms` as in `maps.content`."""
    down = part.block[0]
    return maps.content(
        drawn,
        rows=Axis(part.row_names(names), "query (row): looks", "query", "query"),
        columns=Axis(part.column_names(names), "key (column): is looked at", "key", "key"),
        read=-(-min(part.rows, max(0, read - part.top)) // down),  # rounded up
        about=about,
        part=part,
        zooms=zooms,
    )


def pooled(values: NDArray[np.float32], visible: NDArray[np.bool_], part: windows.Part) -> NDArray[np.float32]:
    """Weights as the screen can show them, masked where no pair of a cell may look."""
    return windows.pooled(windows.matrix(torch.from_numpy(np.where(visible, values, MASKED))), part)


def positions_distance(model: ModelState, state: PositionsState) -> Content:
    """The mean score of each distance."""
    seen = in_model.view(model, state)
    pinned = in_model.sides(state)
    rest = iter(OTHERS * len(seen.heads))
    drawn = []
    for name, head in seen.heads.items():
        colour, style = A_AND_B[pinned[name]] if name in pinned else (next(rest), "solid")
        found = head.by_distance
        drawn.append(Line(in_model.title_of(name, state), found.distance.tolist(), found.mean.tolist(), colour, style))
    ahead = "" if model.looks_back_only and not model.is_encoder_decoder else "; below 0 the key is ahead"
    chart = Chart(f"distance, query − key, in tokens{ahead}", "mean score, before the softmax", drawn[::-1])
    return lines.content([chart], about=seen.about_distance())


def positions_shuffled(model: ModelState, state: PositionsState) -> Content:
    """How far each token's output moved, under each scheme."""
    seen = shuffle.view(model, state)
    moved = np.stack([row.shares for row in seen.rows.values()])
    return maps.content(
        [
            Map(
                name="‖after − before‖ / ‖before‖",
                values=moved,
                scale=from_zero(float(moved.max())),
                unit="of its length",
            )
        ],
        rows=Axis([row.title for row in seen.rows.values()], "scheme", "scheme"),
        columns=Axis(seen.names, "token (column), as the text was written", "token"),
        places=(list(range(1, len(moved) + 1)), list(range(len(seen.names)))),  # positions are counted from 0
        square=False,
        about=seen.sentence(),
    )


def positions_entry(model: ModelState, state: PositionsState) -> Content:
    """Where A and B enter the model."""
    return entry.content(diagram(model, state))
