"""Files that visitors bring to the Clinic, which no link holds: the server's store keeps them by visitor, as they came.

A picture is asked for outside of any session, with what the link holds alone: the name of an upload. So that name is a
key of 128 bits: without the server's secret nobody can make such a name, not even of a file whose content is known.
Whoever has the link sees the file, as the box that takes it says (tfm_ui/page/upload.py). A file is kept only if it
could be read.
"""

import json
import secrets
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

import streamlit as st

from tfm_ui.lenses.clinic.state import PREFIX, ClinicState
from tfm_ui.page import controls, upload
from tfm_ui.store.kinds import UPLOADS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway
from tfm_ui.streamlit_private.script_run import runs_a_script
from tfm_ui.visitors.visitor import visitor_here

SECRET = secrets.token_bytes(32)
MOST = 9 * 2**20  # bytes of a file: 1,024 x 1,024 float64, and its header
GONE = "The link speaks of an uploaded file, which no link holds and the server has not kept: upload it again."


@dataclass(frozen=True)
class File:
    """A file as it came."""

    name: str
    data: bytes


def name_of(file: File, visitor: str) -> str:
    """What stands for a visitor's file in the link; another for each visitor, and each time that the server starts."""
    words = json.dumps([visitor, file.name]).encode()
    return blake2b(len(words).to_bytes(4) + words + file.data, digest_size=16, key=SECRET).hexdigest()


def as_bytes(file: File) -> bytes:
    """A file as it is stored: most masks take a hundredth of their size."""
    return json.dumps(file.name).encode() + b"\n" + zlib.compress(file.data, 1)


def keep(file: File, visitor: str) -> str:
    """Take a file in, and return its name.

    Raises:
        ValueError: if it is larger than what a visitor may keep.
        StoreAway: if the store does not answer.
    """
    name = name_of(file, visitor)
    store().put(UPLOADS, name, as_bytes(file), visitor)
    return name


def find(name: str) -> File:
    """The file of this name, for whoever knows it.

    Raises:
        LookupError: if it is not there any more, in a sentence.
        StoreAway: if the store does not answer.
    """
    value = store().get(UPLOADS, name)
    if value is None:
        raise LookupError(GONE)
    begin, _, data = value.partition(b"\n")
    try:
        return File(str(json.loads(begin)), zlib.decompressobj().decompress(data, MOST))
    except (ValueError, zlib.error):
        raise LookupError(GONE) from None


@dataclass(frozen=True)
class Box:
    """A box that takes a file.

    Attributes:
        field: of the lens's state, which names the upload.
        text: the field with a pasted text in its place, which a new file empties.
        label: what is taken.
        what: of the file others see, as in a sentence.
        read: reads it; a ValueError says what is wrong.
    """

    field: str
    text: str
    label: str
    what: str
    read: Callable[[File], object]

    @property
    def _key(self) -> str:
        return f"_clinic_{self.field}"

    @property
    def _problem(self) -> str:
        return f"{self._key}_problem"

    def draw(self) -> None:
        """Draw it."""
        upload.draw(self.label, key=self._key, most=MOST // 2**20, read=self._changed, what=self.what)

    def rejected(self, text: str) -> str:
        """What is wrong with the file that stands in the box; "" if nothing is, or if a text was pasted since."""
        if not runs_a_script():
            return ""
        problem, pasted = st.session_state.get(self._problem, ("", None))
        return problem if pasted == text else ""

    def _changed(self) -> None:
        """A file was chosen, or taken back: it is read now, and kept if it can be read."""
        chosen = st.session_state[self._key]
        st.session_state.pop(self._problem, None)
        if chosen is None:
            controls.change(PREFIX, **{self.field: ""})
            return
        file = File(chosen.name, chosen.getvalue())
        try:
            with upload.in_turn(self._key, chosen):
                self.read(file)
                name = keep(file, visitor_here())
        except (ValueError, StoreAway) as problem:
            # The box no longer holds the file that was uploaded before, and the text stays as it is.
            st.session_state[self._problem] = f"{upload.name_of(chosen)}: {problem}", _text_now(self.text)
            controls.change(PREFIX, **{self.field: ""})
            return
        controls.change(PREFIX, **{self.field: name, self.text: ""})


def _text_now(name: str) -> str:
    return str(getattr(controls.current(ClinicState, PREFIX), name))
