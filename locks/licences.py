"""The table of licences in docs/licences.md: of each package that every system has, as the package says it."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "licences.md"
LOCKS = [ROOT / "locks" / f"{lock}.txt" for lock in ("app", "torch", "transformers")]
BEGIN, END = "<!-- made by `python -m locks` -->\n", "<!-- end -->\n"


def locked_names() -> set[str]:
    """The packages that an installation of the app has on one system or another."""
    return {name for lock in LOCKS for name in re.findall(r"^([a-z0-9.-]+)==", lock.read_text("utf-8"), re.MULTILINE)}


def names_by_hand() -> set[str]:
    """The packages that a table written by hand names: those that only other systems have."""
    _, _, others = DOCUMENT.read_text("utf-8").partition("## Packages of other systems\n")
    return set(re.findall(r"`([a-z0-9.-]+)`(?=[, |])", others.partition("\n## ")[0]))


def table() -> str:
    """A row for each locked package that every system has: its name and its licence. All of them must be installed."""
    names = sorted(locked_names() - names_by_hand())
    program = str(Path(sys.executable).parent / "pip-licenses")
    command = [program, "--format=markdown", "--no-version", "--with-system", "--packages", *names]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return re.sub(r" +\|", " |", re.sub(r"-{3,}", "---", done.stdout)).rstrip() + "\n"


def write_licences() -> None:
    """Write the table anew between its marks."""
    before, begin, rest = DOCUMENT.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    DOCUMENT.write_text("".join((before, begin, table(), end, after)), "utf-8")
