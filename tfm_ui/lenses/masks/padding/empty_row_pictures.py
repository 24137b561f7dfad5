"""The view "padding", as functions of the link: a row without a key, and where its NaN goes."""

import numpy as np

from tfm_ui.lenses.masks.padding import empty_rows
from tfm_ui.lenses.masks.padding import spread as empty_rows_spread
from tfm_ui.lenses.masks.padding.pictures import PLACES
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.state.model_state import ModelState


def masks_empty_row(model: ModelState, state: MasksState) -> Content:
    """The weights of that row, of the treatments that hand weights out."""
    seen = empty_rows.view(model, state)
    weights = np.stack(list(seen.weights.values()))
    return maps.content(
        [Map(name="", values=weights, scale=from_zero(float(np.nanmax(weights))), unit="weight")],
        rows=Axis(list(seen.weights), "treatment", "way"),
        columns=Axis(seen.at.keys, "key (column): is looked at", "key", "key"),
        square=False,
        about=seen.sentence(),
        blank="NaN",
    )


def masks_nan_spreads(model: ModelState, state: MasksState) -> Content:
    """Each row after each layer: NaN, or how far it is from ours."""
    seen = empty_rows_spread.view(model, state)
    scale = from_zero(max(float(np.nanmax(shares)) for shares in seen.shares.values()))
    return maps.content(
        [
            Map(name=name, values=shares, scale=scale, unit="of a length from ours")
            for name, shares in seen.shares.items()
        ],
        rows=Axis(seen.titles, PLACES, "place"),
        columns=Axis(seen.at.queries, "token (column)", "token"),
        square=False,
        about=seen.sentence(),
        blank="NaN",
    )
