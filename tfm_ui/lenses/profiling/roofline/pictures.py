"""The picture of the view "roofline" of the Profiling lens, as a function of the link."""

from tfm_ui.lenses.profiling.asked import NOTHING, label
from tfm_ui.lenses.profiling.roofline.numbers import Roofline, roofline
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import units

INTENSITY = "operations per byte"


def roof(model: ModelState, state: ProfilingState) -> Content:
    """The measured roof and each row's dot under it; nothing where no row has a rate."""
    seen = roofline(model, state)
    if seen is None or not seen.there:
        return lines.content([], about=seen.sentence if seen else NOTHING)
    rows = [
        Line(
            f"{label(seen.of, point.number)}{', under load' * seen.of.rows[point.number - 1].forward.under_load}",
            [point.intensity],
            [point.rate / 1e9],
            f"head {(point.number - 1) % 8 + 1}",
            "dots",
            str(point.number),
        )
        for point in seen.there
    ]
    ridge = {f"ridge {units.three(seen.ridge)}": seen.ridge} if seen.machine else {}
    chart = Chart(INTENSITY, "GFLOP/s", [*_roof(seen), *rows], "log10", "log10", marks=ridge)
    return lines.content([chart], about=seen.sentence)


def _roof(seen: Roofline) -> list[Line]:
    """The slope up to the ridge and the flat part behind it, as far as there are rows, and a little further."""
    machine = seen.machine
    if machine is None:
        return []
    at = [seen.ridge, *(point.intensity for point in seen.there)]
    low, high = min(at) / 2, max(at) * 2
    peak, copy = machine.flops_per_second / 1e9, machine.bytes_per_second / 1e9
    return [
        Line(f"peak {units.three(peak)} GFLOP/s", [seen.ridge, high], [peak, peak], "ink", "dashed"),
        Line(f"copy {units.three(copy)} GB/s", [low, seen.ridge], [low * copy, peak], "ink", "thin"),
    ]
