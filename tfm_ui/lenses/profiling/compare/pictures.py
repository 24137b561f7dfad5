"""The pictures of the view "compare", as functions of the link."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from tfm_ui.lenses.profiling import analytic
from tfm_ui.lenses.profiling.compare import parameters as compare_parameters
from tfm_ui.lenses.profiling.compare import ratios as compare_ratios
from tfm_ui.lenses.profiling.compare import times as compare_times
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, TRAINING, Compared, compared
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures import lines, strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.state.model_state import ModelState

NOTHING = "No configuration is asked for."
KINDS = {FORWARD: Group("head 1"), TRAINING: Group("head 2", hollow=True)}
NAMED = 12  # rows that have a point and a name of their own
COLOURS = 8


def times(model: ModelState, state: ProfilingState) -> Content:
    """Every round of every row."""
    seen = compared(model, state)
    rows = range(1, len(seen.rows) + 1) if seen else ()
    drawn = [_time(seen, number, kind) for number in rows if seen for kind in seen.kinds(number)]
    return strips.content(
        drawn,
        _groups(drawn),
        axis="ms per call",
        unit="ms",
        about=compare_times.sentence(seen) if seen else NOTHING,
        scale=_scale(drawn),
        least=True,
    )


def _time(seen: Compared, number: int, kind: str) -> Strip:
    blocks = seen.kinds(number)[kind]
    low, high = blocks.quartiles
    return Strip(
        name=seen.name(number),
        detail=seen.size(number),
        group=kind,
        dots=[1000 * seconds for seconds in blocks.sample.values()],
        rounds=list(blocks.sample),
        low=1000 * low,
        middle=1000 * blocks.median,
        high=1000 * high,
        end=compare_times.end(blocks),
        said=compare_times.said(seen, number, kind),
    )


def ratios(model: ModelState, state: ProfilingState) -> Content:
    """Each row over the baseline, round by round."""
    seen = compared(model, state)
    drawn = [
        Strip(
            name=seen.name(one.number),
            detail="",
            group=one.kind,
            dots=list(one.rounds.values()),
            rounds=list(one.rounds),
            low=one.beside.interval.low,
            middle=one.beside.interval.middle,
            high=one.beside.interval.high,
            end=one.end,
            said=f"{seen.name(one.number)}, {one.kind}, over row {seen.baseline}:\n{one.said}",
        )
        for one in (compare_ratios.ratios(seen) if seen else ())
        if seen
    ]
    return strips.content(
        drawn,
        _groups(drawn),
        axis=f"times as long as row {seen.baseline}" if seen else "",
        unit="",
        about=compare_ratios.sentence(seen) if seen else NOTHING,
        scale=_scale(drawn),
        line=(f"row {seen.baseline}", 1.0) if seen else None,
    )


def _groups(drawn: Sequence[Strip]) -> dict[str, Group]:
    return {name: group for name, group in KINDS.items() if any(strip.group == name for strip in drawn)}


def _scale(drawn: Sequence[Strip]) -> Literal["linear", "log10"]:
    """By powers of ten where the largest is more than 5 times the smallest."""
    dots = [dot for strip in drawn for dot in strip.dots if dot > 0]
    return "log10" if dots and max(dots) > 5 * min(dots) else "linear"


def parameters(model: ModelState, state: ProfilingState) -> Content:
    """Parameters beside time; beside operations, until there is a time."""
    seen = compared(model, state)
    return lines.content(
        [_chart(seen)] if seen and compare_parameters.shown(seen) else [],
        about=compare_parameters.sentence(seen) if seen else NOTHING,
    )


def _point(seen: Compared, number: int) -> str:
    load = seen.report is not None and seen.rows[number - 1].forward.under_load
    return f"{seen.name(number)}{', under load' * load}"


def _chart(seen: Compared) -> Chart:
    """A point per row; of many rows, a cloud per target."""
    targets = list(dict.fromkeys(row.target for row in seen.plan.rows))
    points: dict[str, list[int]] = defaultdict(list)
    for number in compare_parameters.shown(seen):
        name = _point(seen, number) if len(seen.rows) <= NAMED else seen.plan.rows[number - 1].target
        points[name].append(number)
    drawn = [
        Line(
            name,
            [analytic.parameters(seen.plan.rows[number - 1]) for number in numbers],
            [compare_parameters.height(seen, number) for number in numbers],
            f"head {targets.index(seen.plan.rows[numbers[0] - 1].target) % COLOURS + 1}",
            "dots",
            str(numbers[0]) if len(seen.rows) <= NAMED else "",
        )
        for name, numbers in points.items()
    ]
    y = "MFLOP of a forward pass" if seen.report is None else "ms of a forward pass, median"
    steep = compare_parameters.by_powers(seen)
    scale: Literal["linear", "log10"] = "log10" if steep else "linear"
    return Chart("parameters", y, drawn, x_scale="log10", y_scale=scale, reach=() if steep else (0,))
