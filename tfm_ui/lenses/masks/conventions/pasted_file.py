"""A mask out of a file: .npy and .npz by their first bytes, else text.

Pure; nothing is executed, and no size is believed.
"""

import io
import math
import tokenize
import warnings
import zipfile
import zlib

import numpy as np

from tfm_ui.lenses.masks.conventions.mask_text import BYTES, DEEP, Table, read_text, table
from tfm_ui.lenses.masks.state import PASTED_SIDE as SIDE


def read_file(data: bytes) -> Table:
    """A table out of a file: .npy and .npz by their first bytes, else text.

    Raises:
        ValueError: with a sentence that says what is wrong.
    """
    if len(data) > BYTES:
        raise ValueError(f"The file has {len(data):,} bytes; {BYTES:,} is the limit.")
    if data.startswith(b"\x93NUMPY"):
        return _npy(data)
    if data.startswith(b"PK"):
        return _npy(_only_array(data))
    if data.startswith(b"\x80"):
        raise ValueError("This is a pickle, which could execute anything, so it is not opened: save with np.save.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("This is neither .npy nor text in UTF-8.") from None
    if "\0" in text:
        raise ValueError("This is neither .npy nor text: it holds zero bytes.")
    return read_text(text)


# What zipfile raises over an archive that is cut off, damaged, locked by a password, or compressed in a way unknown to
# it; each is told to the reader as one sentence.
UNREADABLE = (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError)


def _only_array(data: bytes) -> bytes:
    """The .npy in an archive that np.savez has written of one array. Its size is bounded while it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            if len(names) > 1:
                listed = ", ".join(f"“{name.removesuffix('.npy')[:20]}”" for name in names[:4])
                raise ValueError(f"This .npz holds {len(names):,} arrays ({listed}): save the mask alone.")
            if not names:
                raise ValueError("This is an archive without an array (.pt or .zip): save the mask with np.save.")
            # zipfile bounds what it unpacks at a time of these two alone: of bzip2, 1 kB becomes 1 GB at once.
            if archive.getinfo(names[0]).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("This archive is compressed as NumPy does not: save the mask with np.save, as .npy.")
            with archive.open(names[0]) as file:
                array = file.read(BYTES + 1)
    except UNREADABLE:
        raise ValueError("This archive cannot be read: save the mask with np.save, as .npy.") from None
    if len(array) > BYTES:
        raise ValueError(f"The array in this .npz has more than {BYTES:,} bytes, which is the limit.")
    if not array.startswith(b"\x93NUMPY"):
        raise ValueError("The array in this .npz cannot be read: save the mask with np.save, as .npy.")
    return array


# What NumPy raises over a header that was tampered with.
BROKEN = (
    ValueError,
    SyntaxError,
    TypeError,
    KeyError,
    MemoryError,
    RecursionError,
    OverflowError,
    tokenize.TokenError,
)


def _npy(data: bytes) -> Table:
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        with warnings.catch_warnings():  # of Python 2's headers
            warnings.simplefilter("ignore")
            shape, _, dtype = header(file)
    except BROKEN:
        raise ValueError("This .npy’s header cannot be read.") from None
    if dtype.hasobject:
        raise ValueError("This .npy holds Python objects, which could execute anything, so it is not opened.")
    if dtype.kind not in "biuf":
        raise ValueError(f"This .npy holds {dtype}; booleans or real numbers were expected.")
    if min(shape, default=0) < 0 or len(shape) > DEEP or math.prod(shape) > SIDE * SIDE:
        sizes = " × ".join(f"{size:,}" for size in shape[:DEEP])
        raise ValueError(f"This .npy is {sizes}; {SIDE:,} × {SIDE:,} is the limit.")
    if len(data) - file.tell() < math.prod(shape) * dtype.itemsize:
        raise ValueError("This .npy is shorter than its header says: was it cut?")
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            values = np.load(file, allow_pickle=False)
        except BROKEN:
            raise ValueError("This .npy cannot be read: its header does not fit what follows.") from None
    kind = {"b": "booleans", "f": "numbers"}.get(dtype.kind, "whole numbers")
    with np.errstate(over="ignore"):
        values = values.astype(np.float64)
    if (nan := np.argwhere(np.isnan(values))).size:
        at = ", ".join(str(i + 1) for i in nan[0])
        raise ValueError(f"The entry at {at} is NaN, which stands for neither visible nor hidden.")
    precision = "float64" if dtype == np.float64 or kind != "numbers" else "float32"  # halves are added to floats
    return table(values, shape or (1,), kind, precision=precision)
