"""The mask doctor's findings: what is wrong in a mask, what will happen, and how to mend it; and a verdict."""

from collections.abc import Iterable
from dataclasses import replace

from tfm_core.clinic.finding import SEVERITIES, Finding
from tfm_core.clinic.findings_case import Case
from tfm_core.clinic.findings_fixes import fixes
from tfm_core.clinic.findings_pattern import of_pattern
from tfm_core.clinic.findings_values import of_values
from tfm_core.clinic.reading import Reading

EMPTY = "row without a key"  # the topic
COUNTED = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")

NO_MASK = Finding(
    "note",
    "These are token ids, no mask: a mask of padding is made of them.",
    "A key is hidden where its id is that of padding, 0 in the code here.",
    fixes=fixes("mask = mask != 0", meaning="attend", boolean=True, axes="sentences"),
    topic="token ids",
)


def findings(reading: Reading, at: int = 0) -> tuple[Finding, ...]:
    """What is wrong in a table, the worst first, then by place; the code's findings among them.

    Args:
        reading: what was read.
        at: the number of the table, from 0.

    Raises:
        ValueError: where there is no such table.
    """
    if not 0 <= at < len(reading.tables):
        raise ValueError(f"Expected a table from 0 to {len(reading.tables) - 1}; {at} stands there.")
    case = Case.of(reading, at)
    made = [*of_values(case), *of_pattern(case)] if case else []
    if reading.meaning == "token ids":
        made.append(NO_MASK)
    return tuple(sorted(_each_once(reading.findings, made), key=_rank))


def _rank(finding: Finding) -> tuple[int, tuple[int, int]]:
    return SEVERITIES.index(finding.severity), finding.cell or (-1, -1)


def _each_once(of_code: Iterable[Finding], of_table: Iterable[Finding]) -> list[Finding]:
    """The findings of the code and of the table; what both say is said once, with the code's place."""
    of_code = list(of_code)
    table = {finding.topic: finding for finding in of_table}
    if any(finding.severity == "error" and finding.fixes for finding in of_code) and EMPTY in table:
        # To open these rows would hide the fault, not mend it.
        about = f"This follows from the fault in the code, and ends with it. {table[EMPTY].consequence}"
        table[EMPTY] = replace(table[EMPTY], consequence=about, fixes={})
    made = []
    for finding in of_code:
        also = table.pop(finding.topic, None) if finding.topic else None
        if also is not None:
            finding = replace(finding, cell=also.cell, fixes=finding.fixes or also.fixes)
        made.append(finding)
    return [*made, *table.values()]


def verdict(reading: Reading, at: int = 0) -> str:
    """What a table is, and whether anything is wrong in it, in a sentence.

    Raises:
        ValueError: where there is no such table.
    """
    told = findings(reading, at)
    for severity in ("error", "warning"):
        worst = [finding for finding in told if finding.severity == severity]
        if worst:
            number = COUNTED[len(worst)] if len(worst) < len(COUNTED) else str(len(worst))
            titles = "; ".join(_clause(finding.title) for finding in worst)
            return f"{number} {severity}{'s' * (len(worst) > 1)}: {titles}."
    return f"{_what(reading, at)}: nothing wrong was noticed."


def _clause(title: str) -> str:
    """A title inside a sentence."""
    text = title.removesuffix(".")
    return text[0].lower() + text[1:] if text[:2].istitle() or text[:2] in ("A ", "I ") else text


def _what(reading: Reading, at: int) -> str:
    """What a table is."""
    rows, columns = reading.tables[at].shape
    case = Case.of(reading, at)
    if case is None:
        return f"{reading.meaning.capitalize()}, {rows:,} × {columns:,}"
    kept = f"{int(case.visible.sum()):,} of {case.visible.size:,} pairs may attend"
    if case.visible.all():
        kind = "Everything visible"
    elif case.sentences:
        kind = "Padding"
    elif case.facts.causal and rows > 1:
        kind = "Causal"
    elif len(case.facts.blocks) > 1:
        kind = "Block-diagonal"
    else:
        kind = "Not causal" if rows == columns else "A mask"
    return f"{kind}, {rows:,} × {columns:,}, {kept}"
