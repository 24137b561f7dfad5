"""The pictures of the view "parts" of the Profiling lens, as functions of the link."""

import math
from collections.abc import Mapping

from tfm_ui.lenses.profiling.asked import NOTHING
from tfm_ui.lenses.profiling.parts.numbers import parts
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, units


def parameters(model: ModelState, state: ProfilingState) -> Content:
    """How many, by part."""
    seen = parts(model, state)
    if seen is None:
        return _shares({}, {}, NOTHING)
    found = {name: seen.parameters.get(name, 0) for name in seen.names}
    return _shares(found, {name: look.count(count) for name, count in found.items()}, seen.about_parameters)


def flops(model: ModelState, state: ProfilingState) -> Content:
    """Of a forward pass, by part."""
    seen = parts(model, state)
    if seen is None:
        return _shares({}, {}, NOTHING)
    found = {name: seen.flops.get(name, 0) for name in seen.names}
    return _shares(
        found,
        {name: f"{units.three(count / 1e6)} M" if count else "0" for name, count in found.items()},
        seen.about_flops,
    )


def time(model: ModelState, state: ProfilingState) -> Content:
    """Of a forward pass, by part or by operator; a gap at each where nothing was measured."""
    seen = parts(model, state)
    if seen is None:
        return _shares({}, {}, NOTHING)
    if not seen.seconds:
        nothing, gap = [math.nan] * len(seen.timed), "no figure" if seen.of.report else "not measured"
        return bars.content(seen.timed, nothing, about=seen.about_time, gap=gap)
    found = {name: seen.seconds.get(name, 0.0) for name in seen.timed}
    return _shares(found, {name: units.took(seconds) for name, seconds in found.items()}, seen.about_time)


def _shares(found: Mapping[str, float], values: Mapping[str, str], about: str) -> Content:
    total = sum(found.values()) or 1
    return bars.content(
        list(found), [value / total for value in found.values()], values=list(values.values()), about=about
    )
