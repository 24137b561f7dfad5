"""Answers to the questions of the Profiling lens: from what was measured, or by formula if nothing was."""

from collections.abc import Callable

from tfm_core.profiling import costs
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.table import CostTable
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.length.memory import MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength
from tfm_ui.lenses.profiling.parts.costs_by_part import PartFlops, PartParameters, PartTimes
from tfm_ui.lenses.profiling.plan import NO_CONFIGURATION
from tfm_ui.lenses.profiling.roofline.roofline import Roofline
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

Answer = Callable[[ModelState, ProfilingState], str]


def _of(view: str, *parts: Callable[[Comparison], str], then: str = "") -> Answer:
    """An answer from what these say of a view's rows, in this order, with `then` behind it."""

    def answer(model: ModelState, state: ProfilingState) -> str:
        comparison = comparison_of(model, state, view)
        if comparison is None:
            return NO_CONFIGURATION
        return " ".join(filter(None, [*(part(comparison) for part in parts), then]))

    return answer


def _flops_by_row(comparison: Comparison) -> str:
    """The most FLOPs of a row, over the fewest, and the same of the parameters."""
    rows = comparison.plan.rows
    flops = [sum(costs.flops(row).values()) for row in rows]
    counts = [sum(costs.parameters(row).values()) for row in rows]
    most, least = flops.index(max(flops)), flops.index(min(flops))
    if most == least:
        return "All rows have the same number of FLOPs."
    return (
        f"Row {most + 1} has the most FLOPs of a forward pass, {flops[most] / flops[least]:.3g} times those of row "
        f"{least + 1}, with {counts[most] / counts[least]:.3g} times its parameters. Every token passes through all "
        "parameters, so FLOPs grow with the parameters and with the number of tokens."
    )


costs_of_rows = _of("compare", _flops_by_row, lambda comparison: CostTable(comparison).sentence())
ratios = _of("compare", lambda comparison: Ratios(comparison).sentence())
same_twice = _of(
    "compare",
    lambda comparison: Ratios(comparison).sentence(),
    then="An interval that holds 1 says that no difference can be told.",
)
time_by_length = _of("length", lambda comparison: TimeByLength(comparison).sentence())
memory_by_length = _of("length", lambda comparison: MemoryByLength(comparison).sentence())
parts_by_length = _of("length", lambda comparison: PartsByLength(comparison).sentence())
where_parameters_are = _of(
    "parts",
    lambda comparison: PartParameters(comparison).sentence(),
    lambda comparison: PartFlops(comparison).sentence(),
)
where_time_goes = _of(
    "parts",
    lambda comparison: PartTimes(comparison).sentence(),
    then="A softmax or a norm counts no FLOPs, but its numbers must be read and written all the same.",
)
under_the_roof = _of("roofline", lambda comparison: Roofline(comparison).sentence())


def intensity(model: ModelState, state: ProfilingState) -> str:
    """Which rows are limited by memory: the FLOPs for each byte, by formula."""
    comparison = comparison_of(model, state, "roofline")
    if comparison is None:
        return NO_CONFIGURATION
    each = [
        sum(costs.flops(row).values()) / costs.bytes_moved(row, comparison.plan.setup) for row in comparison.plan.rows
    ]
    most, least = each.index(max(each)), each.index(min(each))
    return (
        f"Row {most + 1} does the most operations for each byte, {each[most]:.3g}; row {least + 1} the fewest, "
        f"{each[least]:.3g}. The fewer they are, the sooner memory is the limit: wide matrices use each number that "
        "they read many times."
    )


def flops_ratio(model: ModelState, state: ProfilingState) -> float:
    """How many times the fewest FLOPs of a row the most are."""
    comparison = comparison_of(model, state, "compare")
    flops = [sum(costs.flops(row).values()) for row in comparison.plan.rows] if comparison else [1]
    return round(max(flops) / min(flops), 2)


def share_of_attention(model: ModelState, state: ProfilingState) -> float:
    """The share of the chosen row's FLOPs in products with scores, in percent."""
    comparison = comparison_of(model, state, "parts")
    if comparison is None:
        return 0.0
    flops = PartFlops(comparison).flops
    return round(100 * flops.get("products", 0) / (sum(flops.values()) or 1), 1)
