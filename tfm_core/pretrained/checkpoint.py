"""A checkpoint as Hugging Face's libraries write it: a folder is opened, and it is told what lies in it.

    checkpoint = open_checkpoint(Path("some/folder"))
    checkpoint.shapes  # of all tensors, before any is read
    checkpoint.tensors["wte.weight"]  # a view of the mapped file

Nothing in a folder is executed, and no size that it names is believed. The library safetensors checks that the tensors
of a file fill it without gaps or overlaps; what it lets through and no model needs is refused here. A file must not be
cut while its tensors are in use, as they are its memory: replace it as a whole.
"""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

CONFIG, WEIGHTS, INDEX, TOKENIZER = "config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json"
MOST_CONFIG = 1_000_000  # bytes; those of large models have 5,000
MOST_DEPTH = 40  # of objects and lists inside each other: others handle them by recursion
MOST_HEADER = 2**24  # bytes of a file's header, or of an index: those of the most tensors have 12 million
MOST_TENSORS = 100_000  # in all files together; models of hundreds of layers and experts have as many
MOST_SHARDS = 1000  # each is mapped, and a process may have some 65,000 mappings
MOST_AXES = 8
MOST_NESTED = 1000  # objects and lists in an index, which has two
LENGTH = 8  # bytes that say how long the header is

FLOATS = frozenset({"F64", "F32", "F16", "BF16"})
WHOLE = frozenset({"BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64"})  # masks and positions, not weights
POINTER = b"version https://git-lfs"  # begins what Git LFS leaves in place of a file that was not fetched

# What a failure of the library means, by words of its message.
EXPECTED = {
    "unknown variant": f"dtypes among {', '.join(sorted(FLOATS | WHOLE))}",
    "in header": "a header in JSON that tells dtype, shape and data_offsets of each tensor",
    "invalid offset": "the numbers of each tensor to begin where those before it end",
    "not fully covered": "the numbers of the last tensor to end where the file ends",
    "invalid shape": "as many bytes of each tensor as its shape and dtype take",
    "overflow": "as many bytes of each tensor as its shape and dtype take",
}

CONVERT = (
    'import transformers; name = transformers.AutoConfig.from_pretrained("OLD").architectures[0]; '
    'getattr(transformers, name).from_pretrained("OLD"{}).save_pretrained("NEW"{}) '
    "(and copy tokenizer.json to the new folder)"
)
PICKLED = "is pickled: to open it can run code, so it is never read. If you trust it, convert it with transformers: "
OLDER = "is never read: it may run code, too. If you trust it, convert it with a transformers below 5: "
NEVER_READ = {
    **{ending: PICKLED + CONVERT.format("", "") for ending in (".bin", ".pt", ".pth", ".ckpt")},
    ".h5": OLDER + CONVERT.format(", from_tf=True", ", safe_serialization=True"),
    ".msgpack": OLDER + CONVERT.format(", from_flax=True", ", safe_serialization=True"),
}


@dataclass(frozen=True)
class Checkpoint:
    """What lies in a folder.

    Attributes:
        config: what its config.json says.
        tensors: by the checkpoint's own names, in the order of the files. Each is got when it is asked for, as a view
            of the mapped file, whose pages all processes share.
        files: the same names -> the file that a tensor lies in, for errors.
        shapes: the same names -> the tensor's shape, as the header tells it.
        tokenizer: its tokenizer.json; None without one.
    """

    config: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    files: Mapping[str, Path]
    shapes: Mapping[str, tuple[int, ...]]
    tokenizer: Path | None


def open_checkpoint(folder: Path) -> Checkpoint:
    """What lies in a folder: config.json, and model.safetensors or else the shards that its index names.

    No numbers are read, so none is looked at: `check_finite` does that, tensor by tensor.

    Raises:
        ValueError: naming the file, what was expected and what came.
    """
    if not folder.is_dir():
        raise ValueError(f"expected a folder with {CONFIG} and {WEIGHTS}; got {str(folder)!r:.200}")
    config = _object(_content(folder / CONFIG, MOST_CONFIG), CONFIG, MOST_CONFIG)
    shard_of = None
    if os.path.lexists(folder / WEIGHTS):
        paths = [folder / WEIGHTS]
    elif os.path.lexists(folder / INDEX):
        shard_of = _shard_of_each(folder / INDEX)
        paths = [folder / shard for shard in dict.fromkeys(shard_of.values())]
    else:
        raise no_weights((path.name for path in folder.iterdir()), folder.name)
    tensors: dict[Path, Callable[[str], Tensor]] = {}
    files: dict[str, Path] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for path in paths:
        tensors[path], inside = _open(path)
        for name, shape in inside.items():
            if shard_of is not None and shard_of.get(name) != path.name:
                where = f"in {shard_of[name]!r:.100} alone" if name in shard_of else "nowhere"
                raise ValueError(
                    f"{path.name}: tensor {name!r:.100}: expected {where}, as {INDEX} has it; got it in this file"
                )
            files[name], shapes[name] = path, shape
    for name, shard in (shard_of or {}).items():
        if name not in files:
            raise ValueError(f"{shard}: tensor {name!r:.100}: expected in this file, as {INDEX} has it; got none")
    tokenizer = folder / TOKENIZER
    return Checkpoint(config, _Mapped(tensors, files), files, shapes, tokenizer if tokenizer.is_file() else None)


def check_finite(name: str, tensor: Tensor, file: str) -> None:
    """Refuse a tensor whose numbers are none that a parameter in float32 can have.

    Args:
        name: the checkpoint's name of it.
        tensor: one of a checkpoint's.
        file: the name of the file that it lies in.

    Raises:
        ValueError: for NaN, infinity, a number that float32 has no place for, or whole numbers, which some have instead
            of weights when they are quantised.
    """
    where = f"{file}: tensor {name!r:.100}"
    if not tensor.is_floating_point():
        raise ValueError(f"{where}: expected floating-point numbers of a parameter; got {tensor.dtype}")
    if not tensor.numel():
        return
    # One pass over the memory, and no second tensor: NaN is both its least and its greatest number.
    least, greatest = (float(extreme) for extreme in tensor.aminmax())
    if not (math.isfinite(least) and math.isfinite(greatest)):
        raise ValueError(f"{where}: expected finite numbers; got NaN or infinity")
    if max(-least, greatest) > torch.finfo(torch.float32).max:
        raise ValueError(f"{where}: expected numbers within float32; got {max(-least, greatest):.1e}")


def no_weights(names: Iterable[str], where: str) -> ValueError:
    """The error that there are no weights which can be read, with what to do about those that are there.

    Args:
        names: of all files.
        where: what holds them, for the sentence.
    """
    files = sorted(names)
    start = f"{where}: expected {WEIGHTS}, or {INDEX} with its shards"
    for ending, why in NEVER_READ.items():
        if fitting := [name for name in files if name.lower().endswith(ending)]:
            # training_args.bin lies beside the weights, and is none
            weights = next((name for name in fitting if "model" in name), fitting[0])
            return ValueError(f"{start}; got {weights!r:.100}, which {why}")
    few = ", ".join(f"{name!r:.60}" for name in files[:5]) or "no files"
    return ValueError(f"{start}; got {few}{f' and {len(files) - 5} more' if len(files) > 5 else ''}")


class _Mapped(Mapping[str, Tensor]):
    """The tensors of opened files by their names."""

    def __init__(self, tensors: Mapping[Path, Callable[[str], Tensor]], files: Mapping[str, Path]) -> None:
        self._tensors, self._files = tensors, files

    def __getitem__(self, name: str) -> Tensor:
        file = self._files[name]
        try:
            tensor = self._tensors[file](name)
        except (SafetensorError, OSError, RuntimeError, TypeError, ValueError) as problem:
            raise ValueError(f"{file.name}: tensor {name!r:.100}: {_refused(problem)}") from problem
        # A header whose length is no multiple of 8 is allowed: computing with such addresses is not everywhere.
        return tensor.clone() if tensor.data_ptr() % tensor.element_size() else tensor

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


# files of tensors


def _open(path: Path) -> tuple[Callable[[str], Tensor], dict[str, tuple[int, ...]]]:
    """What gets a tensor of a file by its name, and the shapes of all, in their order."""
    header = _header(path)
    try:
        tensor: Callable[[str], Tensor] = safe_open(path, framework="pt").get_tensor
    except (SafetensorError, OSError, RuntimeError, TypeError, ValueError) as problem:
        raise ValueError(f"{path.name}: {_refused(problem)}") from problem
    return tensor, _shapes(header, path.name)


def _header(path: Path) -> bytes:
    """The header of a file, whose size nothing in it decides."""
    _check_is_file(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = file.read(len(POINTER))
            length = int.from_bytes(start[:LENGTH], "little")
            if start == POINTER:
                raise ValueError(f"{path.name}: expected tensors; got a pointer of Git LFS to them: run git lfs pull")
            if size < LENGTH or length > size - LENGTH:
                raise ValueError(
                    f"{path.name}: expected a whole file of the format safetensors, here of {LENGTH} + "
                    f"{length:,} bytes or more; got {size:,} bytes"
                )
            if length > MOST_HEADER:
                raise ValueError(f"{path.name}: expected a header of at most {MOST_HEADER:,} bytes; got {length:,}")
            file.seek(LENGTH)
            header = file.read(length)
    except OSError as problem:
        raise ValueError(f"{path.name}: expected a file that can be read; got {problem.strerror}") from problem
    return header


def _shapes(header: bytes, file: str) -> dict[str, tuple[int, ...]]:
    """The shapes of a file's tensors, once the library has accepted the header.

    Of a name that stands there twice the library has either, and it takes any shape whose product is zero.
    """
    known = _object(header, f"{file}: header", 4 * MOST_TENSORS)
    known.pop("__metadata__", None)
    if not 0 < len(known) <= MOST_TENSORS:
        raise ValueError(f"{file}: expected 1 to {MOST_TENSORS:,} tensors; got {len(known):,}")
    shapes = {}
    for name, about in known.items():
        where = f"{file}: tensor {name!r:.100}"
        if not isinstance(about, dict):  # the library takes a list of the three values, too
            raise ValueError(f"{where}: expected an object with dtype, shape and data_offsets; got {about!r:.60}")
        dtype, shape = about["dtype"], tuple(about["shape"])
        if dtype not in FLOATS | WHOLE:
            raise ValueError(f"{where}: expected a dtype among {', '.join(sorted(FLOATS | WHOLE))}; got {dtype!r:.40}")
        if len(shape) > MOST_AXES:
            raise ValueError(f"{where}: expected at most {MOST_AXES} axes; got {len(shape):,}")
        if 0 in shape:
            raise ValueError(f"{where}: expected sizes of at least 1; got {shape}")
        shapes[name] = shape
    return shapes


def _refused(problem: Exception) -> str:
    """The words of the library, after what it has expected."""
    words = str(problem).removeprefix("Error while deserializing header: ")
    expected = next((told for part, told in EXPECTED.items() if part in words), "a file of the format safetensors")
    return f"expected {expected}; got {words!r:.200}"


# files of JSON


def _shard_of_each(index: Path) -> dict[str, str]:
    """The names of all tensors -> the shard that each lies in, directly in the folder."""
    known = _object(_content(index, MOST_HEADER), INDEX, MOST_NESTED)
    shards = known.get("weight_map")
    if not isinstance(shards, dict) or not all(isinstance(shard, str) for shard in shards.values()):
        raise ValueError(f"{INDEX}: weight_map: expected an object of names of files; got {shards!r:.60}")
    if not 0 < len(shards) <= MOST_TENSORS:
        raise ValueError(f"{INDEX}: weight_map: expected 1 to {MOST_TENSORS:,} tensors; got {len(shards):,}")
    files = dict.fromkeys(shards.values())
    if len(files) > MOST_SHARDS:
        raise ValueError(f"{INDEX}: weight_map: expected at most {MOST_SHARDS:,} files; got {len(files):,}")
    for shard in files:
        # No separator and no drive, and so no way out of the folder.
        if not re.fullmatch(r"[\w.-]+\.safetensors", shard, re.ASCII):
            raise ValueError(
                f"{INDEX}: weight_map: expected names of .safetensors files directly in the folder; got {shard!r:.100}"
            )
    return shards


def _content(path: Path, most: int) -> bytes:
    """The bytes of a small file."""
    _check_is_file(path)
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as problem:
        raise ValueError(f"{path.name}: expected a file that can be read; got {problem.strerror}") from problem
    if len(content) > most:
        raise ValueError(f"{path.name}: expected at most {most:,} bytes; got more")
    return content


def _check_is_file(path: Path) -> None:
    """Refuse what is missing, and what would never end, such as a pipe. A link is a file: the hub's cache has them."""
    try:
        got = "" if path.is_file() else "something else of this name" if os.path.lexists(path) else "none"
    except OSError as problem:  # a name that is too long, a folder that is locked
        got = str(problem.strerror)
    if got:
        raise ValueError(f"{path.name:.100}: expected a file of this name in {path.parent.name!r:.100}; got {got}")


def _object(content: bytes, where: str, nested: int) -> dict[str, Any]:
    """The object that JSON describes, in which each name stands once and each number is finite.

    Args:
        content: the JSON.
        where: the file's name, for errors.
        nested: how many objects and lists may be in it: an empty one takes three bytes there, and some sixty in memory.
    """
    expected = f"{where}: expected an object in JSON"
    if content.count(b"{") + content.count(b"[") > nested:
        raise ValueError(f"{expected} with at most {nested:,} objects and lists in it; got more")
    try:
        known = json.loads(content.decode(), object_pairs_hook=_each_once, parse_constant=_finite, parse_float=_finite)
    except UnicodeDecodeError as problem:
        raise ValueError(f"{expected}; got bytes that are no UTF-8, at {problem.start:,}") from problem
    except RecursionError as problem:
        raise ValueError(f"{expected} of at most {MOST_DEPTH} levels; got more") from problem
    except ValueError as problem:
        raise ValueError(f"{expected}; got one that cannot be read: {str(problem)[:200]}") from problem
    if not isinstance(known, dict):
        raise ValueError(f"{expected}; got a {type(known).__name__}")
    level: list[Any] = [known]
    for _ in range(MOST_DEPTH):
        level = [inner for each in level for inner in _inside(each)]
    if level:
        raise ValueError(f"{expected} of at most {MOST_DEPTH} levels; got more")
    return known


def _inside(value: Any) -> Iterable[Any]:
    """The values directly in an object or a list."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of these names and values. JSON allows a name twice, and everyone takes another of its values."""
    known: dict[str, Any] = {}
    for name, value in pairs:
        if name in known:
            raise ValueError(f"the name {name!r:.100} stands twice in the same object")
        known[name] = value
    return known


def _finite(written: str) -> float:
    """The number that is written, where Python takes NaN, too, and makes infinity of 1e999."""
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{written:.40} is no finite number")
    return number
