"""Scales of heatmaps in a Plotly figure: their colours, and the bars that tell what these stand for."""

from typing import Any

import numpy as np

from tfm_ui.pictures.figures import PAPER, SMALL, plain
from tfm_ui.pictures.heat import Heat
from tfm_ui.pictures.heatmaps_layout import Place
from tfm_ui.pictures.map_scale import Scale
from tfm_ui.text import colours, formats


def shades_of(heat: Heat, beside: Place | None) -> dict[str, Any]:
    """A scale of the heatmap's own; it stands beside it, if it has a place."""
    if heat.scale is None:
        return {"colorscale": [[0, PAPER], [1, PAPER]], "showscale": False, "xgap": 1, "ygap": 1}
    low, high = _ends(heat.scale)
    shades: dict[str, Any] = {
        "zmin": low,
        "zmax": high,
        "colorscale": _stops(heat.scale),
        "showscale": beside is not None,
    }
    if beside:
        middle, tall = sum(beside.y) / 2, beside.y[1] - beside.y[0]
        shades["colorbar"] = _bar(heat) | {"x": beside.x[1], "y": middle, "len": tall, "xpad": 6, "ypad": 0}
    return shades


def colour_axis(heat: Heat) -> dict[str, Any]:
    """A scale that several heatmaps share, at the right of all."""
    assert heat.scale
    low, high = _ends(heat.scale)
    return {"cmin": low, "cmax": high, "colorscale": _stops(heat.scale), "colorbar": _bar(heat)}


def _ends(scale: Scale) -> tuple[float, float]:
    return (float(np.log10(scale.low)), float(np.log10(scale.high))) if scale.powers else (scale.low, scale.high)


def _stops(scale: Scale) -> list[list[Any]]:
    """The light colours of a scale, from its low end to its high one; 0 is the middle of the signed ones."""
    shades, signed = colours.WEIGHTS["light"], colours.SIGNED["light"]
    if scale.low < 0:
        shades = signed[: len(signed) if scale.high > 0 else len(signed) // 2 + 1]
    return [[at / (len(shades) - 1), shade] for at, shade in enumerate(shades)]


def _bar(heat: Heat) -> dict[str, Any]:
    assert heat.scale
    bar: dict[str, Any] = {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": SMALL}}
    if heat.words:
        bar |= {"tickvals": [0, 1], "ticktext": [plain(word) for word in heat.words]}
    elif heat.scale.powers:
        low, high = _ends(heat.scale)
        powers = [power for power in range(round(low), round(high) + 1) if low - 0.01 <= power <= high + 0.01]
        bar |= {"tickvals": powers, "ticktext": [formats.power_of_ten(10.0**power) for power in powers]}
    else:
        ends = dict(zip((heat.scale.low, heat.scale.high), heat.scale.texts(whole=heat.whole), strict=True)) | {0: "0"}
        bar |= {"tickvals": sorted(ends), "ticktext": [ends[end] for end in sorted(ends)]}
    return bar | {"title": {"text": plain(heat.unit), "side": "right", "font": {"size": SMALL}}}
