"""`python -m tfm_ui.lessons check FILE …` says what is wrong with lessons; `names` prints what expressions may name.

`notebook LESSON --into X.ipynb` writes a lesson as a notebook: a file, or the name of one that comes with the app.
`sheet LESSON --into X.html` writes it as a page to print.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib import import_module
from math import inf
from pathlib import Path

from tfm_ui.lessons import checks, names, notebook_file, notebook_kinds, sheet_command, sheet_pieces, shelf
from tfm_ui.lessons.reader import MOST_BYTES, Fault, FaultyLesson, read


def check(file: Path, *, quick: bool = False) -> Iterator[Fault]:
    """The faults of the lesson in this file; `quick` leaves out what takes a run of each step's model."""
    # By name, as lenses load their own folders: this room stands beside theirs, and only its command loads them.
    lenses = import_module("tfm_ui.lenses")
    try:
        with file.open("rb") as opened:
            lesson = read(opened.read(MOST_BYTES + 1).decode(), file.name)
    except UnicodeDecodeError:
        yield Fault(1, "expected text in UTF-8, got other bytes")
        return
    except FaultyLesson as faulty:
        yield from faulty.faults
        return
    faults = sorted(checks.faults(lesson, lenses.lens, lenses.NAMES))
    yield from faults or (() if quick else checks.run(lesson, lenses.lens))


def write_notebook(lesson: str, into: Path, *, kind: notebook_kinds.Kind, address: str) -> int:
    """Write a lesson as a notebook; returns the exit status, 1 if the lesson has faults."""
    lenses = import_module("tfm_ui.lenses")
    if shelf.is_shipped(lesson):
        taken = shelf.shipped(lesson)
    elif faults := [*check(Path(lesson), quick=True)] if Path(lesson).is_file() else [Fault(0, NO_LESSON)]:
        sys.stdout.write("".join(f"{fault.named(lesson)}\n" for fault in faults))
        return 1
    else:
        taken = read(Path(lesson).read_text(encoding="utf-8"), lesson)
    made = notebook_file.notebook_bytes(taken, lenses.lens, kind=kind, address=address, turn=nullcontext, seconds=inf)
    into.write_bytes(made)
    sys.stdout.write(f"{into}: {len(made):,} bytes\n")
    return 0


NO_LESSON = "expected a file that can be read, or the name of a lesson that comes with the app"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status, 1 if a lesson has faults."""
    parser = argparse.ArgumentParser(prog="python -m tfm_ui.lessons", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="say what is wrong with lessons")
    checking.add_argument("file", nargs="+", type=Path)
    checking.add_argument("--quick", action="store_true", help="compute no answers")
    commands.add_parser("names", help="print what expressions may name")
    writing = commands.add_parser("notebook", help="write a lesson as a notebook")
    writing.add_argument("lesson", help="its file, or the name of a lesson that comes with the app")
    writing.add_argument("--into", type=Path, required=True, help="the notebook's file, such as lesson.ipynb")
    writing.add_argument(
        "--kind",
        choices=notebook_kinds.KINDS,
        default="study",
        help="students: blanks, checks; study, the default: solutions and answers, too, folded; solutions: filled in",
    )
    writing.add_argument("--address", default=notebook_file.LOCAL, help="of the app, to which steps link")
    sheet_command.arguments(commands.add_parser("sheet", help=sheet_command.HELP))
    asked = parser.parse_args(arguments)
    if asked.command == "sheet":
        return sheet_command.run(asked, sheet_pieces.document)
    if asked.command == "notebook":
        return write_notebook(asked.lesson, asked.into, kind=asked.kind, address=asked.address)
    if asked.command == "names":
        for lens in import_module("tfm_ui.lenses").lenses():
            sys.stdout.write(f"\n{lens.title}\n")
            for name, about in names.about(lens):
                sys.stdout.write(f"  {name}: {about.splitlines()[0] if about else ''}\n")
        return 0
    failed = False
    for file in asked.file:
        try:
            faults = [*check(file, quick=asked.quick)]
        except OSError as problem:
            faults = [Fault(0, f"expected a file that can be read: {problem.strerror}")]
        for fault in faults:
            sys.stdout.write(f"{fault.named(str(file))}\n")
        failed = failed or bool(faults)
        if not faults:
            sys.stdout.write(f"{file}: no faults\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
