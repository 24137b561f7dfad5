"""A step to take along: its tensors by name, in the order of computing, and files of them. Pure.

A `Step` is a list of `Named`. Each tells its shape at once and its numbers when they are asked for; most tell, too, how
plain torch makes them from those before, of which `page.py` writes a page that everybody can run.
"""

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save
from torch import Tensor

from tfm_ui.settings import SETTINGS
from tfm_ui.text import formats, units

# Bytes of the tensors in one file. A file is held by the server until its visitor leaves, and twice while it is made.
MOST = min(2**26, SETTINGS.picture_bytes // 12)
WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # a name in code, and no attribute of another


@dataclass(frozen=True)
class Named:
    """A tensor of a step.

    Attributes:
        name: an identifier, alone in its step.
        axes: the names of its axes in the words of the glossary; () for a single number.
        shape: how long each axis is.
        about: what it is, in a few words.
        numbers: what makes the numbers, of this shape.
        code: an expression of plain torch that makes it from the tensors before it; "" if it is given.
        dtype: of the numbers.
        spare: whether it is left out before all others where a file has no room, as its code makes it again at once.
    """

    name: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    about: str
    numbers: Callable[[], Tensor]
    code: str = ""
    dtype: torch.dtype = torch.float32
    spare: bool = False

    def __post_init__(self) -> None:
        if len(self.axes) != len(self.shape):
            raise ValueError(f"{self.name}: expected an axis for each of {self.shape}, got {self.axes}")

    @property
    def size(self) -> int:
        """Its bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def shape_in_words(self) -> str:
        """ "head × query × key = 4 × 6 × 6"; "a number"."""
        if not self.axes:
            return "a number"
        return f"{' × '.join(self.axes)} = {' × '.join(formats.count(length) for length in self.shape)}"

    def array(self) -> NDArray[Any]:
        """The numbers, in one piece.

        Raises:
            ValueError: if they are not what the shape says.
        """
        made = self.numbers().detach()
        if tuple(made.shape) != self.shape or made.dtype != self.dtype:
            raise ValueError(f"{self.name}: expected {self.dtype} {self.shape}, got {made.dtype} {tuple(made.shape)}")
        return np.asarray(made.numpy(), order="C")


def held(name: str, axes: Sequence[str], tensor: Tensor | NDArray[Any], about: str, code: str = "") -> Named:
    """A tensor whose numbers are there already."""
    values = tensor if isinstance(tensor, Tensor) else torch.from_numpy(np.array(tensor))
    return Named(name, tuple(axes), tuple(values.shape), about, lambda: values, code, values.dtype)


@dataclass(frozen=True)
class Step:
    """The tensors of a step.

    Attributes:
        title: what is computed, as a heading.
        tensors: those of it, in the order of computing.
        constants: the plain numbers that the code of these tensors names.
        note: what is to be said beside them, such as why some are taken as they are; "" if nothing.
        most: the bytes that a file may hold.
    """

    title: str
    tensors: Sequence[Named]
    constants: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    most: int = MOST

    def __post_init__(self) -> None:
        names = [tensor.name for tensor in self.tensors]
        if len(set(names)) < len(names):
            raise ValueError(f"expected names that differ, got {names}")

    @cached_property
    def kept(self) -> list[Named]:
        """Those in the files: as many as have room there, the small ones first and the spare ones last; in the order
        of computing.
        """
        room, names = self.most, set[str]()
        for tensor in sorted(self.tensors, key=lambda each: (each.spare, each.size)):
            room -= tensor.size
            if room >= 0:
                names.add(tensor.name)
        return [tensor for tensor in self.tensors if tensor.name in names]

    @cached_property
    def left_out(self) -> list[Named]:
        """Those that the files have no room for."""
        return [tensor for tensor in self.tensors if tensor not in self.kept]

    @cached_property
    def computed(self) -> list[Named]:
        """Those that plain torch makes from the ones before: all that their code names is there."""
        there, names = {tensor.name for tensor in self.kept}, {tensor.name for tensor in self.tensors}
        computed = []
        for tensor in self.tensors:
            if tensor.code and set(WORD.findall(tensor.code)) & names <= there:
                computed.append(tensor)
                there.add(tensor.name)
        return computed

    def also(self, *tensors: Named, note: str = "") -> "Step":
        """The same with more tensors at the end, and with more to be said."""
        return replace(self, tensors=[*self.tensors, *tensors], note=" ".join(filter(None, [self.note, note])))

    def why_left_out(self) -> str:
        """What is not in the files, and why, in a sentence; "" if everything is."""
        if not self.left_out:
            return ""
        named = formats.listed([f"{each.name} ({units.bytes_of(each.size)})" for each in self.left_out])
        made = [each for each in self.left_out if each in self.computed]
        missing = [each.name for each in self.left_out if each not in self.computed]
        sentences = [f"A file holds at most {units.bytes_of(self.most)} of tensors, so it leaves out {named}."]
        if made and missing:
            sentences.append(f"The page in torch computes {formats.listed([each.name for each in made])}.")
        elif made:
            sentences.append(f"The page in torch computes {'it' if len(made) == 1 else 'them'}.")
        return " ".join(sentences)

    def npz(self) -> bytes:
        """The tensors as an archive of NumPy."""
        file, arrays = io.BytesIO(), {tensor.name: tensor.array() for tensor in self.kept}
        np.savez(file, allow_pickle=False, **arrays)
        return file.getvalue()

    def safetensors(self) -> bytes:
        """The same in the format safetensors."""
        return save({tensor.name: tensor.array() for tensor in self.kept})


def beside(title: str, steps: Mapping[str, Step], note: str = "") -> Step:
    """Several steps as one: the names of their tensors end in what tells the steps apart, as in "weights_A".

    Args:
        title: of all.
        steps: end of the names -> step.
        note: what is to be said beside those of the steps.
    """
    tensors, constants = list[Named](), dict[str, float]()
    for end, step in steps.items():
        names = {each.name: f"{each.name}_{end}" for each in step.tensors}
        for name, number in step.constants.items():
            names |= {name: f"{name}_{end}"} if constants.get(name, number) != number else {}
            constants[names.get(name, name)] = number
        tensors += [replace(each, name=names[each.name], code=_renamed(each.code, names)) for each in step.tensors]
    notes = dict.fromkeys([*(step.note for step in steps.values()), note])
    return Step(title, tensors, constants, " ".join(filter(None, notes)))


def _renamed(code: str, names: Mapping[str, str]) -> str:
    return WORD.sub(lambda word: names.get(word[0], word[0]), code)
