"""Answers to the questions of the view "compare": from what was measured, or else by formula, and they say which."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from tfm_core.profiling import Row, costs
from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.comparison import FORWARD, Comparison, listed_rows
from tfm_ui.lenses.profiling.pace import Pace, Ratio
from tfm_ui.lenses.profiling.plan import why_no_row
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

NO_TIME = "Nothing is measured yet, so this is by formula"
MEASURED = "Measured"


def same_parameters(model: ModelState, state: ProfilingState) -> str:
    """What the time of rows with equally many parameters follows."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return why_no_row(model, state)
    alike = _alike(comparison)
    if len(alike) < 2:
        return "No two of these rows have equally many parameters: write one configuration at two lengths."
    cheap, dear = _ends(comparison, alike)
    count = formats.count(comparison.parameters(cheap))
    operations = comparison.flops(dear) / comparison.flops(cheap)
    same = f"{listed_rows(alike).capitalize()} have the same {count} parameters"
    beside = f"row {dear} needs {_many(operations, 'operations')} row {cheap}"
    if not comparison.measured:
        return f"{NO_TIME}: {same}, but {beside}. Press Measure to see whether the time follows them."
    ratio = _time(comparison, dear, cheap)
    words = f"{MEASURED}: {same}; {ratio.in_words(f'row {dear}', f'row {cheap}')}. By formula {beside}."
    if not ratio.differs:
        return words
    nearer = abs(ratio.interval.middle - operations) < abs(ratio.interval.middle - 1)
    return f"{words} {'So the time is nearer to the operations than to the parameters.' if nearer else NO_RULE}"


NO_RULE = "So here the time follows the operations no better than the parameters."


def growth_of_cost(model: ModelState, state: ProfilingState) -> float:
    """The dearest of the rows with equally many parameters over the cheapest: in time, or else in operations."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return 0
    cheap, dear = _ends(comparison, _alike(comparison))
    if comparison.measured:
        return round(_time(comparison, dear, cheap).interval.middle, 2)
    return round(_cost(comparison, dear) / _cost(comparison, cheap), 2)


def price_of_weights(model: ModelState, state: ProfilingState) -> str:
    """What each target needs at the peak, and whether times of the same configuration can be told apart."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return why_no_row(model, state)
    rows = [n for n in comparison.numbers if _row(comparison, n).size == _row(comparison, 1).size]
    if len(rows) < 2:
        return "There is only one target on screen: choose a second one beside “Configurations”."
    setup = comparison.plan.setup
    rows_of = {n: _row(comparison, n) for n in rows}
    peaks = [f"{row.target} {units.bytes_of(costs.peak_memory(row, setup))}" for row in rows_of.values()]
    said = f"By formula, a forward pass of the same configuration needs at its peak: {'; '.join(peaks)}."
    timed = [n for n in rows if n in comparison.measured]
    if len(timed) < 2:
        return f"{said} Whether their times differ, only a measurement can tell."
    fast, slow = _ends(comparison, timed)
    ratio = _time(comparison, slow, fast)
    names = [f"row {number} ({rows_of[number].target})" for number in (slow, fast)]
    ends = ", the slowest beside the fastest" if ratio.differs else ", those whose medians lie furthest apart"
    return f"{said} {MEASURED}{ends}: {ratio.in_words(*names)}."


def growth_with_length(model: ModelState, state: ProfilingState) -> str:
    """How much each target's cost grows from the shortest to the longest length."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return why_no_row(model, state)
    grown, length = _grown(comparison)
    if not grown:
        return "Each target stands here at one length only: write one configuration at two lengths."
    what = "times grow" if comparison.measured else "operations grow"
    more = [name for name, (factor, low) in grown.items() if low > length and factor > 1.05 * length]
    each = formats.listed([f"{name} {units.times(factor)}" for name, (factor, _) in grown.items()])
    who = (
        f"{'Only ' if len(more) < len(grown) else ''}{formats.listed(more)} {_grow(more)} faster than the length"
        if more
        else "None grows clearly faster than the length"
    )
    first = MEASURED if comparison.measured else NO_TIME
    return f"{first}: with {units.times(length)} the tokens, the {what}: {each}. {who}."


def parameters_and_time(model: ModelState, state: ProfilingState) -> str:
    """Whether the cost grows as much as the parameters."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return why_no_row(model, state)
    rows = ParametersAndCost(comparison).rows or list(comparison.numbers)
    few, many = min(rows, key=comparison.parameters), max(rows, key=comparison.parameters)
    more = comparison.parameters(many) / comparison.parameters(few)
    if more == 1:
        return "All these rows have equally many parameters."
    cost, low, high = _growth(comparison, few, many)
    told = f"from row {few} to row {many} the parameters grow {units.times(more)}"
    what = "the time" if comparison.measured else "the operations"
    how = "about as much" if abs(cost / more - 1) < units.NEAR else "more" if cost > more else "less"
    verdict = f"So {what} grow{_s(what)} {how}."
    if low <= more <= high and low < high:
        verdict = "These rounds cannot show a difference between the two."
    return f"{_first(comparison)}: {told}, {what} {units.times(cost)}. {verdict}"


def the_same_twice(model: ModelState, state: ProfilingState) -> str:
    """How far apart two rows of one configuration are."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return why_no_row(model, state)
    if len(comparison.rows) < 2 or _row(comparison, 1) != _row(comparison, 2):
        return "Rows 1 and 2 are not the same configuration here, so a difference between them means something."
    if not {1, 2} <= set(comparison.measured):
        return "Both rows do the same, so only a measurement can tell how far apart chance puts them: press Measure."
    ratio = _time(comparison, 2, 1)
    apart, low, high = ratio.interval.middle - 1, ratio.interval.low, ratio.interval.high
    about = f"the median of their ratios is {formats.percent(abs(apart))} away from 1" if apart else "their ratio is 1"
    interval = f", with an interval from {low:.3f} to {high:.3f}" if low == low and high == high else ""
    verdict = (
        "It does not contain 1, although nothing differs but chance: an interval at 95% errs one time in twenty."
        if ratio.differs
        else "No difference can be told, and there is none."
    )
    return f"{MEASURED}: {about}{interval}. {verdict}"


def _alike(comparison: Comparison) -> list[int]:
    """The rows of the largest group with equally many parameters; only those with a time, if any has one."""
    rows = ParametersAndCost(comparison).rows or list(comparison.numbers)
    counts = [comparison.parameters(row) for row in rows]
    return max(([row for row, at in zip(rows, counts, strict=True) if at == count] for count in counts), key=len)


def _growth(comparison: Comparison, few: int, many: int) -> tuple[float, float, float]:
    """A row's cost over another's, and the interval that holds it; of operations, which are exact, without width."""
    if not comparison.measured:
        exact = _cost(comparison, many) / _cost(comparison, few)
        return exact, exact, exact
    interval = _time(comparison, many, few).interval
    unknown = interval.low != interval.low  # too few rounds: anything may be
    return interval.middle, 0 if unknown else interval.low, math.inf if unknown else interval.high


def _grown(comparison: Comparison) -> tuple[dict[str, tuple[float, float]], float]:
    """Target -> its cost at the longest length over that at the shortest, and the low end of its interval.

    Both rows have equal sizes otherwise. The second value is the lengths' factor.
    """
    rows = ParametersAndCost(comparison).rows or list(comparison.numbers)
    spans: dict[str, tuple[float, tuple[float, float]]] = {}  # target -> the factor of its lengths, and of its cost
    for start, end in product(rows, rows):
        short, long = _row(comparison, start), _row(comparison, end)
        if replace(short, size=replace(short.size, seq_len=long.size.seq_len)) == long:
            factor = long.size.seq_len / short.size.seq_len
            if factor > max(1, spans.get(long.target, (1, (1, 1)))[0]):
                grown, low, _ = _growth(comparison, start, end)
                spans[long.target] = factor, (grown, low)
    length = max((factor for factor, _ in spans.values()), default=1.0)
    return {target: grown for target, (factor, grown) in spans.items() if factor == length}, length


def _ends(comparison: Comparison, rows: Sequence[int]) -> tuple[int, int]:
    """The cheapest and the dearest of these rows."""
    return min(rows, key=lambda row: _cost(comparison, row)), max(rows, key=lambda row: _cost(comparison, row))


def _cost(comparison: Comparison, row: int) -> float:
    """Seconds of a forward pass, if any row has a time; else its operations."""
    return comparison.rows[row - 1].forward.median if comparison.measured else comparison.flops(row)


def _time(comparison: Comparison, this: int, other: int) -> Ratio:
    of = [Pace(comparison.kinds(number)[FORWARD]) for number in (this, other)]
    return of[0].over(of[1])


def _row(comparison: Comparison, number: int) -> Row:
    return comparison.plan.rows[number - 1]


def _first(comparison: Comparison) -> str:
    return MEASURED if comparison.measured else NO_TIME


def _many(factor: float, what: str) -> str:
    return units.beside(factor, f"many {what}", f"more {what}", f"fewer {what}")


def _grow(names: Sequence[str]) -> str:
    return "grows" if len(names) == 1 else "grow"


def _s(what: str) -> str:
    return "" if what.endswith("operations") else "s"
