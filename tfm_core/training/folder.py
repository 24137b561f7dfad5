"""The folder of runs and comparisons: where it is, and how a file is written so that nobody reads half of it."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir

SHIPPED = Path(__file__).parent / "shipped"  # what comes with the app
FOLDER = "ATTENTION_LAB_RUNS"  # the environment variable that names the folder
Stamp = tuple[int, int, int]  # tells whether a file is the one that was read


def default_folder() -> Path:
    """The folder that the environment names, or one in the user's cache."""
    if named := os.environ.get(FOLDER):
        return Path(named)
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # a user without a home, as containers may have
        cache = Path(gettempdir())
    return cache / "attention-lab" / "runs"


def stamp_of(path: Path) -> Stamp | None:
    """Another stamp means another file; None if there is none."""
    try:
        known = path.stat()
    except OSError:
        return None
    return known.st_ino, known.st_size, known.st_mtime_ns


def write(path: Path, content: bytes) -> None:
    """All of it or nothing, whoever else reads or writes."""
    with NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as part:
        try:
            part.write(content)
            part.close()
            Path(part.name).chmod(0o644)  # other processes of the host read it, too
            Path(part.name).replace(path)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise
