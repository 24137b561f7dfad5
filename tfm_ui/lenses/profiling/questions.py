"""Questions of the Profiling lens, in the order of its views; answers from what was measured, or else by formula.

tests/tfm_ui/lenses/profiling/test_questions_profiling.py computes what they take for granted, and tests the answers.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from itertools import product
from typing import TypeVar

from tfm_core.profiling import Row, costs
from tfm_ui.lenses.profiling.compare import Parameters, many
from tfm_ui.lenses.profiling.length import LengthTime
from tfm_ui.lenses.profiling.length_costs import ALLOCATED, PRODUCTS, SOFTMAX, LengthMemory, LengthParts
from tfm_ui.lenses.profiling.parts import PartsTime, largest, largest_share
from tfm_ui.lenses.profiling.rates import operations_per_byte
from tfm_ui.lenses.profiling.roofline import Roofline
from tfm_ui.lenses.profiling.rows import FORWARD, ProfilingPanel, listed_rows
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

NO_TIME = "Nothing is measured yet, so this is by formula"
MEASURED = "Measured"
NO_RULE = "So here the time follows the operations no better than the parameters."
NAMED_PARTS = ("feed-forward", "projections", "norms", "embedding", "another part")

P = TypeVar("P", bound=ProfilingPanel)
R = TypeVar("R")
Answer = Callable[[ModelState, ProfilingState], R]


def answer_of(panel: type[P]) -> Callable[[Callable[[P], str]], Answer[str]]:
    """An answer that is told of this panel's numbers; where there are no rows, why not."""

    def told(answer: Callable[[P], str]) -> Answer[str]:
        @wraps(answer)
        def of_states(model: ModelState, state: ProfilingState) -> str:
            numbers = panel(model, state)
            return answer(numbers) if numbers.asked else numbers.why_nothing

        return of_states

    return told


# compare


@answer_of(Parameters)
def same_parameters(rows: Parameters) -> str:
    """What the time of rows with equally many parameters follows."""
    if len(rows.alike) < 2:
        return "No two of these rows have equally many parameters: write one configuration at two lengths."
    cheap, dear = rows.ends(rows.alike)
    operations = rows.flops_of(dear) / rows.flops_of(cheap)
    count = formats.count(rows.parameters_of(cheap))
    same = f"{listed_rows(rows.alike).capitalize()} have the same {count} parameters"
    beside = f"row {dear} needs {many(operations, 'operations')} row {cheap}"
    if not rows.measured:
        return f"{NO_TIME}: {same}, but {beside}. Press Measure to see whether the time follows them."
    ratio = rows.ratio(dear, cheap)
    words = f"{MEASURED}: {same}; {ratio.in_words(f'row {dear}', f'row {cheap}')}. By formula {beside}."
    if not ratio.differs:
        return words
    nearer = abs(ratio.interval.middle - operations) < abs(ratio.interval.middle - 1)
    return f"{words} {'So the time is nearer to the operations than to the parameters.' if nearer else NO_RULE}"


def growth_of_cost(model: ModelState, state: ProfilingState) -> float:
    """The dearest of the rows with equally many parameters over the cheapest: in time, or else in operations."""
    rows = Parameters(model, state)
    if not rows.asked:
        return 0
    cheap, dear = rows.ends(rows.alike)
    return round(_growth(rows, cheap, dear)[0], 2)


@answer_of(Parameters)
def price_of_weights(rows: Parameters) -> str:
    """What each target needs at the peak, and whether times of the same configuration can be told apart."""
    same_size = {n: row for n, row in enumerate(rows.plan.rows, 1) if row.size == rows.plan.rows[0].size}
    if len(same_size) < 2:
        return "There is only one target on screen: choose a second one beside “Configurations”."
    setup = rows.plan.setup
    peaks = [f"{row.target} {units.bytes_of(costs.peak_memory(row, setup))}" for row in same_size.values()]
    by_formula = f"By formula, a forward pass of the same configuration needs at its peak: {'; '.join(peaks)}."
    timed = [n for n in same_size if n in rows.measured]
    if len(timed) < 2:
        return f"{by_formula} Whether their times differ, only a measurement can tell."
    fast, slow = rows.ends(timed)
    ratio = rows.ratio(slow, fast)
    names = [f"row {number} ({same_size[number].target})" for number in (slow, fast)]
    ends = ", the slowest beside the fastest" if ratio.differs else ", those whose medians lie furthest apart"
    return f"{by_formula} {MEASURED}{ends}: {ratio.in_words(*names)}."


@answer_of(Parameters)
def growth_with_length(rows: Parameters) -> str:
    """How much each target's cost grows from the shortest to the longest length."""
    grown, length = _grown(rows)
    if not grown:
        return "Each target stands here at one length only: write one configuration at two lengths."
    first, what = (MEASURED, "times grow") if rows.measured else (NO_TIME, "operations grow")
    more = [name for name, (factor, low) in grown.items() if low > length and factor > 1.05 * length]
    each = formats.listed([f"{name} {units.times(factor)}" for name, (factor, _) in grown.items()])
    grow = "grows" if len(more) == 1 else "grow"
    who = (
        f"{'Only ' if len(more) < len(grown) else ''}{formats.listed(more)} {grow} faster than the length"
        if more
        else "None grows clearly faster than the length"
    )
    return f"{first}: with {units.times(length)} the tokens, the {what}: {each}. {who}."


@answer_of(Parameters)
def parameters_and_time(rows: Parameters) -> str:
    """Whether the cost grows as much as the parameters."""
    compared = rows.measured or list(rows.numbers)
    few, most = min(compared, key=rows.parameters_of), max(compared, key=rows.parameters_of)
    more = rows.parameters_of(most) / rows.parameters_of(few)
    if more == 1:
        return "All these rows have equally many parameters."
    cost, low, high = _growth(rows, few, most)
    told = f"from row {few} to row {most} the parameters grow {units.times(more)}"
    first, what, grow = (MEASURED, "the time", "grows") if rows.measured else (NO_TIME, "the operations", "grow")
    how = "about as much" if abs(cost / more - 1) < units.NEAR else "more" if cost > more else "less"
    verdict = f"So {what} {grow} {how}."
    if low <= more <= high and low < high:
        verdict = "These rounds cannot show a difference between the two."
    return f"{first}: {told}, {what} {units.times(cost)}. {verdict}"


@answer_of(Parameters)
def the_same_twice(rows: Parameters) -> str:
    """How far apart two rows of one configuration are."""
    if len(rows.rows) < 2 or rows.plan.rows[0] != rows.plan.rows[1]:
        return "Rows 1 and 2 are not the same configuration here, so a difference between them means something."
    if not {1, 2} <= set(rows.measured):
        return "Both rows do the same, so only a measurement can tell how far apart chance puts them: press Measure."
    ratio = rows.ratio(2, 1)
    apart, low, high = ratio.interval.middle - 1, ratio.interval.low, ratio.interval.high
    about = f"the median of their ratios is {formats.percent(abs(apart))} away from 1" if apart else "their ratio is 1"
    interval = f", with an interval from {low:.3f} to {high:.3f}" if low == low and high == high else ""
    verdict = (
        "It does not contain 1, although nothing differs but chance: an interval at 95% errs one time in twenty."
        if ratio.differs
        else "No difference can be told, and there is none."
    )
    return f"{MEASURED}: {about}{interval}. {verdict}"


def _growth(rows: Parameters, start: int, end: int) -> tuple[float, float, float]:
    """A row's cost over another's, and the interval that holds it; of operations, which are exact, without width."""
    if not rows.measured:
        exact = rows.flops_of(end) / rows.flops_of(start)
        return exact, exact, exact
    interval = rows.ratio(end, start).interval
    unknown = interval.low != interval.low  # too few rounds: anything may be
    return interval.middle, 0 if unknown else interval.low, math.inf if unknown else interval.high


def _grown(rows: Parameters) -> tuple[dict[str, tuple[float, float]], float]:
    """Target -> its cost at the longest length over that at the shortest, and the low end of its interval.

    Both rows have equal sizes otherwise. The second value is the lengths' factor.
    """
    compared = rows.measured or list(rows.numbers)
    spans: dict[str, tuple[float, tuple[float, float]]] = {}  # target -> the factor of its lengths, and of its cost
    for start, end in product(compared, compared):
        short, long = (rows.plan.rows[number - 1] for number in (start, end))
        if replace(short, size=replace(short.size, seq_len=long.size.seq_len)) == long:
            factor = long.size.seq_len / short.size.seq_len
            if factor > max(1, spans.get(long.target, (1, (1, 1)))[0]):
                grown, low, _ = _growth(rows, start, end)
                spans[long.target] = factor, (grown, low)
    length = max((factor for factor, _ in spans.values()), default=1.0)
    return {target: grown for target, (factor, grown) in spans.items() if factor == length}, length


# length


@answer_of(LengthTime)
def four_times_the_length(times: LengthTime) -> str:
    """How operations and time grow over the last step of the lengths by four."""
    first, last = times.step
    if first == last:
        return "There is only one length on screen: choose a longer end."
    growth, operations = last / first, units.times(times.flops_over(last, first))
    tokens = f"{units.times(growth)} the tokens, from {formats.count(first)} to {formats.count(last)},"
    if not times.measured:
        return f"Nothing is measured yet. By formula, {tokens} take {operations} the operations of a forward pass."
    words = f"By formula, {tokens} take {operations} the operations. Measured: {times.growth or 'one length alone.'}"
    interval = times.over(last, first).interval
    ends = [end for end in (interval.low, interval.middle, interval.high) if end == end]
    nearest = {min((growth, growth**2), key=lambda power: abs(power - end)) for end in ends}
    if len(nearest) > 1 or len(ends) < 3:
        both = f"{units.times(growth)} or to {units.times(growth**2)}"
        return f"{words} These rounds cannot show whether that is nearer to {both}."
    (near,) = nearest
    far = growth**2 if near == growth else growth
    return f"{words} That is nearer to {units.times(near)} than to {units.times(far)}."


def growth_of_time(model: ModelState, state: ProfilingState) -> float:
    """The factor of the time over the last step of the lengths by four; of the operations, if nothing is measured."""
    times = LengthTime(model, state)
    if not times.asked:
        return 0
    first, last = times.step
    if times.measured and first != last:
        return round(times.over(last, first).interval.middle, 2)
    return round(times.flops_over(last, first), 2)


@answer_of(LengthTime)
def never_written_down(times: LengthTime) -> str:
    """How memory and time grow from the last length but one to the last; and what all weights would need."""
    if len(times.lengths) < 2:
        return "There is only one length on screen: choose a longer end."
    memory = LengthMemory(times.model, times.state)
    measured = memory.peaks(FORWARD).get(ALLOCATED, [])
    known = len(measured) > 1 and measured[-1] > 0 and measured[-2] > 0
    bytes_at = measured if known else memory.predicted(FORWARD)
    half, whole = times.lengths[-2:]
    many_tokens, few_tokens = (f"{formats.count(length)} tokens" for length in (whole, half))
    grown, how = units.times(bytes_at[-1] / bytes_at[-2]), "as measured" if known else "by formula"
    sentences = [f"From {formats.count(half)} to {many_tokens} the memory grows {grown}{' ' if known else ', '}{how}."]
    if {half, whole} <= set(times.measured_at(FORWARD)):
        sentences.append(f"Measured: {times.over(whole, half).in_words(many_tokens, few_tokens, 'take')}.")
    else:
        operations = units.times(times.flops_over(whole, half))
        sentences.append(f"The time is not measured yet; the operations grow {operations}.")
    if memory.weights:
        all_weights, peak = units.bytes_of(memory.weights[-1]), units.bytes_of(bytes_at[-1])
        sentences.append(f"All weights of all layers at once would take {all_weights}, and the peak is {peak}.")
    return " ".join(sentences)


@answer_of(LengthParts)
def overtaken(parts: LengthParts) -> str:
    """The length from which products take longer than the feed-forward network."""
    if parts.predicted is None:
        return "This target has no products of queries with keys, so there is nothing that could overtake."
    formula = f"By formula the operations are equal at {formats.count(round(parts.predicted))} tokens."
    if not parts.milliseconds:
        return f"{formula} Where the time says so, only a measurement can tell: press Measure."
    if parts.overtaken is None:
        return f"{formula} Among the lengths measured here, no length was found at which their times cross."
    times = f"Measured, the times cross at about {formats.count(round(parts.overtaken))} tokens"
    if both := parts.crossed(PRODUCTS, SOFTMAX):
        times += f", and at about {formats.count(round(both))} with the softmax, which counts no operations"
    return f"{formula} {times}. The clock also counts how long numbers take to come from memory, which FLOPs leave out."


# parts


@answer_of(PartsTime)
def where_most_is(parts: PartsTime) -> str:
    """Which part has most parameters, which most operations, and which takes most time."""
    has, does = (largest_share(values, ",") for values in (parts.parameters, parts.flops))
    sentences = [f"Most parameters are in: {has}. Most operations are in: {does}."]
    if parts.seconds:
        sentences.append(f"Measured, most of the time goes to: {largest_share(parts.seconds, ',')}.")
    free = [name for name in parts.names if parts.flops.get(name) and not parts.parameters.get(name)]
    if free:
        names = formats.listed(free)
        sentences.append(f"Operations without a single parameter: {names}, which work on the tokens alone.")
    elif not parts.seconds:
        sentences.append("The time is not measured yet.")
    return " ".join(sentences)


def largest_part(model: ModelState, state: ProfilingState) -> str:
    """The part with most parameters, as one of `NAMED_PARTS`."""
    parts = PartsTime(model, state)
    part = largest(parts.parameters) if parts.asked else ""
    return part if part in NAMED_PARTS else NAMED_PARTS[-1]


@answer_of(PartsTime)
def free_in_flops(parts: PartsTime) -> str:
    """The share of the time of softmax and norms."""
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


# roofline


@answer_of(Roofline)
def under_one_roof(roofline: Roofline) -> str:
    """Which row comes closer to the roof: that with the fewest operations for each byte, or that with the most."""
    few, most = (pick(roofline.points, key=lambda point: point.intensity) for pick in (min, max))
    fewest = f"By formula row {few.number} does {units.three(few.intensity)} operations for each byte"
    if few.intensity == most.intensity:
        return f"{fewest}, and so does every row."
    both = f"{fewest}, row {most.number} {units.three(most.intensity)}."
    if not (roofline.machine and few in roofline.rated and most in roofline.rated):
        return f"{both} How close they come to the roof is not measured yet."
    shares = [f"row {point.number} reaches {formats.percent(point.share)}" for point in (few, most)]
    roof = "slope, which memory sets" if few.intensity < roofline.ridge else "flat part, which arithmetic sets"
    return f"{both} Measured: {formats.listed(shares)} of its roof. Row {few.number} is below the {roof}."


def fewest_per_byte(model: ModelState, state: ProfilingState) -> float:
    """How many operations for each byte the row with the fewest does."""
    roofline = Roofline(model, state)
    return round(min(point.intensity for point in roofline.points), 1) if roofline.asked else 0


@answer_of(Roofline)
def one_sequence(roofline: Roofline) -> str:
    """How the operations for each byte change with the batch."""
    now = {point.number: point.intensity for point in roofline.points}
    sixteen = {number: _with_batch(row, 16, roofline) for number, row in enumerate(roofline.plan.rows, 1)}
    changed = [n for n in now if abs(sixteen[n] / now[n] - 1) >= 0.01]
    batch = roofline.plan.rows[0].size.batch
    if not changed:
        return f"By formula a batch of 16 does as many operations for each byte as the batch of {batch} on screen."
    row = max(changed, key=lambda n: abs(sixteen[n] / now[n] - 1))
    return (
        f"By formula it changes most in row {row}: {units.three(now[row])} operations for each byte at batch {batch}, "
        f"{units.three(sixteen[row])} at batch 16. Every weight has to be read once, and the more sequences "
        "share that, the more operations each byte serves."
    )


def _with_batch(row: Row, batch: int, roofline: Roofline) -> float:
    """Operations for each byte that must be moved, in a batch of this size."""
    return operations_per_byte(replace(row, size=replace(row.size, batch=batch)), roofline.plan.setup)


QUESTIONS = (
    Question(
        "First look",
        "Rows 2, 4 and 5 have the same parameters, only longer texts. Measure: what does their time follow, if not "
        "parameters?",
        same_parameters,
        Prediction(
            ask="How many times as much does the one of them that costs most cost as the one that costs least?",
            measured=growth_of_cost,
            unit="×",
            hides=("profiling_parameters", "profiling_table"),
        ),
        given=("sizes", "targets"),
    ),
    Question(
        "With or without weights",
        "One model three times: every weight kept, none kept, torch’s fused kernel. What do weights cost in memory, "
        "and can the times be told apart at all?",
        price_of_weights,
        controls={"sizes": "128, 8, 4, 200", "targets": "with weights,without weights,fused"},
        because="the same sizes can be computed in several ways, and only some keep the weights.",
    ),
    Question(
        "Not only transformers",
        "As many parameters each, at 50 tokens and at 200. Whose time grows 4 times with 4 times the tokens, and whose "
        "more?",
        growth_with_length,
        controls={"sizes": "128, 8, 4, 50\n128, 8, 4, 200", "targets": "with weights,LSTM,GRU,convolution"},
        because="with equal parameters, other kinds of network may grow differently with length.",
    ),
    Question(
        "A textbook’s sizes",
        "A textbook’s three sizes have 163,968, 921,088 and 4,994,560 parameters. From row to row, does the time grow "
        "as much as they do?",
        parameters_and_time,
        model={"norm": "post", "activation": "relu", "causal": False},
        controls={
            "sizes": "64, 4, 2, 50\n128, 8, 4, 50\n256, 8, 6, 50",
            "count_embedding": True,
            "vocabulary": 1000,
        },
        given=("targets", "d_ff", "positional", "architecture"),
        because="length and kind were varied so far, and now it is the number of parameters.",
    ),
    Question(
        "The same twice",
        "One configuration as two rows. How far apart are their medians, and what does the interval of their ratio "
        "say?",
        the_same_twice,
        controls={"sizes": "128, 8, 4, 50\n128, 8, 4, 50"},
        given=("targets",),
        because="a difference counts only if it is larger than that between equal runs.",
    ),
    Question(
        "Where most of it is",
        "Which part of this model has most parameters, and which has operations without a single parameter? Predict, "
        "then compare the charts.",
        where_most_is,
        Prediction(
            ask="Which part has most parameters?",
            measured=largest_part,
            options=NAMED_PARTS,
            hides=("profiling_parts_parameters",),
        ),
        controls={"view": "parts"},
        because="a total hides which part of the model costs what.",
    ),
    Question(
        "Free in FLOPs",
        "Softmax and norms count no FLOPs at all. Which share of the time do they take at 200 tokens?",
        free_in_flops,
        controls={"view": "parts", "row": 5},
        given=("sizes", "targets"),
        because="counts of parameters and operations leave out parts that take time all the same.",
    ),
    Question(
        "Under one roof",
        "Row 5 does the fewest operations for each byte that it must move, row 3 the most. "
        "Which of them comes closer to what this machine can do?",
        under_one_roof,
        Prediction(
            ask="How many operations does the row with the fewest do for each byte?",
            measured=fewest_per_byte,
            hides=("profiling_roofline",),
        ),
        controls={"view": "roofline"},
        given=("sizes", "targets", "batch", "d_ff", "norm", "activation", "architecture"),
        because="time depends not only on operations, but also on the bytes that are moved.",
    ),
    Question(
        "One sequence",
        "With batch 1 each weight that is read serves one sequence, with batch 16 sixteen of them. Which row’s "
        "operations for each byte change most?",
        one_sequence,
        controls={"view": "roofline", "batch": 1},
        given=("sizes",),
        because="how many sequences share a weight that is read decides how often bytes are moved.",
    ),
    Question(
        "Four times the length",
        "Four times the tokens need 16 times the FLOPs of products with scores, and 4 times those of all else. What is "
        "it in time: nearer 4, or nearer 16?",
        four_times_the_length,
        Prediction(
            ask="With 4 times the tokens at the end, how many times the cost?",
            measured=growth_of_time,
            unit="×",
        ),
        controls={"view": "length"},
        because="the length changes which part of the cost prevails, so follow it alone.",
    ),
    Question(
        "Never written down",
        "A fused kernel never holds all n² weights at once. By how much does its memory grow with twice the length, "
        "and by how much its time?",
        never_written_down,
        controls={"view": "length", "target": "fused"},
        because="the n² weights need not all be in memory, and a fused kernel does without.",
    ),
    Question(
        "Overtaken",
        "From 257 tokens on, products with scores have more FLOPs than this feed-forward network. At which length "
        "does the clock say so?",
        overtaken,
        model={"d_model": 64, "d_ff": 256},
        controls={"view": "length", "longest": 1024},
        moves=("longest",),
        given=("target",),
        because="at some length the scores overtake the other parts, and the clock may disagree.",
    ),
)
