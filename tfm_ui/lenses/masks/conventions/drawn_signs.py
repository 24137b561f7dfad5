"""A mask that was drawn with signs, as printers of masks do: ■ where a query sees a key, ⬚ where it does not. Pure."""

import re

SEES, HIDES = "■█▓●◼▪⬛✓✔✅🟩", "⬚□░○◻▫▢⬜✗✘❌·🟥"
SEES_PLAIN, HIDES_PLAIN = "xX#*", ".-_"  # which only count where nothing else is there
COLOURS = re.compile(r"\x1b\[[\d;]*m|\ufe0f")
ROW = re.compile(rf"(?:^|[\s:])((?:[{SEES}{HIDES}]\s*)+)$")  # what stands before is the row's name


def drawn(text: str) -> tuple[list[list[str]], tuple[str, ...]] | None:
    """Rows of "1" and "0", and what was left out in sentences; None if the text is no drawing."""
    lines = [line.rstrip() for line in COLOURS.sub("", text).splitlines() if line.strip()]
    signs = "".join(lines).replace(" ", "")
    if set(signs) <= {*SEES_PLAIN, *HIDES_PLAIN} and set(signs) & {*SEES_PLAIN} and set(signs) & {*HIDES_PLAIN}:
        return [_cells(line) for line in lines], ()
    matches = [ROW.search(line.split("|")[0].rstrip()) for line in lines]
    rows = [_cells(row[1]) for row in matches if row]
    if not rows:
        return None
    beside = ("Of the two drawings that stand side by side, the left one is read.",)
    return rows, beside if any("|" in line for line, row in zip(lines, matches, strict=True) if row) else ()


def _cells(line: str) -> list[str]:
    return ["1" if sign in SEES + SEES_PLAIN else "0" for sign in line if not sign.isspace()]
