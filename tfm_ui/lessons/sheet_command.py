"""The command `python -m tfm_ui.lessons sheet`: a sheet of a lesson as one file."""

import argparse
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from tfm_ui.lessons import shelf
from tfm_ui.lessons.lesson import Lesson
from tfm_ui.lessons.reader import MOST_BYTES, FaultyLesson, read
from tfm_ui.lessons.sheet import KINDS, PAPERS

HELP = "write a sheet of a lesson as one HTML file, to print"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument("lesson", help="a lesson's file, or the name of one that comes with the app")
    parser.add_argument("--kind", choices=KINDS, default="questions")
    parser.add_argument("--paper", choices=PAPERS, default="a4")
    parser.add_argument("--address", default="", help="of the app that the QR codes lead to; without it there are none")
    parser.add_argument("--into", type=Path, required=True, help="the HTML file to write")


def run(asked: argparse.Namespace, document: Callable[..., Iterator[str]]) -> int:
    """Write the file; returns the command's exit status.

    Args:
        asked: what the command was given.
        document: `sheet_pieces.document`.
    """
    address = asked.address.rstrip("/")
    if address and not address.startswith(("https://", "http://")):
        sys.stderr.write(f"expected an address that begins with https://, got {address}\n")
        return 2
    try:
        called, lesson = _lesson(asked.lesson)
    except FaultyLesson as faulty:
        sys.stderr.writelines(f"{fault.named(asked.lesson)}\n" for fault in faulty.faults)
        return 1
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"expected a lesson that can be read at {asked.lesson}: {problem}\n")
        return 1
    # By name, as lenses load their own folders: this room stands beside theirs, and only its command loads them.
    lens = import_module("tfm_ui.lenses").lens
    pieces = document(lens, lesson, asked.kind, asked.paper, address, called)
    with asked.into.open("w", encoding="utf-8") as file:
        file.writelines(pieces)
    sys.stdout.write(f"{asked.into}: {asked.into.stat().st_size:,} bytes\n")
    return 0


def _lesson(asked: str) -> tuple[str, Lesson]:
    """The lesson, and its name if it comes with the app."""
    if shelf.is_shipped(asked):
        return asked, shelf.shipped(asked)
    file = Path(asked)
    with file.open("rb") as opened:
        return "", read(opened.read(MOST_BYTES + 1).decode(), file.name)
