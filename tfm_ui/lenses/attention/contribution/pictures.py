"""The pictures of the view "contribution": all rows of a head, and the chosen one."""

import numpy as np

from tfm_ui.lenses.attention.contribution.numbers import contribution
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.weight_axes import ASKS, keys_axis, queries_axis
from tfm_ui.live.passes import and_scores
from tfm_ui.pictures import maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState


def whole_head(model: ModelState, state: AttentionState) -> Content:
    """What a head looks at, beside what it writes; the chosen row ringed."""
    whole, _ = contribution(model, state)
    writing = whole.writing
    names = {"What it looks at: a": (writing.weights, "weight"), "What it writes: ‖a v Wᴼ‖": (writing.norms, "length")}
    return maps.content(
        [
            Map(
                name=name,
                values=np.where(writing.visible, matrix, MASKED),
                scale=from_zero(float(matrix.max())),
                unit=unit,
            )
            for name, (matrix, unit) in names.items()
        ],
        rows=queries_axis(writing.queries),
        columns=keys_axis(writing.keys),
        picked=(whole.row, whole.key),
        whole_row=True,
        asks=ASKS,
        read=writing.read,
        about=whole.sentence(),
    )


def chosen_row(model: ModelState, state: AttentionState) -> Content:
    """The chosen row: each weight beside the share that it makes of what is written."""
    _, chosen = contribution(model, state)
    writing, row, bars = chosen.writing, chosen.row, chosen.bars
    return pairs.content(
        [writing.keys[key] for key in bars],
        ("looks at: weight a", "writes: share of the ‖a v Wᴼ‖"),
        np.stack([writing.weights[row, bars], writing.shares[row, bars]]),
        roles=("query", "result"),
        rows="key token",
        about=chosen.sentence(),
    )


PICTURES = {
    "contribution": Picture(MAPS, whole_head, needs=and_scores(1)),
    "contribution_row": Picture(CHART, chosen_row, needs=and_scores(1)),
}
