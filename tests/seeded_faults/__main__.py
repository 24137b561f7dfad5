"""`python -m tests.seeded_faults [NAME...] [--keep-going]`: which test notices which fault, as a table in Markdown."""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from tests.seeded_faults.copies import DoesNotApply, copy_with
from tests.seeded_faults.fault import Fault, faults
from tests.seeded_faults.search import Catch, search


@dataclass(frozen=True)
class Row:
    """A line of the table: a fault, which test noticed it, and how long the search took."""

    fault: Fault
    catch: Catch
    seconds: float

    @property
    def cells(self) -> list[str]:
        """The row in words."""
        test = f"`{self.catch.test}`".replace("|", "\\|") if self.catch.test else ""
        return [self.fault.name, self.fault.room, self.catch.tier or "**none**", test, f"{self.seconds:.0f}"]


def main(arguments: Sequence[str]) -> int:
    """Look for each fault, and print the table; 1 if no test noticed one, 2 if something could not be run."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeded_faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults, by name; by default all")
    parser.add_argument("--keep-going", action="store_true", help="go on after a problem, or a fault without a notice")
    asked = parser.parse_args(arguments)
    try:
        chosen = faults(asked.names)
    except ValueError as problem:
        parser.error(str(problem))
    rows, problems = list[Row](), list[str]()
    for fault in chosen:
        say(f"{fault.name}: {fault.about}")
        try:
            row = look_for(fault)
        except DoesNotApply as problem:
            problems.append(str(problem))
        else:
            rows.append(row)
            problems += row.catch.problems
            say(f"    {' | '.join(row.cells[2:])} s")
        if not asked.keep_going and (problems or not row.catch.tier):
            break
    say(f"\n{table(rows)}\n")
    for problem in problems:
        say(f"PROBLEM {problem}")
    unnoticed = [row.fault.name for row in rows if not row.catch.tier]
    say(f"{len(rows) - len(unnoticed)} of {len(chosen)} faults were noticed.")
    if unnoticed:
        say(f"No test noticed {', '.join(unnoticed)}.")
    return 1 if unnoticed else 2 if problems else 0


def look_for(fault: Fault) -> Row:
    """Put a fault into a copy of the working tree, and run tests there."""
    begun = time.monotonic()
    with copy_with(fault) as place:
        catch = search(fault, place)
    return Row(fault, catch, time.monotonic() - begun)


def table(rows: Sequence[Row]) -> str:
    """The rows as a table in Markdown."""
    lines = [["fault", "room", "tier", "first test that failed", "seconds"], ["---", "---", "---", "---", "---:"]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [*lines, *(row.cells for row in rows)])


def say(line: str) -> None:
    """Write a line at once, as the next may take minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
