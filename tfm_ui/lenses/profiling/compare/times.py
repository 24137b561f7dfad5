"""Every round of every row, and which row takes how long."""

import pandas as pd

from tfm_core.profiling import Blocks
from tfm_ui.lenses.profiling.beside import Pace, alike, beside
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, TRAINING, Compared, listed_rows
from tfm_ui.text import look
from tfm_ui.text.units import span, took


def end(blocks: Blocks) -> str:
    """The median in words, or why there is none."""
    if not blocks.sample:
        return "too few rounds" if blocks.every else "not measured"
    return f"{took(blocks.median)}, under load" if blocks.under_load else took(blocks.median)


def said(seen: Compared, number: int, kind: str) -> str:
    """All that was measured of a row, counted from 1, in words."""
    about = _said(seen.kinds(number)[kind]) or seen.reason(number, kind).removeprefix(f"{TRAINING}: ")
    return f"{seen.name(number)}, {kind}:\n{about}"


def _said(blocks: Blocks) -> str:
    if not blocks.sample:
        return ""
    low, high = blocks.quartiles
    contended = f"; {look.plural(blocks.contended, 'contended block')} left out" if blocks.contended else ""
    if blocks.under_load:
        contended = f"; measured under load, {look.plural(len(blocks.clean), 'round')} clean"
    return (
        f"median {took(blocks.median)}, middle half {took(low)} to {took(high)}, minimum {took(blocks.minimum)}, "
        f"{look.plural(len(blocks.sample), 'round')}{contended}"
    )


def sentence(seen: Compared) -> str:
    """Which rows are the slowest and which the fastest, and what backward adds."""
    if seen.report is None:
        return "Nothing is measured yet: press Measure."
    said = [_extremes(seen), _backward(seen), _missing(seen), seen.under_load(*seen.kinds(1))]
    return " ".join(part for part in said if part)


def _extremes(seen: Compared) -> str:
    """Of the forward passes; where none has a figure, of forward + backward."""
    if seen.measured:
        return _between(seen, FORWARD, "forward pass")
    both = seen.plan.setup.backward and seen.timed(TRAINING)
    return f"{seen.nothing} {_between(seen, TRAINING, 'forward + backward pass')}" if both else seen.nothing


def _between(seen: Compared, kind: str, what: str) -> str:
    of = {number: Pace(seen.kinds(number)[kind]) for number in seen.timed(kind)}
    medians = {number: pace.blocks.median for number, pace in of.items()}
    slow, fast = max(medians, key=medians.__getitem__), min(medians, key=medians.__getitem__)
    if slow == fast:
        return f"A {what} of row {slow} takes {took(medians[slow])}, the median of its rounds."
    apart = beside(of[slow], of[fast])
    words = apart.of(f"row {slow}", f"row {fast}")
    if not apart.differs:
        return f"A {what} takes {span(took(medians[fast]), took(medians[slow]))}; {words}."

    def ends(which: str, number: int) -> str:
        rows = alike(number, of)
        took_them = span(*(took(pick(medians[row] for row in rows)) for pick in (min, max)))
        return f"{which} {listed_rows(rows)} ({took_them}{', not told apart' * (len(rows) > 1)})"

    return f"{what.capitalize()}es: {ends('fastest', fast)}, {ends('slowest', slow)}; {words}."


def _backward(seen: Compared) -> str:
    if not seen.plan.setup.backward:
        return ""
    ratios = [beside(Pace(one.training), Pace(one.forward)) for one in seen.rows if one.training]
    factors = [one.interval.middle for one in ratios if one.differs]
    if not factors:
        return ""
    many = span(f"{min(factors):.1f}", f"{max(factors):.1f}")
    return f"{TRAINING.capitalize()} takes {many} times as long as {FORWARD}."


def _missing(seen: Compared) -> str:
    """Rows that lack a figure; nothing more where none has a forward time, as that is said already."""
    numbers = range(1, len(seen.rows) + 1)
    lacking = {kind: [number for number in numbers if seen.reason(number, kind)] for kind in seen.kinds(1)}
    found = {kind: rows for kind, rows in lacking.items() if rows and (seen.measured or 0 < len(rows) < len(numbers))}
    if not found:
        return ""
    if len({tuple(rows) for rows in lacking.values()}) == 1:
        return f"Without a figure: {listed_rows(lacking[FORWARD])}; the table says why."
    each = [f"without a figure for {kind}: {listed_rows(rows)}" for kind, rows in found.items()]
    return f"{'; '.join(each)}; the table says why.".capitalize()


def table(seen: Compared) -> pd.DataFrame:
    """A line per block, contended ones too."""
    found = pd.DataFrame(
        [
            (number, seen.plan.rows[number - 1].target, seen.size(number), kind, which + 1, 1000 * seconds, contended)
            for number in range(1, len(seen.rows) + 1)
            for kind, blocks in seen.kinds(number).items()
            for which, seconds, contended in _blocks(blocks)
        ],
        columns=["row", "target", "d_model, heads, layers, length", "what", "round", "ms per call", "contended"],
    )
    return seen.stamped(found.set_index("row"))


def _blocks(blocks: Blocks) -> list[tuple[int, float, bool]]:
    """Round, seconds, and whether it was contended; by round."""
    clean = [(number, seconds, False) for number, seconds in zip(blocks.rounds, blocks.seconds, strict=True)]
    loaded = zip(blocks.loaded_rounds, blocks.loaded, strict=True)
    return sorted([*clean, *((number, seconds, True) for number, seconds in loaded)])
