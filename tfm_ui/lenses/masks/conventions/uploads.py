"""Uploaded masks, which no link holds: the server's store keeps them by visitor; it drops the oldest if room runs out.

A picture is asked for outside of any session, with what the link holds alone: the name of an upload. So that name is a
key of 128 bits: without the server's secret nobody can make one up, not even of a file whose content is known. Whoever
has the link sees the mask, as the box that takes it says (tfm_ui/page/upload.py). The box is at the foot of this file.
"""

import json
import secrets
from hashlib import blake2b

import numpy as np
import streamlit as st
from safetensors import SafetensorError
from safetensors.numpy import load, save

from tfm_core.clinic.files import read_file
from tfm_core.clinic.table import BYTES, SIDE, Table
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.live.cache import cached, never
from tfm_ui.page import controls, upload
from tfm_ui.store.kinds import UPLOADS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.script_run import runs_a_script
from tfm_ui.visitors.visitor import visitor_here

SECRET = secrets.token_bytes(32)
UPLOAD, PROBLEM = "_masks_upload", "_masks_upload_problem"  # what a session alone knows


def name_of(data: bytes, visitor: str) -> str:
    """What stands for a visitor's file in the link; another for each visitor, and each time that the server starts."""
    return blake2b(len(visitor).to_bytes(4) + visitor.encode() + data, digest_size=16, key=SECRET).hexdigest()


def keep(name: str, visitor: str, table: Table) -> None:
    """Take a table in.

    Raises:
        ValueError: if it is larger than what a visitor may keep.
        StoreAway: if the store does not answer.
    """
    store().put(UPLOADS, name, as_bytes(table), visitor)


def find(name: str) -> Table:
    """The table of this name, for whoever knows it.

    Raises:
        LookupError: if it is not there any more.
        StoreAway: if the store does not answer.
    """
    entry = store().entry(UPLOADS, name)
    if entry is None:
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
    """A table as safetensors: a byte for each number where all are 0 or 1, as in most masks."""
    values = table.values
    is_small = bool(np.isin(values, (0.0, 1.0)).all() and not np.signbit(values).any())
    words = json.dumps([table.kind, table.notes, table.precision, table.says, table.labels, table.axes]).encode()
    return save(
        {"values": values.astype(np.uint8) if is_small else values, "words": np.frombuffer(words, np.uint8).copy()}
    )


def from_bytes(data: bytes) -> Table:
    """The table that `as_bytes` has written.

    Raises:
        LookupError: for anything else; nothing in it is executed, and nothing becomes larger than a mask may be.
    """
    try:
        parts = load(data)
        values = parts["values"]
        *_, _, _ = values.shape
        if max(values.shape[-2:]) > SIDE or values.size > BYTES:
            raise ValueError(f"expected at most {SIDE:,} rows and columns, and {BYTES:,} numbers; got {values.shape}")
        kind, notes, precision, says, labels, axes = json.loads(parts["words"].tobytes())
        if len(axes) != values.ndim - 2:
            raise ValueError(f"expected a name for each of {values.ndim - 2} axes before the rows, got {len(axes)}")
        return Table(
            values.astype(np.float64),
            str(kind),
            tuple(map(str, notes)),
            str(precision),
            str(says),
            tuple(map(str, labels)),
            tuple(map(str, axes)),
        )
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as problem:
        raise LookupError(f"expected an upload that this app has kept, got {len(data)} other bytes") from problem


def uploader() -> None:
    """Draw the box that takes a file."""
    upload.draw(
        "Or upload one: .npy, .npz, .csv, .txt",
        key=UPLOAD,
        most=BYTES // 2**20,
        read=_file_changed,
        what="the uploaded mask",
    )


def rejected(state: MasksState) -> str:
    """What is wrong with the file that stands in the uploader; "" if nothing, or if something else was tried since."""
    if not runs_a_script():
        return ""
    problem, pasted = st.session_state.get(PROBLEM, ("", None))
    return problem if pasted == state.pasted else ""


def _file_changed() -> None:
    """A file was chosen, or taken back: its text or array is read now, and kept if it is a mask."""
    file = st.session_state[UPLOAD]
    st.session_state.pop(PROBLEM, None)
    if file is None:
        controls.change(PREFIX, upload="")
        return
    data = file.getvalue()
    visitor = visitor_here()
    name = name_of(data, visitor)
    try:
        with upload.in_turn(UPLOAD, file):
            keep(name, visitor, read_file(data, file.name))
    except (ValueError, StoreAway) as problem:
        state = controls.current(MasksState, PREFIX)
        st.session_state[PROBLEM] = f"{upload.name_of(file)}: {problem}", state.pasted
        controls.change(PREFIX, upload="")  # the uploader no longer holds the file that was uploaded before
        return
    controls.change(PREFIX, upload=name, pasted="")
