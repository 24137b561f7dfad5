"""Where the library keeps files of its own for a user: in a folder of the user's cache, unless the environment says."""

import os
from pathlib import Path
from tempfile import gettempdir


def kept_folder(variable: str, name: str) -> Path:
    """The folder that an environment variable names, or one in the user's cache. Nothing is made.

    Args:
        variable: of the environment.
        name: of the folder in the cache.
    """
    if named := os.environ.get(variable):
        return Path(named)
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # a user without a home, as containers may have
        cache = Path(gettempdir())
    return cache / "attention-lab" / name
