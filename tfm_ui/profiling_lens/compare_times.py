"""Every clean block of every row, and which row takes how long."""

import pandas as pd

from tfm_core.profiling import Blocks
from tfm_ui.figures import look
from tfm_ui.figures.units import span, times, took
from tfm_ui.profiling_lens.compare import FORWARD, TRAINING, Compared, listed_rows


def end(blocks: Blocks) -> str:
    """The median in words, or why there is none."""
    return took(blocks.median) if blocks.seconds else "no clean block" if blocks.contended else "not measured"


def said(seen: Compared, number: int, kind: str) -> str:
    """All that was measured of a row, counted from 1, in words."""
    about = _said(seen.kinds(number)[kind]) or seen.reason(number, kind).removeprefix(f"{TRAINING}: ")
    return f"{seen.name(number)}, {kind}:\n{about}"


def _said(blocks: Blocks) -> str:
    if not blocks.seconds:
        return ""
    low, high = blocks.quartiles
    thrown = f"; {blocks.contended} contended, thrown away" if blocks.contended else ""
    return (
        f"median {took(blocks.median)}, middle half {took(low)} to {took(high)}, minimum {took(blocks.minimum)}, "
        f"{look.plural(len(blocks.seconds), 'clean block')}{thrown}"
    )


def sentence(seen: Compared) -> str:
    """Which row is the slowest and which the fastest, what backward adds, and what was thrown away."""
    if seen.report is None:
        return "Nothing is measured yet: press Measure."
    said = [_extremes(seen), _backward(seen), _contended(seen), _missing(seen)]
    return " ".join(part for part in said if part)


def _extremes(seen: Compared) -> str:
    """Of the forward passes; where none has a figure, of forward + backward."""
    if seen.measured:
        return _between(seen, FORWARD, "forward pass")
    both = seen.plan.setup.backward and seen.timed(TRAINING)
    return f"{seen.nothing} {_between(seen, TRAINING, 'forward + backward pass')}" if both else seen.nothing


def _between(seen: Compared, kind: str, what: str) -> str:
    of = {number: seen.kinds(number)[kind].median for number in seen.timed(kind)}
    slow, fast = max(of, key=of.__getitem__), min(of, key=of.__getitem__)
    if slow == fast:
        return f"A {what} of row {slow} takes {took(of[slow])}, the median of its clean blocks."
    return (
        f"The fastest {what} is row {fast}’s, {took(of[fast])}; the slowest row {slow}’s, {took(of[slow])}, "
        f"{times(of[slow] / of[fast])} as long."
    )


def _backward(seen: Compared) -> str:
    if not seen.plan.setup.backward:
        return ""
    both = [(one.forward.median, one.training.median) for one in seen.rows if one.training and one.training.seconds]
    factors = [training / forward for forward, training in both if forward > 0]
    if not factors:
        return ""
    many = span(f"{min(factors):.1f}", f"{max(factors):.1f}")
    return f"{TRAINING.capitalize()} takes {many} times as long as {FORWARD}."


def _contended(seen: Compared) -> str:
    assert seen.report is not None
    blocks, contended = seen.report.blocks
    if not contended:
        return f"None of the {look.plural(blocks, 'block')} was contended." if blocks > 1 else ""
    were = "was" if contended == 1 else "were"
    return f"Of {look.plural(blocks, 'block')} {contended} {were} contended and thrown away."


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
    """A line per block."""
    found = pd.DataFrame(
        [
            (number, seen.plan.rows[number - 1].target, seen.size(number), kind, which + 1, 1000 * seconds)
            for number in range(1, len(seen.rows) + 1)
            for kind, blocks in seen.kinds(number).items()
            for which, seconds in zip(blocks.rounds, blocks.seconds, strict=True)
        ],
        columns=["row", "target", "d_model, heads, layers, length", "what", "round", "ms per call"],
    )
    return seen.stamped(found.set_index("row"))
