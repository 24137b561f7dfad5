"""A fault: a patch, and what the lines above it tell."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FAULTS = Path(__file__).parent / "faults"
HEADER = ("Fault", "Room", "Seen by")


@dataclass(frozen=True)
class Fault:
    """A slip that is put in.

    Attributes:
        file: the patch; its lines before the diff are read here, and by nobody else.
        about: what is wrong, in a sentence.
        room: the folder, or what the fault is about.
        seen_by: tests that are likely to notice it: paths, or ids of single tests.
    """

    file: Path
    about: str
    room: str
    seen_by: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.file.stem


def read(file: Path) -> Fault:
    """A fault from its patch.

    Raises:
        ValueError: if its first lines are not those of `HEADER`.
    """
    lines = file.read_text(encoding="utf-8").splitlines()[: len(HEADER)]
    told = [line.partition(": ") for line in lines]
    if tuple(name for name, _, _ in told) != HEADER or not all(text.strip() for _, _, text in told):
        raise ValueError(f"{file.name}: expected the lines {', '.join(HEADER)} first, got {lines}")
    about, room, seen_by = (text.strip() for _, _, text in told)
    return Fault(file, about, room, tuple(seen_by.split()))


def faults(names: Iterable[str] = ()) -> list[Fault]:
    """These faults; by default all of them, by name.

    Raises:
        ValueError: for a name that no fault has.
    """
    known = {file.stem: file for file in sorted(FAULTS.glob("*.patch"))}
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"expected names of {', '.join(known)}; got {', '.join(unknown)}")
    return [read(known[name]) for name in names or known]
