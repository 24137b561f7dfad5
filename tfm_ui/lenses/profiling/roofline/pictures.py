"""The picture of the view "roofline"."""

from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.plan import NO_CONFIGURATION
from tfm_ui.lenses.profiling.rates import Rates
from tfm_ui.lenses.profiling.roofline.roofline import Roofline
from tfm_ui.lenses.profiling.shown import picture
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import units

INTENSITY = "operations per byte"


def roof(comparison: Comparison) -> Content:
    """The measured roof and each row's dot under it; nothing where no row has a rate."""
    roofline = Roofline(comparison)
    if not roofline.rated:
        return lines.content([], about=roofline.sentence())
    rows = [
        Line(
            f"{comparison.label(point.number)}{', under load' * comparison.rows[point.number - 1].forward.under_load}",
            [point.intensity],
            [point.rate / 1e9],
            f"head {(point.number - 1) % 8 + 1}",
            "dots",
            str(point.number),
        )
        for point in roofline.rated
    ]
    ridge = {f"ridge {units.three(roofline.ridge)}": roofline.ridge} if roofline.machine else {}
    chart = Chart(INTENSITY, "GFLOP/s", [*_roof(roofline), *rows], "log10", "log10", marks=ridge)
    return lines.content([chart], about=roofline.sentence())


def _roof(rates: Rates) -> list[Line]:
    """The slope up to the ridge and the flat part after it, as far as there are rows, and a little further."""
    machine = rates.machine
    if machine is None:
        return []
    at = [rates.ridge, *(point.intensity for point in rates.rated)]
    low, high = min(at) / 2, max(at) * 2
    peak, copy = machine.flops_per_second / 1e9, machine.bytes_per_second / 1e9
    return [
        Line(f"peak {units.three(peak)} GFLOP/s", [rates.ridge, high], [peak, peak], "ink", "dashed"),
        Line(f"copy {units.three(copy)} GB/s", [low, rates.ridge], [low * copy, peak], "ink", "thin"),
    ]


EMPTY = lines.content([], about=NO_CONFIGURATION)
PICTURES = {"profiling_roofline": picture("roofline", CHART, roof, empty=EMPTY)}
