"""Bounds of what mask code may make: they are looked at before anything is made."""

import math
from collections.abc import Iterable
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

SIDE = 1024  # numbers along an axis
MOST = 4 * SIDE * SIDE  # numbers in an array
WORK = 6 * MOST  # numbers in all arrays on the way
AXES = 6
INTEGER = 2**63  # what a whole number must stay below

Array = Tensor | np.ndarray[Any, Any]


class NotUnderstood(ValueError):
    """What cannot be read, before its place is known."""


def is_array(value: object) -> TypeGuard[Array]:
    """Whether a value is a tensor or a NumPy array."""
    return isinstance(value, Tensor | np.ndarray)


def is_boolean(value: object) -> bool:
    """Whether a value is an array of booleans."""
    return is_array(value) and value.dtype in (torch.bool, np.dtype(bool))


def is_float(value: object) -> bool:
    """Whether a value is of floats."""
    if isinstance(value, Tensor):
        return value.is_floating_point()
    return value.dtype.kind == "f" if isinstance(value, np.ndarray) else isinstance(value, float)


def numbers_in(value: object) -> int:
    """How many numbers an array holds, or the arrays in a list."""
    if is_array(value):
        return math.prod(value.shape)
    return sum(map(numbers_in, value)) if isinstance(value, list | tuple) else 0


def whole(value: object) -> int:
    """A size as an integer: a number, or a tensor of a single whole number.

    Raises:
        NotUnderstood: for anything else.
    """
    if is_array(value) and math.prod(value.shape) == 1:
        value = value.item()
    if not isinstance(value, int) or isinstance(value, bool):
        raise NotUnderstood(f"A whole number was expected as a size; {named(value)} stands there.")
    return value


def shape_of(*sizes: object) -> tuple[int, ...]:
    """A shape, written as numbers or as a single tuple or list of them.

    Raises:
        NotUnderstood: for a negative or too large size, or too many numbers in all.
    """
    listed: Iterable[object] = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], list | tuple) else sizes
    shape = tuple(whole(size) for size in listed)
    for size in shape:
        if not 0 <= size <= SIDE:
            raise NotUnderstood(f"A size from 0 to {SIDE:,} was expected; {size:,} stands there.")
    check_count(math.prod(shape), len(shape))
    return shape


def check_count(numbers: int, axes: int = 1) -> None:
    """Refuse an array that would be too large.

    Raises:
        NotUnderstood: beyond `MOST` numbers or `AXES` axes.
    """
    if numbers > MOST:
        raise NotUnderstood(f"At most {MOST:,} numbers are made at a time; this would be {numbers:,}.")
    if axes > AXES:
        raise NotUnderstood(f"At most {AXES} axes are read; this would be {axes:,}.")


def check_together(values: Iterable[object]) -> None:
    """Refuse arrays that would become too large when they are broadcast with each other."""
    shapes = [tuple(value.shape) for value in values if is_array(value)]
    if len(shapes) > 1:
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:  # the function itself says what does not fit, or needs no fit
            return
        check_count(math.prod(shape), len(shape))


def check_number(value: object) -> None:
    """Refuse whole numbers that no tensor holds."""
    if isinstance(value, int) and abs(value) >= INTEGER:
        raise NotUnderstood("A whole number below 2⁶³ was expected; a larger number stands there.")


def named(value: object) -> str:
    """What a value is, for a sentence."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, int | float | str | bool) or value is None:
        return f"“{str(value)[:20]}”"
    if isinstance(value, torch.dtype | type):
        return "a dtype"
    return {tuple: "a tuple", list: "a list", slice: "a slice"}.get(type(value), "something else")
