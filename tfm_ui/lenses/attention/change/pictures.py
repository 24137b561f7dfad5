"""The pictures of the view "change": one head of A and of B, the residual stream, and the output."""

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.attention.change.changes import written
from tfm_ui.lenses.attention.change.results import ChangedWeights, changed
from tfm_ui.lenses.attention.change.setting import MARK
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.weight_axes import ASKS, keys_axis, queries_axis
from tfm_ui.live.passes import and_scores
from tfm_ui.pictures import maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.maps import ABSENT, MAPS, MASKED, Axis, Map, Slider
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState


def change_weights(model: ModelState, state: AttentionState) -> Content:
    """One head in A, in B, and the difference; the locked cell's weight can be dragged."""
    shown, _, _ = changed(model, state)
    setting, both, locked = shown.setting, shown.compared, shown.locked
    sides = [
        np.where(there, np.where(visible | (weights > 0), weights, MASKED), ABSENT)
        for weights, visible, there in zip(both.weights, both.visible, both.there, strict=True)
    ]
    weights = from_zero(float(both.weights.max()))
    most = float(np.abs(both.difference[both.there.all(0)]).max(initial=0))
    return maps.content(
        [
            Map(name=setting.title_of(0), values=sides[0], scale=weights, unit="weight"),
            Map(name=setting.title_of(1), values=sides[1], scale=weights, unit="weight"),
            Map(name="B − A", values=_difference(*sides), scale=around_zero(most)),
        ],
        rows=queries_axis(shown.queries),
        columns=keys_axis(shown.keys),
        picked=locked,
        places=([i + 1 for i in both.queries], [i + 1 for i in both.keys]),
        asks=ASKS,
        crosses=shown.crosses(),
        slider=_slider(shown, locked) if locked and not setting.full else None,
        about=shown.sentence(),
    )


def change_stream(model: ModelState, state: AttentionState) -> Content:
    """How far each token's vector moved, after each part of the model."""
    _, shown, _ = changed(model, state)
    both, places = shown.compared, shown.compared.effect.places
    moved = np.where(both.both[:, None], both.effect.relative, ABSENT)
    return maps.content(
        [
            Map(
                name="‖x_B − x_A‖ / ‖x_A‖",
                values=moved,
                scale=from_zero(float(moved[np.isfinite(moved)].max(initial=0))),
                unit="of its length in A",
            )
        ],
        rows=Axis(shown.queries, "token", "token"),
        columns=Axis(places, "after layer", "after"),
        places=([i + 1 for i in both.queries], list(range(len(places)))),
        square=False,
        about=shown.sentence(),
    )


def change_output(model: ModelState, state: AttentionState) -> Content:
    """The probabilities that moved most; the largest, if none moved."""
    _, _, shown = changed(model, state)
    names, shares = shown.likely
    return pairs.content(
        names, ("A", "B"), shares, roles=("muted", "result"), about=shown.sentence(), rows="next token"
    )


def _difference(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """B - A, a masked weight being 0 unless it is masked in both; absent where it is in either."""
    absent, masked = (a == ABSENT) | (b == ABSENT), np.isnan(a) & np.isnan(b)
    plain = [np.where(np.isfinite(side), side, 0) for side in (a, b)]
    return np.where(absent, ABSENT, np.where(masked, MASKED, plain[1] - plain[0])).astype(np.float32)


def _slider(shown: ChangedWeights, locked: tuple[int, int]) -> Slider:
    """The locked weight of B, to be set to what it is dragged to."""
    setting = shown.setting
    before, _, after = written(setting.dragged).rpartition(f" {MARK:g}")
    query, key = (setting.names.token(text, token) for text, token in zip(setting.texts, setting.cell, strict=True))
    label = f"Drag: {query} looks at {key} in B with"
    value = round(float(shown.compared.weights[1][locked]), 4)
    return Slider(label, value, "attention_changes", f"{before} ", after)


PICTURES = {
    "change_weights": Picture(MAPS, change_weights, needs=and_scores(3)),
    "change_stream": Picture(MAPS, change_stream, needs=and_scores(3)),
    "change_output": Picture(CHART, change_output, needs=and_scores(3)),
}
