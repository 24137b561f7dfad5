"""Arrays in files that other programs have written: .npy, .npz, .safetensors and JSON, read without NumPy.

Nothing in a file is executed, and no size that it names is believed. What arrays mean is told in attention_arrays.py.
"""

import io
import json
import math
import re
import struct
import sys
import zipfile
from array import array as packed
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from tfm_core.pretrained.archive import UNREADABLE

MOST_NUMBERS = 2**24  # of all arrays that are read together: 64 MB as float32
MOST_BYTES = 4 * MOST_NUMBERS + 2**20  # of a file: so many float32, headers, and tokens
MOST_UNPACKED = 8 * MOST_NUMBERS + 2**20  # bytes out of an archive: so many float64
MOST_JSON = 16 * 2**20  # bytes of JSON: its numbers take up to 8 times as much
MOST_LISTS = 2**19  # in JSON, rows above all: Python reads five million in as many seconds, and nothing else meanwhile
MOST_ENTRIES = 2000  # of an archive: a model's layers; the table of a million would take more than a gigabyte
MOST_HEADER = 10_000  # characters of a .npy's header, as NumPy has it
MOST_METADATA = 4 * 2**20  # bytes of a .safetensors's header, which may hold tokens
MOST_TOKENS = 2**16  # of all sentences of an array together
MOST_AXES = 5  # (layer, batch, head, query, key)
MOST_TOLD = 40  # characters of what a file says, in a sentence

NAMES = ("attentions", "attention", "weights", "attn")  # what the array may be called, where there are several
TOKENS = "tokens"
FORMATS = "expected a .npy, .npz, .safetensors or JSON file"

MAGIC = b"\x93NUMPY"
LENGTHS = {(1, 0): "<H", (2, 0): "<I", (3, 0): "<I"}  # version of .npy -> how its header's length is written
FIELD = re.compile(r"""['"](\w+)['"]\s*:\s*(\[.*\]|\([^()]*\)|['"][^'"]*['"]|\w+)""")  # of a .npy's header
DTYPES = {
    "b1": torch.uint8,  # not bool, whose bytes may be 0 and 1 alone
    **{f"i{size}": getattr(torch, f"int{8 * size}") for size in (1, 2, 4, 8)},
    **{f"u{size}": getattr(torch, f"uint{8 * size}") for size in (1, 2, 4, 8)},
    **{f"f{size}": getattr(torch, f"float{8 * size}") for size in (2, 4, 8)},
}


@dataclass(frozen=True)
class Contents:
    """What a file holds.

    Attributes:
        arrays: one array, or one for each layer; numbers of any type.
        is_by_layer: whether each is a layer's.
        tokens: whatever stands where tokens should be; None if nothing does.
        is_printed: whether the numbers were text, and so perhaps rounded to a few digits.
        notes: what was done to read it, in sentences.
    """

    arrays: list[Tensor]
    is_by_layer: bool = False
    tokens: object = None
    is_printed: bool = False
    notes: tuple[str, ...] = ()


def contents(content: bytes, name: str) -> Contents:
    """The arrays in a file, whose format its first bytes tell, and only if they do not, its ending.

    Raises:
        ValueError: if it is none of these formats, damaged, or too large; the message says what was expected.
    """
    ending = name.rpartition(".")[2].lower()
    if len(content) > MOST_BYTES:
        raise ValueError(f"expected a file of at most {MOST_BYTES:,} bytes, got {len(content):,}")
    if content.startswith(MAGIC):
        return _from_npy(content)
    if content.startswith(b"PK"):
        return _from_npz(content)
    # JSON has no zero bytes, so that its first eight would be a length beyond any.
    if content[8:9] == b"{" and int.from_bytes(content[:8], "little") <= len(content) - 8:
        return _from_safetensors(content)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        return _from_json(content)
    if content.startswith(b"\x80") or ending in ("pt", "pth", "pkl", "pickle", "bin"):
        raise ValueError(f"{FORMATS}; got a pickle, which could execute anything, so it is not opened")
    if ending in ("npy", "npz", "safetensors", "json"):
        raise ValueError(f"{FORMATS}; got {len(content):,} bytes that do not begin as a .{ending} file does")
    raise ValueError(f"{FORMATS}; got {len(content):,} bytes that begin as none of these do")


def check_size(shape: Sequence[int], least: int = 2, most: int = MOST_NUMBERS) -> None:
    """Refuse an array before it is made.

    Args:
        shape: of the array.
        least: how many axes it has at least.
        most: how many numbers it has at most.

    Raises:
        ValueError: if it has too many axes or numbers, or none at all.
    """
    if not least <= len(shape) <= MOST_AXES:
        raise ValueError(
            f"expected {least} to {MOST_AXES} axes, up to (layer, batch, head, query, key); got {sizes(shape)}"
        )
    if min(shape, default=1) < 1:
        raise ValueError(f"expected at least one number on each axis, got {sizes(shape)}")
    if math.prod(shape) > most:
        raise ValueError(f"expected at most {most:,} numbers, got {sizes(shape)}")


def sizes(shape: Sequence[int]) -> str:
    """A shape in a sentence, such as "2 × 3 × 6 × 6"."""
    if not shape:
        return "a single number"
    named = " × ".join(f"{size:,}" if abs(size) < 10**18 else "more than 10^18" for size in shape[:8])
    return f"{named} …" if len(shape) > 8 else named if len(shape) > 1 else f"one axis of {named}"


def told(text: str) -> str:
    """What somebody else has written, as it may stand in a sentence: short, and without invisible characters."""
    plain = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[: MOST_TOLD + 1])
    return plain if len(plain) <= MOST_TOLD else f"{plain[: MOST_TOLD - 1]}…"


# numbers out of bytes and out of lists


def from_bytes(
    data: bytes | memoryview, descr: str, shape: tuple[int, ...], *, fortran: bool = False, least: int = 2
) -> Tensor:
    """The array that these bytes are.

    Args:
        data: all numbers, one after another; more may follow.
        descr: their type as NumPy writes it: the order of bytes, a letter, the size in bytes; such as "<f4".
        shape: of the array.
        fortran: whether the first axis runs fastest, and not the last.
        least: how many axes it has at least.

    Raises:
        ValueError: if these are no real numbers, or too few or too many.
    """
    order, kind = (descr[:1], descr[1:]) if descr[:1] in "<>|=" else ("=", descr)
    if kind[:1] == "O":
        raise ValueError("expected numbers, got Python objects (a pickle), which could execute anything: not opened")
    if kind == "V2":
        raise ValueError("expected floats, whole numbers or booleans; got V2: if it is bfloat16, save it as float32")
    dtype = DTYPES.get(kind)
    if dtype is None:
        raise ValueError(f"expected floats of 16, 32 or 64 bits, whole numbers or booleans; got {told(descr)}")
    check_size(shape, least)
    length = math.prod(shape) * dtype.itemsize
    if len(data) < length:
        raise ValueError(f"expected {length:,} bytes of numbers, got {len(data):,}: was the file cut?")
    octets = torch.frombuffer(bytearray(data[:length]), dtype=torch.uint8)
    if order == {"little": ">", "big": "<"}[sys.byteorder]:
        octets = octets.view(-1, dtype.itemsize).flip(1).flatten()
    numbers = octets.view(dtype)
    if kind == "b1":
        numbers = numbers != 0
    if fortran:
        return numbers.view(shape[::-1]).permute(*reversed(range(len(shape)))).contiguous()
    return numbers.view(shape)


def from_lists(nested: Sequence[Any]) -> Tensor:
    """The array that lists within each other are; float64, or int64 where all numbers are whole.

    Raises:
        ValueError: if lists beside each other differ in length, or hold something else than numbers.
    """
    flat: Sequence[Any] = [nested]
    shape: list[int] = []
    while isinstance(flat[0], list | tuple):
        size = len(flat[0])
        for part in flat:
            if not isinstance(part, list | tuple) or len(part) != size:
                got = f"one of {len(part):,}" if isinstance(part, list | tuple) else described(part)
                raise ValueError(f"expected lists of the same length on each axis; beside one of {size:,}, got {got}")
        shape.append(size)
        if len(shape) > MOST_AXES or not size:
            check_size(shape)
        flat = [*chain.from_iterable(flat)]
    kinds = set(map(type, flat))
    if strange := [kind for kind in kinds if not issubclass(kind, Real)]:
        raise ValueError(f"expected numbers, got {described(next(part for part in flat if type(part) in strange))}")
    check_size(shape)
    try:
        numbers = torch.frombuffer(packed("d", flat), dtype=torch.float64).view(shape)
    except OverflowError:
        raise ValueError("expected numbers that a float can hold, got a whole number beyond float64") from None
    return numbers.to(torch.int64) if kinds <= {int, bool} and bool((numbers.abs() < 2**53).all()) else numbers


def described(value: object) -> str:
    """What kind of thing stands where another was expected, in a sentence."""
    if isinstance(value, str):
        return f"the text “{told(value)}”"
    if isinstance(value, Real):
        return "a number"
    kind = type(value).__name__
    return {"NoneType": "nothing (null)", "dict": "an object"}.get(kind, f"a {told(kind)}")


# .npy


@dataclass(frozen=True)
class Header:
    """What a .npy says of its array.

    Attributes:
        descr: the type of its numbers.
        shape: of the array.
        fortran: whether the first axis runs fastest.
        end: the place of the first byte after the header.
    """

    descr: str
    shape: tuple[int, ...]
    fortran: bool
    end: int


def _header(data: bytes) -> Header:
    """The header of a .npy, looked at sign by sign: it is a Python expression, and none is evaluated."""
    written = LENGTHS.get((*data[6:8],)) if len(data) > 8 and data.startswith(MAGIC) else None
    if written is None:
        raise ValueError("expected a .npy of version 1, 2 or 3; got another, or a file that was cut")
    start = 8 + struct.calcsize(written)
    length = int.from_bytes(data[8:start], "little")
    if length > MOST_HEADER:
        raise ValueError(f"expected a .npy whose header has at most {MOST_HEADER:,} bytes, got {length:,}")
    if length > len(data) - start:
        raise ValueError(f"expected {length:,} bytes of header, got {len(data) - start:,}: was the file cut?")
    fields = dict(FIELD.findall(data[start : start + length].decode("utf-8", "replace")))
    descr, order, shape = (fields.get(name, "") for name in ("descr", "fortran_order", "shape"))
    if descr.startswith("["):
        raise ValueError("expected numbers of one type, got a structured array, whose entries have fields")
    axes = shape.strip("()").replace("L", "").split(",")  # Python 2 wrote 3L
    axes = [axis.strip() for axis in axes if axis.strip()]
    # 20 digits are beyond any array; Python refuses to read numbers of thousands.
    if not shape.startswith("(") or order not in ("True", "False") or not descr:
        raise ValueError("expected a .npy whose header names descr, fortran_order and shape; got another")
    if not all(re.fullmatch("[0-9]{1,20}", axis) for axis in axes):
        raise ValueError(f"expected sizes of axes in the .npy's header, got {told(shape)}")
    return Header(descr.strip("'\""), tuple(int(axis) for axis in axes), order == "True", start + length)


def array_of_npy(data: bytes, least: int = 2) -> Tensor:
    """The array of a .npy, with at least so many axes.

    Raises:
        ValueError: if it is damaged, or holds anything but real numbers.
    """
    header = _header(data)
    return from_bytes(memoryview(data)[header.end :], header.descr, header.shape, fortran=header.fortran, least=least)


def _from_npy(data: bytes) -> Contents:
    return Contents([array_of_npy(data)])


def _texts(data: bytes) -> list[Any]:
    """The texts in a .npy: a list, or of two axes a list of lists."""
    header = _header(data)
    order, width = header.descr[:1], header.descr[2:]
    if header.descr[1:2] != "U" or not re.fullmatch("[0-9]{1,6}", width):
        raise ValueError(f"expected tokens as an array of unicode strings, such as <U9; got {told(header.descr)}")
    count, step = math.prod(header.shape), 4 * int(width)
    if count > MOST_TOKENS or len(header.shape) not in (1, 2):
        raise ValueError(f"expected at most {MOST_TOKENS:,} tokens, on one axis or two; got {sizes(header.shape)}")
    if len(data) - header.end < count * step:
        raise ValueError(f"expected {count * step:,} bytes of tokens, got {len(data) - header.end:,}")
    words = (data[at : at + step] for at in range(header.end, header.end + count * step, step or 1))
    coded = "utf-32-be" if order == ">" else "utf-32-le"
    flat = [word.decode(coded, "replace").rstrip("\0") for word in words] if step else [""] * count
    if len(header.shape) == 1:
        return flat
    rows, columns = header.shape
    if header.fortran:
        return [flat[row::rows] for row in range(rows)]
    return [flat[row * columns : (row + 1) * columns] for row in range(rows)]


# .npz and .safetensors, which hold several arrays by name


def _from_npz(data: bytes) -> Contents:
    with arrays_of_npz(data) as (archive, files):
        chosen, notes = _chosen(files)
        left = MOST_UNPACKED
        arrays = []
        for name in chosen:
            unpacked = unpacked_from(archive, files[name], left)
            left -= len(unpacked)
            arrays.append(array_of_npy(unpacked))
        tokens = _texts(unpacked_from(archive, files[TOKENS], left)) if TOKENS in files else None
    return Contents(arrays, _are_layers(chosen), tokens, notes=notes)


@contextmanager
def arrays_of_npz(data: bytes) -> Iterator[tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
    """An archive of arrays, open in the block, and its entries by the arrays' names; nothing is unpacked yet.

    Raises:
        ValueError: if it is damaged, has too many entries, or no array.
    """
    if (entries := data.count(b"PK\x01\x02")) > MOST_ENTRIES:
        raise ValueError(f"expected an archive of at most {MOST_ENTRIES:,} arrays, got {entries:,}")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except UNREADABLE:
        raise ValueError("expected a .npz, got an archive that cannot be read: was it cut?") from None
    with archive:
        infos = archive.infolist()
        files = {info.filename.removesuffix(".npy"): info for info in infos if info.filename[-4:] == ".npy"}
        if not files:
            is_torch = any(name.endswith("data.pkl") for name in archive.namelist())
            got = "one of torch.save, a pickle, which could execute anything" if is_torch else "one without any"
            raise ValueError(f"expected an archive with arrays (.npz), got {got}")
        yield archive, files


def unpacked_from(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """The bytes of an archive's entry, which are counted while it is unpacked.

    Raises:
        ValueError: if there are more than `most`, or the entry cannot be read.
    """
    # zipfile bounds what it unpacks at a time of these two alone: of bzip2, 1 kB becomes 1 GB at once.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("expected a .npz as NumPy writes it, stored or deflated; got another compression")
    try:
        with archive.open(info) as file:
            unpacked = file.read(most + 1)
    except UNREADABLE:
        raise ValueError(f"expected a .npz, got one whose “{told(info.filename)}” cannot be read") from None
    if len(unpacked) > most:
        raise ValueError(f"expected a .npz with at most {MOST_UNPACKED:,} bytes unpacked, got more")
    return unpacked


def tensors_of_safetensors(content: bytes) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    """The tensors of a .safetensors by name, and its metadata.

    Raises:
        ValueError: if it is damaged, or holds no tensor.
    """
    length = int.from_bytes(content[:8], "little")
    if length > MOST_METADATA:
        raise ValueError(f"expected a .safetensors whose header has at most {MOST_METADATA:,} bytes, got {length:,}")
    try:
        header = json.loads(content[8 : 8 + length])
        tensors = load(content)
        metadata = header.get("__metadata__") or {}
    # Whatever the library makes of a header that was tampered with.
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, OverflowError) as problem:
        raise ValueError(f"expected a .safetensors file, got one that cannot be read: {told(str(problem))}") from None
    if not tensors:
        raise ValueError("expected a .safetensors with arrays, got one without any")
    # A boolean is a byte, which may hold more than 0 and 1.
    whole = {
        name: array.view(torch.uint8) != 0 if array.dtype == torch.bool else array for name, array in tensors.items()
    }
    return whole, metadata if isinstance(metadata, dict) else {}


def _from_safetensors(content: bytes) -> Contents:
    tensors, metadata = tensors_of_safetensors(content)
    chosen, notes = _chosen(tensors)
    arrays = []
    for name in chosen:
        check_size(tensors[name].shape)
        arrays.append(tensors[name])
    tokens = None
    if TOKENS in metadata:
        try:
            tokens = json.loads(metadata[TOKENS])
        except (ValueError, TypeError, RecursionError):
            got = described(metadata[TOKENS])
            raise ValueError(f"expected tokens in the metadata as a JSON list, got {got}") from None
    return Contents(arrays, _are_layers(chosen), tokens, notes=notes)


def _chosen(names: Iterable[str]) -> tuple[list[str], tuple[str, ...]]:
    """Which of several arrays are the weights: one, or layers in the order of their numbers; and a note on it."""
    names = [name for name in names if name != TOKENS]
    if len(names) == 1:
        return names, ()
    for name in NAMES:
        if name in names:
            return [name], (_told_of(f"“{name}” is read", names, [name]),)
    numbered = [name for name in names if re.search("[0-9]", name)]
    stems = {re.sub("[0-9]+", "#", name) for name in numbered}
    if len(stems) != 1:
        listed = ", ".join(f"“{told(name)}”" for name in sorted(names)[:4]) or "none"
        raise ValueError(
            f"expected one array, one called {', '.join(NAMES[:3])}, or one for each layer, numbered; "
            f"got {len(names):,}: {listed}{', …' if len(names) > 4 else ''}"
        )
    numbers = {tuple(int(digits[:18]) for digits in re.findall("[0-9]+", name)): name for name in numbered}
    ordered = sorted(numbers)
    counting = [column for column in zip(*ordered, strict=True) if len(set(column)) > 1]  # "layers.7.head.1" has two
    is_gapless = len(counting) == 1 and counting[0] == (*range(counting[0][0], counting[0][0] + len(numbered)),)
    if len(numbered) > 1 and not is_gapless:
        first, last = told(numbers[ordered[0]]), told(numbers[ordered[-1]])
        raise ValueError(
            f"expected arrays numbered by layer without a gap, got {len(numbered):,} from “{first}” to “{last}”"
        )
    layers = [numbers[place] for place in ordered]
    first, last = told(layers[0]), told(layers[-1])
    what = f"“{first}” to “{last}” are read, a layer each" if len(layers) > 1 else f"“{first}” is read"
    return layers, (_told_of(what, names, layers),)


def _told_of(what: str, names: Sequence[str], chosen: Sequence[str]) -> str:
    others = sorted(set(names) - set(chosen))
    more = f" and {len(others) - 1:,} more are" if others[1:] else " is"
    return f"Of the file, {what}" + (f"; “{told(others[0])}”{more} not." if others else ".")


def _are_layers(chosen: Sequence[str]) -> bool:
    return len(chosen) > 1 or ("layer" in chosen[0].lower() and re.search("[0-9]", chosen[0]) is not None)


# JSON


def _from_json(content: bytes) -> Contents:
    if len(content) > MOST_JSON:
        raise ValueError(f"expected JSON of at most {MOST_JSON:,} bytes, got {len(content):,}: .npy has room for more")
    if (lists := content.count(b"[") + content.count(b"{")) > MOST_LISTS:
        raise ValueError(f"expected JSON of at most {MOST_LISTS:,} lists, got {lists:,}: .npy has room for more")
    try:
        known = json.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError(f"expected lists within each other, {MOST_AXES} deep at most; got hundreds") from None
    except ValueError as problem:
        raise ValueError(f"expected JSON, got text that cannot be read as such: {told(str(problem))}") from None
    if isinstance(known, list):
        return Contents([from_lists(known)], is_printed=True)
    name = next((name for name in NAMES if name in known), None)
    if name is None:
        listed = ", ".join(f"“{told(key)}”" for key in [*known][:4]) or "nothing"
        raise ValueError(f"expected JSON with {', '.join(NAMES)} or a list alone; got {listed}")
    nested = known[name]
    notes: tuple[str, ...] = ()
    if isinstance(nested, list) and nested and isinstance(nested[0], dict):  # as BertViz hands it to its script
        if len(nested) > 1:
            notes = (f"Of {len(nested):,} kinds of attention in it, the first is read.",)
        known = nested[0]
        nested = known.get("attn")
    if not isinstance(nested, list):
        raise ValueError(f"expected lists of numbers under “{name}”, got {described(nested)}")
    return Contents([from_lists(nested)], tokens=_tokens_in(known), is_printed=True, notes=notes)


def _tokens_in(known: Mapping[str, Any]) -> object:
    """The tokens beside the weights; BertViz names them twice, of queries and of keys."""
    left, right = known.get("left_text"), known.get("right_text")
    if left is not None and right is not None and left != right:
        raise ValueError("expected self-attention, the same tokens as queries and keys; got others: cross-attention")
    tokens: object = known.get(TOKENS, right if left is None else left)
    return tokens
