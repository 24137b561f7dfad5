"""Uploaded masks, which no link holds: the server's store keeps them by visitor; it drops the oldest if room runs out.

A picture is asked for outside of any session, with what the link holds alone: the name of an upload. So that name is a
key: without the server's secret nobody can make one up, not even of a file whose content is known. Pages ask as a
visitor, too: whoever opens another's link is told that the upload is gone.
"""

import io
import secrets
import zipfile
from hashlib import blake2b

import numpy as np

from tfm_ui.lenses.masks.conventions.mask_text import Table
from tfm_ui.live.cache import cached, never
from tfm_ui.store.kinds import UPLOADS
from tfm_ui.store.shared import store

SECRET = secrets.token_bytes(32)


def name_of(data: bytes, visitor: str) -> str:
    """What stands for a visitor's file in the link; another for each visitor, and each time that the server starts."""
    return blake2b(len(visitor).to_bytes(4) + visitor.encode() + data, digest_size=8, key=SECRET).hexdigest()


def keep(name: str, visitor: str, table: Table) -> None:
    """Take a table in.

    Raises:
        ValueError: if it is larger than what a visitor may keep.
        StoreAway: if the store does not answer.
    """
    store().put(UPLOADS, name, as_bytes(table), visitor)


def find(name: str, visitor: str | None = None) -> Table:
    """The table of this name; a page says which visitor asks, and gets what is that visitor's alone.

    Raises:
        LookupError: if it is not there any more, or another visitor's.
        StoreAway: if the store does not answer.
    """
    entry = store().entry(UPLOADS, name)
    if entry is None or visitor not in (None, entry.owner):
        raise LookupError(f"expected the name of an upload that is kept, got {name}")
    return _table(name, entry.digest)


@cached(heavy=never)
def _table(name: str, digest: str) -> Table:
    """The table with this digest, which is read once and not for each picture."""
    value = store().get(UPLOADS, name)
    if value is None:
        raise LookupError(f"expected the upload {name} with the digest {digest}, got none")
    return from_bytes(value)


def as_bytes(table: Table) -> bytes:
    """A table as NPZ: a byte for each number where all are 0 or 1, as in most masks."""
    values = table.values
    is_small = bool(np.isin(values, (0.0, 1.0)).all() and not np.signbit(values).any())
    file = io.BytesIO()
    np.savez(
        file,
        values=values.astype(np.uint8) if is_small else values,
        words=np.array([table.kind, *table.notes]),
        more=np.array([table.precision, table.says]),
    )
    return file.getvalue()


def from_bytes(data: bytes) -> Table:
    """The table that `as_bytes` has written.

    Raises:
        LookupError: for anything else; nothing in it is executed.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            values, (kind, *notes) = file["values"].astype(np.float64), file["words"].tolist()
            precision, says = file["more"].tolist() if "more" in file else ("float64", "")  # of a version before
        *stack, rows, columns = values.shape
    except (ValueError, KeyError, TypeError, EOFError, OSError, zipfile.BadZipFile) as problem:
        raise LookupError(f"expected an upload that this app has kept, got {len(data)} other bytes") from problem
    return Table(values.reshape(*stack, rows, columns), str(kind), tuple(map(str, notes)), str(precision), str(says))
