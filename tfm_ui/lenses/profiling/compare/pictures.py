"""The pictures of the view "compare": every run, ratios, parameters beside cost."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.times import Times, median_or_why
from tfm_ui.lenses.profiling.comparison import FORWARD, TRAINING, Comparison
from tfm_ui.lenses.profiling.shown import picture
from tfm_ui.pictures import lines, strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.strips import Group, Strip

NOTHING = "No configuration is asked for."
NO_STRIPS = strips.content([], {}, axis="", unit="", about=NOTHING)
KINDS = {FORWARD: Group("head 1"), TRAINING: Group("head 2", hollow=True)}
NAMED = 12  # rows that have a point and a name of their own
COLOURS = 8


def times(comparison: Comparison) -> Content:
    """Every round of every row."""
    every = Times(comparison)
    drawn = [_time(every, number, kind) for number in comparison.numbers for kind in comparison.kinds(number)]
    return strips.content(
        drawn,
        _groups(drawn),
        axis="ms per call",
        unit="ms",
        about=every.sentence(),
        scale=_scale(drawn),
        least=True,
    )


def _time(every: Times, number: int, kind: str) -> Strip:
    blocks = every.comparison.kinds(number)[kind]
    low, high = blocks.quartiles
    return Strip(
        name=every.comparison.name(number),
        detail=every.comparison.size(number),
        group=kind,
        dots=[1000 * seconds for seconds in blocks.sample.values()],
        rounds=list(blocks.sample),
        low=1000 * low,
        middle=1000 * blocks.median,
        high=1000 * high,
        end=median_or_why(blocks),
        said=every.of_row(number, kind),
    )


def ratios(comparison: Comparison) -> Content:
    """Each row over the baseline, round by round."""
    every, base = Ratios(comparison), f"row {comparison.baseline}"
    drawn = [
        Strip(
            name=comparison.name(row.number),
            detail="",
            group=row.kind,
            dots=list(row.rounds.values()),
            rounds=list(row.rounds),
            low=row.ratio.interval.low,
            middle=row.ratio.interval.middle,
            high=row.ratio.interval.high,
            end=row.in_short,
            said=f"{comparison.name(row.number)}, {row.kind}, over {base}:\n{row.in_words}",
        )
        for row in every.all
    ]
    return strips.content(
        drawn,
        _groups(drawn),
        axis=f"times as long as {base}",
        unit="",
        about=every.sentence(),
        scale=_scale(drawn),
        line=(base, 1.0),
    )


def _groups(drawn: Sequence[Strip]) -> dict[str, Group]:
    return {name: group for name, group in KINDS.items() if any(strip.group == name for strip in drawn)}


def _scale(drawn: Sequence[Strip]) -> Literal["linear", "log10"]:
    """The scale of the axis: powers of ten where the largest is more than 5 times the smallest."""
    dots = [dot for strip in drawn for dot in strip.dots if dot > 0]
    return "log10" if dots and max(dots) > 5 * min(dots) else "linear"


def parameters(comparison: Comparison) -> Content:
    """Parameters beside time; beside operations, until there is a time."""
    every = ParametersAndCost(comparison)
    return lines.content([_chart(every)] if every.rows else [], about=every.sentence())


def _chart(every: ParametersAndCost) -> Chart:
    """A point per row; of many rows, a cloud per target."""
    comparison, rows = every.comparison, every.comparison.plan.rows
    targets = list(dict.fromkeys(row.target for row in rows))
    is_named = len(rows) <= NAMED
    points: dict[str, list[int]] = defaultdict(list)
    for number in every.rows:
        points[_point(comparison, number) if is_named else rows[number - 1].target].append(number)
    drawn = [
        Line(
            name,
            [comparison.parameters(number) for number in numbers],
            [every.cost(number) for number in numbers],
            f"head {targets.index(rows[numbers[0] - 1].target) % COLOURS + 1}",
            "dots",
            str(numbers[0]) if is_named else "",
        )
        for name, numbers in points.items()
    ]
    y = "MFLOP of a forward pass" if comparison.report is None else "ms of a forward pass, median"
    scale: Literal["linear", "log10"] = "log10" if every.by_powers else "linear"
    return Chart("parameters", y, drawn, x_scale="log10", y_scale=scale, reach=() if every.by_powers else (0,))


def _point(comparison: Comparison, number: int) -> str:
    load = comparison.report is not None and comparison.rows[number - 1].forward.under_load
    return f"{comparison.name(number)}{', under load' * load}"


PICTURES = {
    "profiling_times": picture("compare", CHART, times, empty=NO_STRIPS),
    "profiling_ratios": picture("compare", CHART, ratios, empty=NO_STRIPS),
    "profiling_parameters": picture("compare", CHART, parameters, empty=lines.content([], about=NOTHING)),
}
