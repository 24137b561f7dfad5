"""What is recorded of a value: short ones as they are; of long arrays statistics and a few values, of texts a digest.

The statistics and the digests do not depend on the last digits, which are others on another processor.
"""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch

DIGITS = 6  # of each number, significant ones
IN_FULL = 12  # numbers of an array that are all recorded; of a longer one statistics
MOST = 40  # entries of a mapping or list that are described one by one
ALIKE = 4  # mappings with the same keys, from which on they are described key by key, as a table's columns
SHORT = 1000  # characters of a text that is kept as it is
LISTED = 300  # characters of texts in a list that are kept as they are
# Errors of rounding, as in "largest error 1×10⁻⁷", are another on another processor; there they may be just 0. And what
# explodes to 10³⁰ or more multiplies them: it, too, is another there.
ROUNDING = re.compile(r"\d+(?:\.\d+)?×10(?:⁻(?:[¹²³]?[⁵-⁹])|[³⁴-⁹][⁰¹²³⁴-⁹])")
NO_ERROR = re.compile(r"(?<![\d.,×])0(?![\d.,×%])")
NONE_AT_ALL = "none by more than …, which is rounding", "none at all"
GOLDEN = (5**0.5 - 1) / 2
SHARED = 2**20  # numbers of an array whose weights are computed once for all

Described = Any  # JSON: a number, a text, statistics, or a list or mapping of them


class NoKind:
    """What stands for a value of no recorded kind, such as a function."""


NO_KIND = NoKind()


def without_rounding(words: str) -> str:
    """A text in which no error of rounding can be told from another, or from 0."""
    return NO_ERROR.sub("…", ROUNDING.sub("…", words)).replace(*NONE_AT_ALL)


def describe(value: Any) -> Described | NoKind:
    """What is recorded of a value; `NO_KIND` for values of no recorded kind."""
    match value:
        case None | bool():
            return value
        case str():
            return text(value)
        case np.generic():
            return describe(value.item())
        case int():
            return int(value)
        case float():
            return rounded(value)
        case torch.Tensor():
            return numbers(_array_of(value))
        case np.ndarray():
            return numbers(value) if value.dtype.kind in "biuf" else describe(value.tolist())
        case Mapping() if len(value) > IN_FULL and all(isinstance(entry, torch.Tensor) for entry in value.values()):
            arrays = [_array_of(entry).ravel() for entry in value.values()]  # such as a recording of a whole model
            return {"keys": texts(list(map(str, value))), "all": numbers(np.concatenate(arrays))}
        case Mapping() if len(value) > MOST:
            return of_known({"keys": list(map(str, value)), "values": list(value.values())})
        case Mapping():
            return of_known(value)
        case list() | tuple():
            return _of_a_list(list(value))
    return NO_KIND


def _array_of(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().double().numpy()


def of_known(values: Mapping[Any, Any]) -> dict[str, Described]:
    """A description of each value that is of a recorded kind."""
    described = {str(name): describe(value) for name, value in values.items()}
    return {name: value for name, value in described.items() if value is not NO_KIND}


def _of_a_list(values: list[Any]) -> Described:
    if values and all(isinstance(value, str) for value in values):
        return texts(values)
    if (array := _array(values)) is not None:
        return numbers(array)
    if len(values) >= ALIKE and all(_has_keys_of(values[0], value) for value in values):
        return {"count": len(values), "each": {name: describe([value[name] for value in values]) for name in values[0]}}
    if len(values) > 1 and all(isinstance(value, list | tuple) for value in values):
        rows = [np.zeros(0) if value in ([], ()) else _array(list(value)) for value in values]
        if all(row is not None and row.ndim == 1 for row in rows):
            return {"lengths": numbers(np.array([len(row) for row in rows])), "all": numbers(np.concatenate(rows))}
    if len(values) > MOST:  # numbers apart from words: in a digest their last digits would count
        every = list(_leaves(values))
        are_numbers = [isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in every]
        words = [str(value) for value, is_number in zip(every, are_numbers, strict=True) if not is_number]
        amounts = [float(value) for value, is_number in zip(every, are_numbers, strict=True) if is_number]
        return {"words": text("\n".join(words)), "numbers": numbers(np.array(amounts))}
    return [value for value in map(describe, values) if value is not NO_KIND]


def _leaves(value: Any) -> Iterator[Any]:
    """What is of a recorded kind in a value, in its order, with the names that stand before it."""
    if isinstance(value, torch.Tensor | np.ndarray):
        yield from value.ravel().tolist()
    elif isinstance(value, Mapping):
        for name, entry in value.items():
            yield str(name)
            yield from _leaves(entry)
    elif isinstance(value, list | tuple):
        yield f"{len(value)}:"
        for entry in value:
            yield from _leaves(entry)
    elif value is None or isinstance(value, bool | int | float | str | np.generic):
        yield value


def _has_keys_of(first: Any, value: Any) -> bool:
    return isinstance(first, Mapping) and isinstance(value, Mapping) and first.keys() == value.keys()


def _array(values: list[Any]) -> np.ndarray | None:
    """Numbers, or lists of them that are all of the same length, as an array, with NaN in place of None."""
    if not values or (len(values) <= MOST and all(isinstance(value, bool) for value in values)):
        return None
    if all(value is None or isinstance(value, bool | int | float | np.number) for value in values):
        return np.array([math.nan if value is None else value for value in values], np.float64)
    if all(isinstance(value, list | tuple) and value and len(value) == len(values[0]) for value in values):
        rows = [_array(list(value)) for value in values]
        shapes = {None if row is None else row.shape for row in rows}
        return np.stack(rows) if len(shapes) == 1 and None not in shapes else None
    return None


def text(value: str) -> str:
    """A text without errors of rounding; of a long one the beginning and a digest."""
    value = ROUNDING.sub("…", value)
    return value if len(value) <= SHORT else f"{value[:40]}… {len(value)} characters, {digest(value)}"


def texts(values: Sequence[str]) -> list[str] | str:
    """Texts as they are; of long lists how many they are, the first, the last, and a digest of all."""
    kept = [ROUNDING.sub("…", value) for value in values]
    if sum(map(len, kept)) <= LISTED and len(kept) <= MOST:
        return kept
    first, last = (value if len(value) <= MOST else f"{value[: MOST - 1]}…" for value in (kept[0], kept[-1]))
    return f"{len(kept)} texts: {first} | … | {last}; {digest(chr(10).join(kept))}"


def digest(value: str) -> str:
    """A few characters that are others for any other text, but for errors of rounding."""
    return hashlib.blake2b(without_rounding(value).encode(errors="replace"), digest_size=6).hexdigest()


def rounded(value: float) -> float | int | str:
    """A number with six digits; a whole one without a point, and what is no finite number as a text."""
    if not math.isfinite(value):
        return {math.inf: "+inf", -math.inf: "-inf"}.get(value, "nan")
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


def _weights(count: int) -> np.ndarray:
    """Weights between -0.5 and 0.5 that look random, from arithmetic that is the same everywhere."""
    return _first_weights()[:count] if count <= SHARED else _drawn(count)


@cache
def _first_weights() -> np.ndarray:
    """The weights of all arrays but the longest: those of few numbers are the first of those of more."""
    return _drawn(SHARED)


def _drawn(count: int) -> np.ndarray:
    return (np.arange(count, dtype=np.float64) ** 2 * GOLDEN) % 1 - 0.5


def numbers(values: np.ndarray) -> Described:
    """Few numbers in full, as a list if they have a single axis; else statistics.

    These are the shape, how many are no finite numbers, the range, the mean, the mean size, a projection that tells the
    order; beside them stand the first number, the middle one and the last.
    """
    flat = np.asarray(values, np.float64).ravel()
    if flat.size <= IN_FULL:
        few = [rounded(float(value)) for value in flat]
        return few[0] if not values.shape else few if values.ndim == 1 else {"shape": list(values.shape), "values": few}
    finite = np.isfinite(flat)
    there = flat if finite.all() else flat[finite]
    kept = flat if finite.all() else np.where(finite, flat, 0)
    not_finite = {"nan": np.isnan(flat).sum(), "+inf": np.isposinf(flat).sum(), "-inf": np.isneginf(flat).sum()}
    described: dict[str, Any] = {"shape": list(values.shape)}
    described |= {name: int(count) for name, count in not_finite.items() if count}
    described["few"] = [rounded(float(flat[at])) for at in (0, flat.size // 2, -1)]
    if there.size:
        measures = {
            "min": there.min(),
            "max": there.max(),
            "mean": kept.mean(),
            "size": np.abs(kept).mean(),
            "order": (kept * _weights(flat.size)).mean(),
        }
        described |= {name: rounded(float(measure)) for name, measure in measures.items()}
    return described
