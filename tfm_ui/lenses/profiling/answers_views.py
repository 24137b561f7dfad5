"""Answers to the questions of the views "length", "parts" and "roofline": measured, or else by formula."""

from collections.abc import Mapping
from dataclasses import replace

from tfm_core.profiling import costs
from tfm_ui.lenses.profiling.comparison import FORWARD, Comparison
from tfm_ui.lenses.profiling.length.memory import ALLOCATED, MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PRODUCTS, SOFTMAX, PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength
from tfm_ui.lenses.profiling.pace import Pace
from tfm_ui.lenses.profiling.parts.costs_by_part import PartTimes
from tfm_ui.lenses.profiling.plan import why_no_length, why_no_row
from tfm_ui.lenses.profiling.roofline.roofline import Roofline
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

NO_LENGTH = "No length fits into the limits of this server."
NAMED_PARTS = ("feed-forward", "projections", "norms", "embedding", "another part")


def four_times_the_length(model: ModelState, state: ProfilingState) -> str:
    """How operations and time grow over the last step of the lengths by four."""
    comparison = comparison_of(model, state, "length")
    if comparison is None:
        return why_no_length(model, state) or NO_LENGTH
    times = TimeByLength(comparison)
    first, last = _step_by_four(times)
    if first == last:
        return "There is only one length on screen: choose a longer end."
    at = dict(zip(times.lengths, times.flops, strict=True))
    more, operations = units.times(last / first), units.times(at[last] / at[first])
    tokens = f"{more} the tokens, from {formats.count(first)} to {formats.count(last)},"
    if not times.timed(FORWARD):
        return f"Nothing is measured yet. By formula, {tokens} take {operations} the operations of a forward pass."
    blocks = dict(zip(times.lengths, times.blocks[FORWARD], strict=True))
    said = f"By formula, {tokens} take {operations} the operations. Measured: {times.growth or 'one length alone.'}"
    growth = last / first
    interval = Pace(blocks[last]).over(Pace(blocks[first])).interval
    ends = [end for end in (interval.low, interval.middle, interval.high) if end == end]
    nearest = {min((growth, growth**2), key=lambda power: abs(power - end)) for end in ends}
    if len(nearest) > 1 or len(ends) < 3:
        both = f"{units.times(growth)} or to {units.times(growth**2)}"
        return f"{said} These rounds cannot show whether that is nearer to {both}."
    (near,) = nearest
    far = growth**2 if near == growth else growth
    return f"{said} That is nearer to {units.times(near)} than to {units.times(far)}."


def growth_of_time(model: ModelState, state: ProfilingState) -> float:
    """The factor of the time over the last step of the lengths by four; of the operations, if nothing is measured."""
    comparison = comparison_of(model, state, "length")
    if comparison is None:
        return 0
    times = TimeByLength(comparison)
    first, last = _step_by_four(times)
    blocks = dict(zip(times.lengths, times.blocks[FORWARD], strict=True))
    if blocks[first].sample and blocks[last].sample and first != last:
        return round(Pace(blocks[last]).over(Pace(blocks[first])).interval.middle, 2)
    flops = dict(zip(times.lengths, times.flops, strict=True))
    return round(flops[last] / flops[first], 2)


def never_written_down(model: ModelState, state: ProfilingState) -> str:
    """How memory and time grow from the last length but one to the last; and what all weights would need."""
    comparison = comparison_of(model, state, "length")
    if comparison is None:
        return why_no_length(model, state) or NO_LENGTH
    peaks, times = MemoryByLength(comparison), TimeByLength(comparison)
    if len(peaks.lengths) < 2:
        return "There is only one length on screen: choose a longer end."
    measured = peaks.measured(FORWARD).get(ALLOCATED, [])
    known = len(measured) > 1 and measured[-1] > 0 and measured[-2] > 0
    bytes_at = measured if known else peaks.predicted(FORWARD)
    half, whole = peaks.lengths[-2:]
    grown = units.times(bytes_at[-1] / bytes_at[-2])
    said = f"From {formats.count(half)} to {formats.count(whole)} tokens the memory grows {grown}"
    said += " as measured." if known else ", by formula."
    before, after = times.blocks[FORWARD][-2:]
    if before.sample and after.sample:
        ratio = Pace(after).over(Pace(before))
        words = ratio.in_words(f"{formats.count(whole)} tokens", f"{formats.count(half)} tokens", "take")
        said += f" Measured: {words}."
    else:
        operations = units.times(times.flops[-1] / times.flops[-2])
        said += f" The time is not measured yet; the operations grow {operations}."
    if peaks.weights:
        all_weights, peak = units.bytes_of(peaks.weights[-1]), units.bytes_of(bytes_at[-1])
        said += f" All weights of all layers at once would take {all_weights}, and the peak is {peak}."
    return said


def overtaken(model: ModelState, state: ProfilingState) -> str:
    """The length from which products take longer than the feed-forward network."""
    comparison = comparison_of(model, state, "length")
    if comparison is None:
        return why_no_length(model, state) or NO_LENGTH
    parts = PartsByLength(comparison)
    if parts.predicted is None:
        return "This target has no products of queries with keys, so there is nothing that could overtake."
    formula = f"By formula the operations are equal at {formats.count(round(parts.predicted))} tokens."
    if not parts.milliseconds:
        return f"{formula} Where the time says so, only a measurement can tell: press Measure."
    if parts.overtaken is None:
        return f"{formula} Among the lengths measured here, no length was found at which their times cross."
    said = f"{formula} Measured, the times cross at about {formats.count(round(parts.overtaken))} tokens"
    both = parts.crossed(PRODUCTS, SOFTMAX)
    if both:
        said += f", and at about {formats.count(round(both))} with the softmax, which counts no operations"
    return f"{said}. The clock also counts how long numbers take to come from memory, which FLOPs leave out."


def where_most_is(model: ModelState, state: ProfilingState) -> str:
    """Which part has most parameters, which most operations, and which takes most time."""
    comparison = comparison_of(model, state, "parts")
    if comparison is None:
        return why_no_row(model, state)
    parts = PartTimes(comparison)
    has, does = _largest(parts.parameters), _largest(parts.flops)
    said = f"Most parameters are in: {has}. Most operations are in: {does}."
    if parts.seconds:
        said += f" Measured, most of the time goes to: {_largest(parts.seconds)}."
    free = [name for name in parts.names if parts.flops.get(name) and not parts.parameters.get(name)]
    if free:
        said += f" Operations without a single parameter: {formats.listed(free)}, which work on the tokens alone."
    elif not parts.seconds:
        said += " The time is not measured yet."
    return said


def largest_part(model: ModelState, state: ProfilingState) -> str:
    """The part with most parameters, as one of `NAMED_PARTS`."""
    comparison = comparison_of(model, state, "parts")
    if comparison is None:
        return NAMED_PARTS[-1]
    part = max((parts := PartTimes(comparison).parameters), key=parts.__getitem__)
    return part if part in NAMED_PARTS else NAMED_PARTS[-1]


def free_in_flops(model: ModelState, state: ProfilingState) -> str:
    """The share of the time of softmax and norms."""
    comparison = comparison_of(model, state, "parts")
    if comparison is None:
        return why_no_row(model, state)
    parts = PartTimes(comparison)
    if not parts.seconds:
        return "The FLOPs that are counted here leave them out: 0%. Their time is not measured yet: press Measure."
    there = [name for name in ("softmax", "norms") if name in parts.seconds]
    if not there:
        return "In what was measured here, softmax and norms cannot be told apart from the rest."
    total = sum(parts.seconds.values())
    each = [f"{name} {formats.percent(parts.seconds[name] / total)}" for name in there]
    return (
        f"Measured in row {parts.number}: {formats.listed(each)} of the time. The FLOPs "
        "that are counted here leave them out, so a share of FLOPs is no share of time."
    )


def under_one_roof(model: ModelState, state: ProfilingState) -> str:
    """Which row comes closer to the roof: that with the fewest operations for each byte, or that with the most."""
    comparison = comparison_of(model, state, "roofline")
    if comparison is None:
        return why_no_row(model, state)
    roofline = Roofline(comparison)
    few, many = (pick(roofline.points, key=lambda point: point.intensity) for pick in (min, max))
    said = f"By formula row {few.number} does {units.three(few.intensity)} operations for each byte"
    if few.intensity == many.intensity:
        return f"{said}, and so does every row."
    said += f", row {many.number} {units.three(many.intensity)}."
    if not (roofline.machine and few in roofline.rated and many in roofline.rated):
        return f"{said} How close they come to the roof is not measured yet."
    shares = [f"row {point.number} reaches {formats.percent(point.share)}" for point in (few, many)]
    roof = "slope, which memory sets" if few.intensity < roofline.ridge else "flat part, which arithmetic sets"
    return f"{said} Measured: {formats.listed(shares)} of its roof. Row {few.number} is below the {roof}."


def fewest_per_byte(model: ModelState, state: ProfilingState) -> float:
    """How many operations for each byte the row with the fewest does."""
    comparison = comparison_of(model, state, "roofline")
    return round(min(_intensities(comparison).values()), 1) if comparison else 0


def one_sequence(model: ModelState, state: ProfilingState) -> str:
    """How the operations for each byte change with the batch."""
    comparison = comparison_of(model, state, "roofline")
    if comparison is None:
        return why_no_row(model, state)
    now = _intensities(comparison)
    sixteen = _intensities(comparison, batch=16)
    changed = [n for n in now if abs(sixteen[n] / now[n] - 1) >= 0.01]
    batch = comparison.plan.rows[0].size.batch
    if not changed:
        return f"By formula a batch of 16 does as many operations for each byte as the batch of {batch} on screen."
    row = max(changed, key=lambda n: abs(sixteen[n] / now[n] - 1))
    return (
        f"By formula it changes most in row {row}: {units.three(now[row])} operations for each byte at batch {batch}, "
        f"{units.three(sixteen[row])} at batch 16. Every weight has to be read once, and the more sequences "
        "share that, the more operations each byte serves."
    )


def _step_by_four(times: TimeByLength) -> tuple[int, int]:
    """The longest length, of those with a time if there are any, and a quarter of it, or else the shortest."""
    there = times.timed(FORWARD) or times.lengths
    return there[-1] // 4 if there[-1] // 4 in there else there[0], there[-1]


def _intensities(comparison: Comparison, batch: int | None = None) -> Mapping[int, float]:
    """Row -> operations for each byte that must be moved, in a batch of this size."""
    per_byte = {}
    for number, row in enumerate(comparison.plan.rows, 1):
        of = replace(row, size=replace(row.size, batch=batch or row.size.batch))
        per_byte[number] = sum(costs.flops(of).values()) / costs.bytes_moved(of, comparison.plan.setup)
    return per_byte


def _largest(values: Mapping[str, float]) -> str:
    """The part with most, and its share: feed-forward, 66%."""
    most = max(values, key=lambda name: values[name])
    return f"{most}, {formats.percent(values[most] / sum(values.values()))}"
