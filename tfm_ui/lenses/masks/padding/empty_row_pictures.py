"""The view "padding", as functions of the link: a row without a key, and where its NaN goes."""

import numpy as np

from tfm_ui.lenses.masks.padding.nan_spread import nan_spread
from tfm_ui.lenses.masks.padding.shares import STREAM_TITLE
from tfm_ui.lenses.masks.padding.treatments import treatments_of_row
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState


def masks_empty_row(model: ModelState, state: MasksState) -> Content:
    """The weights of that row, of the treatments that hand weights out."""
    result = treatments_of_row(model, state)
    weights = np.stack(list(result.weights.values()))
    return maps.content(
        [Map(name="", values=weights, scale=from_zero(float(np.nanmax(weights))), unit="weight")],
        rows=Axis(list(result.weights), "treatment", "way"),
        columns=Axis(result.at.keys, "key (column): is looked at", "key", "key"),
        square=False,
        about=result.sentence(),
        blank="NaN",
    )


def masks_nan_spreads(model: ModelState, state: MasksState) -> Content:
    """Each row after each layer: NaN, or how far it is from ours."""
    result = nan_spread(model, state)
    scale = from_zero(max(float(np.nanmax(shares)) for shares in result.shares.values()))
    return maps.content(
        [
            Map(name=name, values=shares, scale=scale, unit="of a length from ours")
            for name, shares in result.shares.items()
        ],
        rows=Axis(result.titles, STREAM_TITLE, "place"),
        columns=Axis(result.at.queries, "token (column)", "token"),
        square=False,
        about=result.sentence(),
        blank="NaN",
    )


PICTURES = {"masks_empty_row": Picture(MAPS, masks_empty_row), "masks_nan_spreads": Picture(MAPS, masks_nan_spreads)}
