"""Uploaded masks, which no link holds: kept on the server by visitor, within bytes; of too much the oldest goes.

A picture is asked for outside of any session, with what the link holds alone: the name of an upload. So that name is a
key: without the server's secret nobody can make one up, not even of a file whose content is known. Pages ask as a
visitor, too: whoever opens another's link is told that the upload is gone.
"""

import secrets
import sys
from collections import Counter, OrderedDict
from hashlib import blake2b
from threading import Lock

from tfm_ui.lenses.masks.conventions.mask_text import Table

EACH = 2**24  # bytes that a visitor's uploads may take: two of the largest masks
ALL = 2**26  # bytes of all visitors' together
AROUND = 2**10  # bytes, about, of the objects that a table consists of beside its numbers: many small ones count, too
SECRET = secrets.token_bytes(32)


def name_of(data: bytes, visitor: str) -> str:
    """What stands for a visitor's file in the link; another for each visitor, and each time that the server starts."""
    return blake2b(len(visitor).to_bytes(4) + visitor.encode() + data, digest_size=8, key=SECRET).hexdigest()


def bytes_of(table: Table) -> int:
    """What a table takes in memory."""
    return table.values.nbytes + sum(map(sys.getsizeof, table.notes)) + AROUND


class Uploads:
    """Tables by name, each with the visitor who brought it; safe between threads.

    Args:
        each: bytes of a visitor, at most.
        together: bytes of all visitors, at most.
    """

    def __init__(self, each: int = EACH, together: int = ALL) -> None:
        self._each, self._together = each, together
        self._kept: OrderedDict[str, tuple[str, Table]] = OrderedDict()  # that which was looked at last stands last
        self._bytes: Counter[str] = Counter()  # by visitor
        self._lock = Lock()

    def keep(self, name: str, visitor: str, table: Table) -> None:
        """Take a table in; what is too much then goes, the oldest first: the visitor's own, then anyone's."""
        with self._lock:
            self._drop(name)
            self._kept[name] = visitor, table
            self._bytes[visitor] += bytes_of(table)
            for older in [other for other, (whose, _) in self._kept.items() if whose == visitor]:
                if self.bytes_kept(visitor) > self._each:
                    self._drop(older)
            while self.bytes_kept() > self._together:
                self._drop(next(iter(self._kept)))

    def find(self, name: str, visitor: str | None = None) -> Table:
        """The table of this name; a page says which visitor asks, and gets what is that visitor's alone.

        Raises:
            LookupError: if it is not there any more, or another visitor's.
        """
        with self._lock:
            whose, table = self._kept.get(name, (None, None))
            if table is None or visitor not in (None, whose):
                raise LookupError(f"expected the name of an upload that is kept, got {name}")
            self._kept.move_to_end(name)
        return table

    def bytes_kept(self, visitor: str | None = None) -> int:
        """What is kept of a visitor, or of all, in bytes."""
        return self._bytes.total() if visitor is None else self._bytes[visitor]

    def _drop(self, name: str) -> None:
        if name in self._kept:
            visitor, table = self._kept.pop(name)
            self._bytes[visitor] -= bytes_of(table)
            if not self._bytes[visitor]:
                del self._bytes[visitor]


UPLOADS = Uploads()
