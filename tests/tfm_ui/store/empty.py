"""A store in which nothing is yet, for tests of what stands on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from unittest.mock import patch

from tfm_ui.store.local import LocalStore


@contextmanager
def empty_store(module: ModuleType) -> Iterator[LocalStore]:
    """The only store that this module knows for the time being.

    Args:
        module: calls `store()`.
    """
    with TemporaryDirectory() as folder:
        opened = LocalStore(Path(folder))
        try:
            with patch.object(module, "store", lambda: opened):
                yield opened
        finally:
            opened.close()
