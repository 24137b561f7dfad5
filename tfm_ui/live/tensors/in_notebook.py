"""Tensors of a step as code for a notebook: what a pass has recorded, and plain torch from there to what is wanted."""

import inspect
from collections.abc import Mapping, Sequence

from tfm_ui.live.tensors.page import plain_source, shape_of, told
from tfm_ui.live.tensors.plain import FUNCTIONS
from tfm_ui.live.tensors.step import WORD, Step


def lines(step: Step, wanted: Sequence[str], sources: Mapping[str, str]) -> str:
    """The code that makes tensors of a step, and all that these are made from; "" if one of those comes from nowhere.

    Args:
        step: the step.
        wanted: the names of tensors in it.
        sources: name -> the expression of a tensor that is given, or was recorded; where a tensor can be computed, it
            is.
    """
    by_name = {tensor.name: tensor for tensor in step.tensors}

    def made(name: str, before: Mapping[str, str]) -> Mapping[str, str] | None:
        """What is made before, and this tensor with all that it needs; None if that cannot be."""
        if name in before:
            return before
        tensor, done = by_name[name], before
        for word in WORD.findall(tensor.code):
            if word in by_name:
                more = made(word, done)
                if more is None:
                    break
                done = more
        else:
            if tensor.code:
                return {**done, name: tensor.code}
        return {**before, name: sources[name]} if name in sources else None

    code: Mapping[str, str] | None = {}
    for name in wanted:
        code = made(name, code) if name in by_name and code is not None else None
    if not code:
        return ""
    words = {word for line in code.values() for word in WORD.findall(line)}
    functions = [plain_source(inspect.getsource(each)).strip() for name, each in FUNCTIONS.items() if name in words]
    constants = [f"{name} = {number!r}" for name, number in step.constants.items() if name in words]
    tensors = [
        line
        for name, tensor in by_name.items()
        if name in code
        for line in (f"# {' '.join(tensor.about.split())}", *told(f"{name} = {code[name]}", shape_of(tensor)))
    ]
    return "\n\n\n".join([*functions, "\n".join([*constants, *tensors])])


def after(begin: str, code: str) -> str:
    """A script that imports torch, and lines that come after it, with what these need imported at the top."""
    if "F." in code:
        begin = begin.replace("import torch\n", "import torch\nimport torch.nn.functional as F\n", 1)
    return f"{begin}\n\n{code}"
