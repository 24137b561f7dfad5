"""Copies of the working tree, into which faults are put, or what a newcomer would add."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.seeded_faults.fault import Fault

ROOT = Path(__file__).parents[2]
LINKED = ("node_modules", ".venv")  # too large to be copied; no test writes there


class DoesNotApply(Exception):
    """A patch that no longer fits the code."""


@contextmanager
def copy_of_the_tree() -> Iterator[Path]:
    """A copy of all that git knows or does not ignore; removed afterwards."""
    with TemporaryDirectory(prefix="attention-lab-") as folder:
        place = Path(folder)
        for name in _files():
            if (source := ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, place / name)
        for name in LINKED:
            if (ROOT / name).exists():
                (place / name).symlink_to(ROOT / name)
        # A repository of its own, as some tests ask git, and as git would look for one in the folders above.
        _git(place, "init", "--quiet")
        _git(place, "add", "--all")
        yield place


@contextmanager
def copy_with(fault: Fault) -> Iterator[Path]:
    """A copy with the fault in it; removed afterwards.

    Raises:
        DoesNotApply: naming the fault.
    """
    with copy_of_the_tree() as place:
        done = subprocess.run(["git", "apply", fault.file], cwd=place, capture_output=True, text=True)
        if done.returncode:
            raise DoesNotApply(f"{fault.name}: the patch no longer applies. {done.stderr.strip()}")
        yield place


def _files() -> list[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    return subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")[:-1]


def _git(place: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=place, capture_output=True, check=True)
