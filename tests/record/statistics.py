"""Numbers of any shape as a few statistics that another processor's rounding leaves alone, and their comparison."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

RELATIVE, OF_THE_LARGEST, ABSOLUTE = 1e-4, 1e-5, 1e-7  # what processors may differ in
NOISE = 1e-5  # where nothing is larger, it is rounding noise: of it only the shape is compared
MOST = 40  # entries of a mapping or list that are described one by one
SHORT = 1000  # characters of a text that is kept as it is
LINE = 200  # characters of a text that a difference tells
# Errors of rounding, as in "largest error 1×10⁻⁷", are another on another processor; there they may be just 0.
ROUNDING = re.compile(r"\d+(?:\.\d+)?×10⁻(?:[¹²³]?[⁵-⁹])")
NO_ERROR = re.compile(r"(?<![\d.,×])0(?![\d.,×%])")
NONE_AT_ALL = "none by more than …, which is rounding", "none at all"
GOLDEN = (5**0.5 - 1) / 2

Described = Any  # JSON: statistics, a text, or a mapping of them


def without_rounding(words: str) -> str:
    """A text in which no error of rounding can be told from another, or from 0."""
    return NO_ERROR.sub("…", ROUNDING.sub("…", words)).replace(*NONE_AT_ALL)


def describe(value: Any) -> Described:
    """What is recorded of a value; None for values of no recorded kind."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        if len(value) > MOST:
            return describe(list(value.values()))
        described = {str(key): describe(entry) for key, entry in value.items()}
        return {key: entry for key, entry in described.items() if entry is not None} or None
    if isinstance(value, torch.Tensor):
        return statistics(value.detach().cpu().double().numpy())
    if isinstance(value, bool | int | float | np.number | np.bool_ | np.ndarray):
        array = np.asarray(value)
        return statistics(array.astype(np.float64)) if array.dtype.kind in "biuf" else None
    if isinstance(value, list | tuple):
        return _of_a_list(list(value))
    return None


def _of_a_list(values: list[Any]) -> Described:
    if values and all(isinstance(entry, str) for entry in values):
        return text("\n".join(values))
    if values and all(isinstance(entry, bool | int | float) or entry is None for entry in values):
        return statistics(np.array([np.nan if entry is None else entry for entry in values], np.float64))
    if len(values) > MOST:
        described = [describe(entry) for entry in values]
        return text("\n".join(map(str, described)))
    return describe({str(number): entry for number, entry in enumerate(values)}) if values else None


def text(value: str) -> str:
    """A text, or the beginning and the fingerprint of a long one."""
    if len(value) <= SHORT:
        return value
    return f"{value[:40]}… {len(value)} characters, {hashlib.blake2b(value.encode(), digest_size=6).hexdigest()}"


def statistics(values: np.ndarray) -> dict[str, Any] | float:
    """Shape, how many are no finite numbers, range, mean, mean size, and a projection that tells the order.

    A finite number without a shape is itself.
    """
    flat = values.ravel()
    finite = np.isfinite(flat)
    kept = np.where(finite, flat, 0)
    # Weights between -0.5 and 0.5 that look random, from arithmetic that is the same everywhere.
    weights = (np.arange(flat.size, dtype=np.float64) ** 2 * GOLDEN) % 1 - 0.5
    if not values.shape and finite[0]:
        return float(f"{flat[0]:.7g}")
    described: dict[str, Any] = {"shape": list(values.shape)}
    not_finite = {"nan": np.isnan(flat).sum(), "+inf": np.isposinf(flat).sum(), "-inf": np.isneginf(flat).sum()}
    described |= {name: int(count) for name, count in not_finite.items() if count}
    if finite.any():
        measures = {
            "min": flat[finite].min(),
            "max": flat[finite].max(),
            "mean": kept.mean(),
            "size": np.abs(kept).mean(),
            "order": (kept * weights).mean(),
        }
        described |= {name: float(f"{value:.7g}") for name, value in measures.items()}
    return described


def alike(first: Described, second: Described) -> Described:
    """What of two descriptions is the same; of numbers that differ, the shape."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first if first == second else None
    both = {name: alike(entry, second.get(name)) for name, entry in first.items()}
    return {name: entry for name, entry in both.items() if entry is not None}


def differences(recorded: Described, now: Described, where: str) -> Iterator[str]:
    """What of the recorded is another now, a line each; what is new is no difference."""
    if isinstance(recorded, Mapping) and "shape" in recorded and isinstance(recorded["shape"], list):
        yield from _of_statistics(recorded, now, where)
    elif isinstance(recorded, Mapping):
        if not isinstance(now, Mapping):
            yield f"{where}: was {_short(recorded)}, is {_short(now)}"
            return
        for name, entry in recorded.items():
            if name not in now:
                yield f"{where} / {name}: is gone; it was {_short(entry)}"
            else:
                yield from differences(entry, now[name], f"{where} / {name}")
    elif isinstance(recorded, float | int) and isinstance(now, float | int):
        if abs(recorded - now) > RELATIVE * abs(recorded) + ABSOLUTE and max(abs(recorded), abs(now)) >= NOISE:
            yield f"{where}: was {recorded}, is {now}"
    elif isinstance(recorded, str) and isinstance(now, str):
        if without_rounding(recorded) != without_rounding(now):
            was, is_now = _apart(recorded, now)
            yield f"{where}: was {_short(was)}, is {_short(is_now)}"
    elif isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for number, (was, is_now) in enumerate(zip(recorded, now, strict=True), 1):
            yield from differences(was, is_now, f"{where} / {number}")
    elif recorded != now:
        yield f"{where}: was {_short(recorded)}, is {_short(now)}"


def _of_statistics(recorded: Mapping[str, Any], now: Described, where: str) -> Iterator[str]:
    if not isinstance(now, Mapping) or not isinstance(now.get("shape"), list):
        yield f"{where}: was numbers {_short(recorded)}, is {_short(now)}"
        return
    exact = ("shape", "nan", "+inf", "-inf")
    measures = [name for name in recorded if name not in exact]
    largest = max((abs(recorded[name]) for name in ("min", "max") if name in recorded), default=0)
    largest_now = max((abs(now[name]) for name in ("min", "max") if name in now), default=0)
    for name in exact:
        if recorded.get(name, 0) != now.get(name, 0):
            yield f"{where}: {name} was {recorded.get(name, 0)}, is {now.get(name, 0)}"
            return  # then all else is another, too
    if max(largest, largest_now) < NOISE:
        return
    for name in measures:
        bound = RELATIVE * abs(recorded[name]) + OF_THE_LARGEST * largest + ABSOLUTE
        if name not in now or abs(recorded[name] - now[name]) > bound:
            yield f"{where}: {name} was {recorded[name]}, is {now.get(name)}"


def _apart(recorded: str, now: str) -> tuple[str, str]:
    """Two texts from a little before where they part; short ones whole."""
    if max(len(recorded), len(now)) <= LINE:
        return recorded, now
    parts = (at for at, (before, after) in enumerate(zip(recorded, now, strict=False)) if before != after)
    begin = max(0, next(parts, min(len(recorded), len(now))) - 40)
    first, second = ("…" * bool(begin) + value[begin : begin + LINE] for value in (recorded, now))
    return first, second


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 2 * LINE else shown[: 2 * LINE] + "…"
