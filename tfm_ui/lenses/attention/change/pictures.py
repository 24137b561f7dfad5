"""The pictures of two views of the Attention lens, contribution and change, as functions of the link."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.attention.change import numbers as change_view
from tfm_ui.lenses.attention.change.grammar import written
from tfm_ui.lenses.attention.contribution import numbers as contribution_view
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.pictures import maps, pairs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.maps import ABSENT, MASKED, Axis, Map, Slider
from tfm_ui.state.model_state import ModelState

ASKS = ("attention_query", "attention_key")


def _rows(queries: Sequence[str]) -> Axis:
    """Of a map of weights."""
    return Axis(queries, "query (row): looks", "query", "query")


def _columns(keys: Sequence[str]) -> Axis:
    """Likewise."""
    return Axis(keys, "key (column): is looked at", "key", "key")


def contribution(model: ModelState, state: AttentionState) -> Content:
    """What a head looks at, beside what it writes; the chosen row ringed."""
    seen = contribution_view.view(model, state)
    names = {"What it looks at: a": (seen.weights, "weight"), "What it writes: ‖a v Wᴼ‖": (seen.norms, "length")}
    return maps.content(
        [
            Map(
                name=name,
                values=np.where(seen.visible, matrix, MASKED),
                scale=from_zero(float(matrix.max())),
                unit=unit,
            )
            for name, (matrix, unit) in names.items()
        ],
        rows=_rows(seen.queries),
        columns=_columns(seen.keys),
        picked=(seen.row, seen.key),
        whole_row=True,
        asks=ASKS,
        read=seen.read,
        about=seen.sentence,
    )


def contribution_row(model: ModelState, state: AttentionState) -> Content:
    """The chosen row: each weight beside the share that it makes of what is written."""
    seen = contribution_view.view(model, state)
    return pairs.content(
        [seen.keys[key] for key in seen.bars],
        ("looks at: weight a", "writes: share of the ‖a v Wᴼ‖"),
        np.stack([seen.weights[seen.row, seen.bars], seen.shares[seen.row, seen.bars]]),
        roles=("query", "result"),
        about=seen.sentence_of(seen.row),
    )


def change_weights(model: ModelState, state: AttentionState) -> Content:
    """One head in A, in B, and the difference; the locked cell's weight can be dragged."""
    seen = change_view.view(model, state)
    found, (query, key) = seen.compared, seen.cell
    sides = [
        np.where(there, np.where(visible | (weights > 0), weights, MASKED), ABSENT)
        for weights, visible, there in zip(found.weights, found.visible, found.there, strict=True)
    ]
    weights = from_zero(float(found.weights.max()))
    most = float(np.abs(found.difference[found.there.all(0)]).max(initial=0))
    at = (found.queries.index(query - 1), found.keys.index(key - 1)) if seen.cell_is_there else None
    return maps.content(
        [
            Map(name=seen.title_of(0), values=sides[0], scale=weights, unit="weight"),
            Map(name=seen.title_of(1), values=sides[1], scale=weights, unit="weight"),
            Map(name="B − A", values=_difference(*sides), scale=around_zero(most)),
        ],
        rows=_rows(seen.queries),
        columns=_columns(seen.keys),
        picked=at,
        places=([i + 1 for i in found.queries], [i + 1 for i in found.keys]),
        asks=ASKS,
        crosses=seen.crosses(),
        slider=_slider(seen, at) if at and not seen.full else None,
        about=seen.about_weights(),
    )


def change_stream(model: ModelState, state: AttentionState) -> Content:
    """How far each token's vector moved, behind each part of the model."""
    seen = change_view.view(model, state)
    moved = np.where(seen.compared.both[:, None], seen.compared.relative, ABSENT)
    return maps.content(
        [
            Map(
                name="‖x_B − x_A‖ / ‖x_A‖",
                values=moved,
                scale=from_zero(float(moved[np.isfinite(moved)].max(initial=0))),
                unit="of its length in A",
            )
        ],
        rows=Axis(seen.queries, "token", "token"),
        columns=Axis(seen.compared.places, "after layer", "after"),
        places=([i + 1 for i in seen.compared.queries], list(range(len(seen.compared.places)))),
        square=False,
        about=seen.about_stream(),
    )


def change_output(model: ModelState, state: AttentionState) -> Content:
    """The probabilities that moved most; the largest, if none moved."""
    seen = change_view.view(model, state)
    names, shares = seen.likely
    return pairs.content(names, ("A", "B"), shares, roles=("muted", "result"), about=seen.about_output())


def _difference(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    """B - A, a masked weight being 0 unless it is masked in both; absent where it is in either."""
    absent, masked = (a == ABSENT) | (b == ABSENT), np.isnan(a) & np.isnan(b)
    plain = [np.where(np.isfinite(side), side, 0) for side in (a, b)]
    return np.where(absent, ABSENT, np.where(masked, MASKED, plain[1] - plain[0])).astype(np.float32)


def _slider(seen: change_view.ChangeView, at: tuple[int, int]) -> Slider:
    """The locked weight of B, to be set to what it is dragged to."""
    before, _, after = written(seen.dragged).rpartition(f" {change_view.MARK:g}")
    name = seen.naming.token
    pair = [name(text, token) for text, token in zip(seen.texts, seen.cell, strict=True)]
    label = f"Drag: {pair[0]} looks at {pair[1]} in B with"
    return Slider(label, round(float(seen.compared.weights[1][at]), 4), "attention_changes", f"{before} ", after)
