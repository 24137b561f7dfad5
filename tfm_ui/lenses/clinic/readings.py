"""The mask that was brought, as it is read: a pasted text, or else an upload."""

from tfm_core.clinic import read, reading_as
from tfm_core.clinic.reading import Meaning, Reading
from tfm_core.clinic.table import SIDE
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.clinic.state import AS_READ, ClinicState
from tfm_ui.live.cache import cached
from tfm_ui.live.memory import LITTLE
from tfm_ui.state.model_state import ModelState
from tfm_ui.store.store import StoreAway

PASTE = "Paste a mask, or the line of code that makes it, such as mask = (ids != 0)[:, None, None, :]."
NOTHING = (
    "Paste a mask or upload one: what torch or NumPy prints, rows of 0 and 1, a drawing with ■, a list, the line of "
    "code that makes it; .npy, .npz, .safetensors, .csv, .json."
)


def _read_file(file: uploads.File) -> Reading:
    return read(file.data, name=file.name)


BOX = uploads.Box(
    field="upload",
    text="pasted",
    label="Or upload a file: .npy, .npz, .safetensors, .csv, .json, .txt",
    what="the uploaded mask",
    read=_read_file,
)


@cached(heavy=lambda *_: True)
def read_once(pasted: str, upload: str) -> Reading:
    """The text, or without one the upload, as it is read.

    Raises:
        ValueError: if it cannot be read.
        LookupError: if the upload is not there any more.
        StoreAway: if the store does not answer.
    """
    return read(pasted) if pasted.strip() else _read_file(uploads.find(upload))


def brought(pasted: str, upload: str) -> Reading | str:
    """What was read; where nothing could be read, why, in a sentence."""
    try:
        return read_once(pasted, upload) if pasted.strip() or upload else NOTHING
    except ValueError as problem:
        said = str(problem)
        return said if any(map(str.isdigit, pasted)) or upload else f"{said} {PASTE}"
    except (LookupError, StoreAway) as problem:
        return str(problem)


def reading_of(state: ClinicState) -> Reading | str:
    """What was read, under the meaning that the reader has chosen; else why there is nothing."""
    reading = brought(state.pasted, state.upload)
    if isinstance(reading, str) or state.meaning == AS_READ:
        return reading
    chosen: Meaning = state.meaning  # type: ignore[assignment]
    return reading_as(reading, chosen)


def at_of(reading: Reading, state: ClinicState) -> int:
    """The number of the table that is shown, from 0; the last, if there are fewer."""
    return min(state.table, len(reading.tables)) - 1


def reading_needs(model: ModelState, state: ClinicState) -> int:
    """The bytes that a picture takes at most: of an upload, which may be the largest, its numbers several times."""
    return LITTLE + (8 * SIDE**2 * 8 if state.upload else 0)
