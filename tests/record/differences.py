"""The comparison of two descriptions (statistics.py): a line for each difference that rounding does not explain."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from tests.record.statistics import Described, without_rounding

RELATIVE, OF_THE_LARGEST, ABSOLUTE = 1e-4, 1e-5, 1e-7  # what processors may differ in
NOISE = 3e-5  # where nothing is larger, it is rounding noise, as of logits near 20: of it only the shape is compared
HUGE, OF_POWER = 1e30, 0.1  # what explodes so far multiplies errors of rounding, too: its powers of ten are compared
EXACT = ("shape", "nan", "+inf", "-inf")  # of statistics: they depend on no processor
LINE = 200  # characters of a text that a difference tells


def alike(first: Described, second: Described) -> Described:
    """What of two descriptions is the same; None if nothing is. If numbers differ, it is their shape."""
    if first == second:
        return first
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        are_numbers = _are_numbers(first) and _are_numbers(second)
        return {"shape": [len(first)]} if are_numbers else list(map(alike, first, second))
    if not isinstance(first, dict) or not isinstance(second, dict):
        return None
    if _are_statistics(first):
        return {"shape": first["shape"]} if first["shape"] == second.get("shape") else None
    both = {name: alike(entry, second.get(name)) for name, entry in first.items()}
    return {name: entry for name, entry in both.items() if entry is not None} or None


def differences(recorded: Described, now: Described, where: str) -> Iterator[str]:
    """What of the recorded is another now, is gone, or is new, a line each."""
    if _are_statistics(recorded) and _are_statistics(now):
        yield from _of_statistics(recorded, now, where)
    elif isinstance(recorded, Mapping) and isinstance(now, Mapping):
        for name, entry in recorded.items():
            if name in now:
                yield from differences(entry, now[name], f"{where} / {name}")
            else:
                yield f"{where} / {name}: is gone; it was {_short(entry)}"
        yield from (f"{where} / {name}: is new: {_short(now[name])}" for name in now if name not in recorded)
    elif _is_number(recorded) and _is_number(now):
        if _differ(recorded, now) and not _are_noise(recorded, now):
            yield f"{where}: was {recorded}, is {now}"
    elif isinstance(recorded, str) and isinstance(now, str):
        if without_rounding(recorded) != without_rounding(now):
            was, is_now = _apart(recorded, now)
            yield f"{where}: was {_short(was)}, is {_short(is_now)}"
    elif isinstance(recorded, list) and isinstance(now, list):
        yield from _of_lists(recorded, now, where)
    elif type(recorded) is not type(now) or recorded != now:
        yield f"{where}: was {_short(recorded)}, is {_short(now)}"


def _of_lists(recorded: list[Any], now: list[Any], where: str) -> Iterator[str]:
    if len(recorded) != len(now):
        yield f"{where}: was {_short(recorded)}, is {_short(now)}"
    elif _are_numbers(recorded) and _are_numbers(now):
        yield from _of_numbers(recorded, now, where)
    else:
        for number, (was, is_now) in enumerate(zip(recorded, now, strict=True), 1):
            yield from differences(was, is_now, f"{where} / {number}")


def _of_statistics(recorded: Mapping[str, Any], now: Mapping[str, Any], where: str) -> Iterator[str]:
    for name in EXACT:
        if recorded.get(name, 0) != now.get(name, 0):
            yield f"{where}: {name} was {recorded.get(name, 0)}, is {now.get(name, 0)}"
            return  # then all else is another, too
    if recorded.keys() != now.keys():
        yield f"{where}: was {_short(recorded)}, is {_short(now)}"
        return
    if max(_largest(recorded), _largest(now)) < NOISE:
        return
    for name in recorded:
        if name in ("few", "values"):
            yield from _of_numbers(recorded[name], now[name], f"{where} / {name}", _largest(recorded))
        elif name not in EXACT and _differ(recorded[name], now[name], _largest(recorded)):
            yield f"{where}: {name} was {recorded[name]}, is {now[name]}"


def _of_numbers(recorded: list[Any], now: list[Any], where: str, largest: float = 0) -> Iterator[str]:
    """Numbers one by one; `largest` is the size of the largest of all, if these are but some of them."""
    largest = max([largest, *map(_size, recorded)])
    pairs = list(zip(recorded, now, strict=True))
    is_noise = max([largest, *map(_size, now)]) < NOISE
    if any(_differ(was, is_now, largest) and not (is_noise and _are_noise(was, is_now)) for was, is_now in pairs):
        yield f"{where}: was {_short(recorded)}, is {_short(now)}"


def _are_noise(recorded: float | str, now: float | str) -> bool:
    """Whether both are finite and so small that they are an error of rounding."""
    return not isinstance(recorded, str) and not isinstance(now, str) and max(abs(recorded), abs(now)) < NOISE


def _differ(recorded: float | str, now: float | str, largest: float = 0) -> bool:
    if isinstance(recorded, str) or isinstance(now, str):
        return recorded != now
    if min(abs(recorded), abs(now)) > HUGE:
        return abs(math.log10(abs(now)) - math.log10(abs(recorded))) > OF_POWER * math.log10(abs(recorded))
    return abs(recorded - now) > RELATIVE * abs(recorded) + OF_THE_LARGEST * largest + ABSOLUTE


def _largest(described: Mapping[str, Any]) -> float:
    shown = [described[name] for name in ("min", "max") if name in described]
    return max(map(_size, [*shown, *described.get("values", [])]), default=0)


def _size(value: float | str) -> float:
    return 0 if isinstance(value, str) else abs(value)


def _is_number(value: Any) -> bool:
    """Whether it is a number, or a text that stands for what is no finite number."""
    return (isinstance(value, int | float) and not isinstance(value, bool)) or value in ("nan", "+inf", "-inf")


def _are_numbers(values: list[Any]) -> bool:
    return all(map(_is_number, values))


def _are_statistics(value: Any) -> bool:
    """Whether it is what statistics.py makes of an array; its shape may be all that is kept of it."""
    return isinstance(value, Mapping) and isinstance(value.get("shape"), list)


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
