"""Where each tensor of a checkpoint goes in a `Transformer`: the table, and the errors of what does not fit.

A tensor that has no place, and a place for which there is no tensor, are errors that name it: a model that is read only
in part would run, and be another one.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


@dataclass(frozen=True)
class Place:
    """What one of our parameters is made of.

    Attributes:
        theirs: the checkpoint's name of the tensor.
        how: what is done with it; "" if nothing.
        make: the tensor -> the parameter's values, a view where that is possible.
    """

    theirs: str
    how: str = ""
    make: Callable[[Tensor], Tensor] = _as_it_is


class Row(NamedTuple):
    """A line of the table.

    Attributes:
        theirs: the checkpoint's name of a tensor.
        shape: the tensor's.
        ours: our parameter's name; "" of what is left out.
        how: what is done with it, or why it is left out.
    """

    theirs: str
    shape: tuple[int, ...]
    ours: str
    how: str


Places = Mapping[str, Place]
LeftOut = Mapping[str, str]  # pattern of the checkpoint's names -> why these are not read


def transposed(theirs: str) -> Place:
    """The place of a weight that is (inputs, outputs) in the checkpoint, as a Conv1D has it."""
    return Place(theirs, "transposed", lambda tensor: tensor.mT)


def linear(ours: str, theirs: str, *, bias: bool = True) -> dict[str, Place]:
    """The places of a linear map, or of a norm, by the names of the modules."""
    return {f"{ours}.{leaf}": Place(f"{theirs}.{leaf}") for leaf in ("weight", *["bias"] * bias)}


def table(places: Places, shapes: Mapping[str, tuple[int, ...]], left_out: LeftOut, where: str) -> list[Row]:
    """All tensors of a checkpoint in its order, and where each goes.

    Args:
        places: our parameter -> what it is made of.
        shapes: of the tensors, by the checkpoint's names.
        left_out: what is not read.
        where: the file's name, for errors.

    Raises:
        ValueError: for a tensor without a place, or a place without a tensor.
    """
    if missing := [(ours, place.theirs) for ours, place in places.items() if place.theirs not in shapes]:
        ours, theirs = missing[0]
        raise ValueError(f"{where}: expected a tensor {theirs!r} for {ours}{_more(missing)}; got none of that name")
    taken: dict[str, list[str]] = {}
    for ours, place in places.items():
        taken.setdefault(place.theirs, []).append(ours)
    rows = []
    for name, shape in shapes.items():
        why = next((why for pattern, why in left_out.items() if re.fullmatch(pattern, name)), "")
        if name not in taken and not why:
            others = [other for other in shapes if other not in taken and not _is_left_out(other, left_out)]
            raise ValueError(
                f"{where}: expected only tensors that a model of this configuration has; got {name!r}{_more(others)}, "
                "which has no place in it"
            )
        rows += [Row(name, shape, ours, places[ours].how) for ours in taken.get(name, [])] or [
            Row(name, shape, "", f"left out: {why}")
        ]
    return rows


def without_prefix(names: Iterable[str], anchor: str, prefixes: Collection[str], where: str) -> str:
    """The one of these prefixes with which a checkpoint names its tensors, told by a tensor that each has.

    Raises:
        ValueError: if it is there under none of them.
    """
    known = set(names)
    for prefix in prefixes:
        if prefix + anchor in known:
            return prefix
    expected = " or ".join(repr(prefix + anchor) for prefix in prefixes)
    few = ", ".join(repr(name) for name in list(known)[:3])
    raise ValueError(f"{where}: expected a tensor {expected}; got {few or 'no tensors'}")


def _is_left_out(name: str, left_out: LeftOut) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in left_out)


def _more(named: Collection[object]) -> str:
    return f" and {len(named) - 1} more" if len(named) > 1 else ""
