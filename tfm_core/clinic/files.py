"""A mask out of a file: .npy, .npz and .safetensors by their first bytes, else text.

Pure; nothing is executed, and no size is believed.
"""

import io
import math
import tokenize
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load

from tfm_core.clinic.chosen import TOKENS, choose
from tfm_core.clinic.table import BYTES, Table, refuse_nan, table
from tfm_core.clinic.text import read_text
from tfm_core.pretrained.archive import COMPRESSIONS, UNREADABLE
from tfm_core.study.attention_files import sizes, told

MOST_AXES = 8
MOST_MEMBERS = 2000  # of an archive
HEADER = 12_000  # bytes at the beginning of a .npy that hold its header
DAMAGED = "This archive cannot be read: save the mask with np.save, as .npy."
EXCEL = "This is an Excel file: save the sheet as CSV."
WITHOUT_ARRAY = "This is an archive without an array (.pt or .zip): save the mask with np.save."
MAGIC = b"\x93NUMPY"
# First bytes of files that are something else, and what to do.
OTHERS = {
    b"\x80": "This is a pickle, which could execute anything, so it is not opened: save with np.save.",
    b"\x89PNG": "This is a picture: numbers or text were expected.",
    b"\xff\xd8\xff": "This is a picture: numbers or text were expected.",
    b"\x1f\x8b": "This is compressed by gzip: unpack it first.",
    b"\x89HDF": "This is an HDF5 file: save the mask with np.save, as .npy.",
    b"MATLAB 5": "This is a .mat file: write the mask as text, with writematrix, or as .npy.",
    b"PAR1": "This is a Parquet file: save the table as CSV.",
}
# What NumPy raises over a header that was tampered with.
BROKEN = (
    *(ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError, OverflowError),
    tokenize.TokenError,
)

Array = NDArray[np.generic]


def read_file(data: bytes, name: str = "") -> Table:
    """A table out of a file: .npy, .npz and .safetensors by their first bytes, else text.

    Raises:
        ValueError: with a sentence that says what is wrong.
    """
    if len(data) > BYTES:
        raise ValueError(f"The file has {len(data):,} bytes; {BYTES:,} is the limit.")
    if data.startswith(MAGIC):
        return _table([_npy(data, "This .npy")])
    if data.startswith(b"PK"):
        return _npz(data)
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") <= len(data) - 8:
        return _safetensors(data)
    for magic, what in OTHERS.items():
        if data.startswith(magic):
            raise ValueError(what)
    ending = name.rpartition(".")[2].lower()
    if ending in ("npy", "npz", "safetensors") and not data[:200].isascii():
        raise ValueError(f"This does not begin as a .{ending} does: was it cut, or renamed?")
    return read_text(_decoded(data))


def _decoded(data: bytes) -> str:
    """The text in a file, in UTF-8 or UTF-16, or of one byte a sign as Excel writes it."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        coded = "utf-16"
    elif len(data) >= 4 and not any(data[1:200:2]) and all(data[:200:2]):
        coded = "utf-16-le"
    elif len(data) >= 4 and not any(data[:200:2]) and all(data[1:200:2]):
        coded = "utf-16-be"
    else:
        coded = "utf-8-sig"
    try:
        return data.decode(coded)
    except UnicodeDecodeError:
        pass
    text = data.decode("cp1252", "replace")
    if all(sign.isprintable() or sign in "\n\r\t" for sign in set(text)):
        return text
    raise ValueError("This is neither an array nor text: .npy, .npz, .safetensors or text in UTF-8 was expected.")


def _table(
    arrays: list[Array], notes: tuple[str, ...] = (), labels: tuple[str, ...] = (), precision: str = ""
) -> Table:
    """Arrays of one shape, a layer each, or a single one, as a table."""
    if len({array.shape for array in arrays}) > 1:
        shapes = " and ".join(sorted({sizes(array.shape) for array in arrays})[:2])
        raise ValueError(f"Its layers differ in shape ({shapes}): layers of one shape were expected.")
    first = arrays[0].dtype
    kind = {"b": "booleans", "f": "numbers"}.get(first.kind, "whole numbers")
    if math.prod(arrays[0].shape) * len(arrays) > BYTES:
        raise ValueError(f"It holds more than {BYTES:,} numbers, which is the limit.")
    with np.errstate(over="ignore"):
        # A boolean is a byte, which may hold more than 0 and 1.
        parts = [(a.view(np.uint8) != 0 if a.dtype == bool else a).astype(np.float64) for a in arrays]
    values = parts[0] if len(parts) == 1 else _stacked(parts)
    refuse_nan(values)
    if not precision:
        precision = first.name if first.name in ("float16", "float32") else "float64"
    made = table(values, kind, precision=precision, labels=labels)
    return replace(made, notes=(*notes, *made.notes))


def _stacked(layers: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Layers as (layer, sentence, head, row, column)."""
    whole = np.stack(layers)
    return whole.reshape(len(layers), *(1,) * (5 - whole.ndim), *whole.shape[1:]) if whole.ndim < 5 else whole


# .npy


def _header(data: bytes, what: str) -> tuple[tuple[int, ...], bool, np.dtype[np.generic], int]:
    """Shape, whether the first axis runs fastest, type, and where the numbers begin."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
            (3, 0): np.lib.format.read_array_header_2_0,  # the same, but for names of fields
        }[version]
        with warnings.catch_warnings():  # of Python 2's headers
            warnings.simplefilter("ignore")
            shape, is_fortran, dtype = read(file)
    except BROKEN:
        raise ValueError(f"{what}’s header cannot be read.") from None
    return shape, is_fortran, dtype, file.tell()


def _npy(data: bytes, what: str) -> Array:
    shape, is_fortran, dtype, start = _header(data, what)
    if dtype.hasobject:
        raise ValueError(f"{what} holds Python objects, which could execute anything, so it is not opened.")
    is_bfloat16 = dtype.kind == "V" and dtype.itemsize == 2 and dtype.fields is None
    if dtype.kind not in "biuf" and not is_bfloat16:
        raise ValueError(f"{what} holds {dtype}; booleans or real numbers were expected.")
    if any(type(size) is not int or size < 0 for size in shape) or len(shape) > MOST_AXES:
        raise ValueError(f"{what} says that it is {sizes(shape)}: up to {MOST_AXES} axes were expected.")
    count = math.prod(shape)
    if len(data) - start < count * dtype.itemsize:
        raise ValueError(f"{what} is shorter than its header says ({sizes(shape)}): was it cut?")
    if not count:
        raise ValueError("There is nothing in it: its shape has a 0.")
    if is_bfloat16:  # as NumPy saves what it does not know
        flat: Array = (np.frombuffer(data, "<u2", count, start).astype(np.uint32) << 16).view(np.float32)
    else:
        flat = np.frombuffer(data, dtype, count, start)
    return flat.reshape(shape, order="F" if is_fortran else "C")


# archives and safetensors, which hold several arrays by name


def _npz(data: bytes) -> Table:
    if data.count(b"PK\x01\x02") > MOST_MEMBERS:
        raise ValueError(f"This archive has more than {MOST_MEMBERS:,} files: a .npz of a few arrays was expected.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except UNREADABLE:
        raise ValueError(DAMAGED) from None
    with archive:
        members = {
            info.filename.removesuffix(".npy"): info for info in archive.infolist() if info.filename[-4:] == ".npy"
        }
        if not members:
            is_excel = any(name.startswith("xl/") for name in archive.namelist())
            raise ValueError(EXCEL if is_excel else WITHOUT_ARRAY)
        if any(info.compress_type not in COMPRESSIONS for info in members.values()):
            raise ValueError("This archive is compressed as NumPy does not: save the mask with np.save, as .npy.")
        axes, labels = _listed(archive, members) if len(members) > 1 else (dict.fromkeys(members, 2), ())
        names, notes = choose(axes)
        arrays, left = [], BYTES
        for name in names:
            unpacked = _unpacked(archive, members[name], left)
            left -= len(unpacked)
            arrays.append(_npy(unpacked, f"“{told(name)}” in this archive"))
    return _table(arrays, notes, labels)


def _listed(archive: zipfile.ZipFile, members: Mapping[str, zipfile.ZipInfo]) -> tuple[dict[str, int], tuple[str, ...]]:
    """How many axes each array has, by its name, and the tokens beside them."""
    axes: dict[str, int] = {}
    labels: tuple[str, ...] = ()
    for name, info in members.items():
        start = _unpacked(archive, info, HEADER, is_whole=False)
        shape, _, dtype, _ = _header(start, f"“{told(name)}” in this archive")
        if name in TOKENS and dtype.kind == "U" and len(shape) == 1:
            labels = _words(_unpacked(archive, info, BYTES), shape[0])
        else:
            axes[name] = sum(size > 1 for size in shape)
    return axes, labels


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int, *, is_whole: bool = True) -> bytes:
    """The first bytes of a file in an archive, which are counted while they are unpacked."""
    try:
        with archive.open(info) as file:
            data = file.read(most + is_whole)
    except UNREADABLE:
        raise ValueError(DAMAGED) from None
    if is_whole and len(data) > most:
        raise ValueError(f"The arrays in this archive have more than {BYTES:,} bytes, which is the limit.")
    if not data.startswith(MAGIC):
        raise ValueError(f"“{told(info.filename)}” in this archive is no array: save the mask with np.save, as .npy.")
    return data


def _words(data: bytes, count: int) -> tuple[str, ...]:
    """The strings of a .npy with one axis."""
    _, _, dtype, start = _header(data, "The list of tokens")
    if len(data) - start < count * dtype.itemsize or not dtype.itemsize:
        return ()
    return tuple(str(word) for word in np.frombuffer(data, dtype, count, start))


def _safetensors(data: bytes) -> Table:
    try:
        tensors = load(data)
    # Whatever the library makes of a header that was tampered with.
    except (SafetensorError, *BROKEN, AttributeError, RuntimeError) as problem:
        raise ValueError(f"This .safetensors cannot be read: {told(str(problem))}.") from None
    if not tensors:
        raise ValueError("This .safetensors holds no array.")
    names, notes = choose({name: sum(size > 1 for size in tensor.shape) for name, tensor in tensors.items()})
    chosen = [tensors[name] for name in names]
    if any(not tensor.numel() for tensor in chosen):
        raise ValueError("There is nothing in it: its shape has a 0.")
    if any(tensor.is_complex() for tensor in chosen):
        raise ValueError("This .safetensors holds complex numbers; booleans or real numbers were expected.")
    dtype = chosen[0].dtype
    known = {torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32"}
    arrays = [_array(tensor) for tensor in chosen]
    return _table(arrays, notes, precision=known.get(dtype, "float64"))


def _array(tensor: torch.Tensor) -> Array:
    if tensor.dtype == torch.bool:  # a byte, which may hold more than 0 and 1
        return (tensor.view(torch.uint8) != 0).numpy()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
