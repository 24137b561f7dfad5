"""`python -m tfm_ui.lessons check FILE …` says what is wrong with lessons; `names` prints what expressions may name."""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from tfm_ui.lessons import checks, names
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


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status, 1 if a lesson has faults."""
    parser = argparse.ArgumentParser(prog="python -m tfm_ui.lessons", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="say what is wrong with lessons")
    checking.add_argument("file", nargs="+", type=Path)
    checking.add_argument("--quick", action="store_true", help="compute no answers")
    commands.add_parser("names", help="print what expressions may name")
    asked = parser.parse_args(arguments)
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
