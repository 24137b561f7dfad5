"""The pictures of the view "parts": a row's parameters, FLOPs and time, by part."""

import math
from collections.abc import Mapping

from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.parts.costs_by_part import PartFlops, PartParameters, PartTimes
from tfm_ui.lenses.profiling.plan import NO_CONFIGURATION
from tfm_ui.lenses.profiling.shown import picture
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.text import formats, units


def parameters(comparison: Comparison) -> Content:
    """How many, by part."""
    parts = PartParameters(comparison)
    counts = {name: parts.parameters.get(name, 0) for name in parts.names}
    return _shares(counts, {name: formats.count(count) for name, count in counts.items()}, parts.sentence())


def flops(comparison: Comparison) -> Content:
    """FLOPs of a forward pass, by part."""
    parts = PartFlops(comparison)
    counts = {name: parts.flops.get(name, 0) for name in parts.names}
    values = {name: f"{units.three(count / 1e6)} M" if count else "0" for name, count in counts.items()}
    return _shares(counts, values, parts.sentence())


def time(comparison: Comparison) -> Content:
    """The time of a forward pass, by part or by operator; a gap at each where nothing was measured."""
    parts = PartTimes(comparison)
    if not parts.seconds:
        nothing, gap = [math.nan] * len(parts.timed), "no figure" if comparison.report else "not measured"
        return bars.content(parts.timed, nothing, about=parts.sentence(), gap=gap, rows="part")
    seconds = {name: parts.seconds.get(name, 0.0) for name in parts.timed}
    return _shares(seconds, {name: units.took(time) for name, time in seconds.items()}, parts.sentence())


def _shares(costs: Mapping[str, float], values: Mapping[str, str], about: str) -> Content:
    total = sum(costs.values()) or 1
    shares = [cost / total for cost in costs.values()]
    return bars.content(list(costs), shares, values=list(values.values()), about=about, rows="part")


EMPTY = bars.content([], [], about=NO_CONFIGURATION)
PICTURES = {
    "profiling_parts_parameters": picture("parts", CHART, parameters, empty=EMPTY),
    "profiling_parts_flops": picture("parts", CHART, flops, empty=EMPTY),
    "profiling_parts_time": picture("parts", CHART, time, empty=EMPTY),
}
