"""A step as a page of plain torch: it reads the file of tensors beside it and makes each again from those before."""

import inspect
import textwrap
from collections.abc import Sequence

from tfm_ui.live.tensors.plain import FUNCTIONS
from tfm_ui.live.tensors.step import WORD, Named, Step

WIDTH, LONGEST = 100, 120  # characters of a line: of prose, and of code
AXES = {
    "batch": "texts side by side",
    "layer": "layers, from the first",
    "query": "tokens that look",
    "key": "tokens that are looked at",
    "token": "tokens of one text",
    "position": "places in a text, from 0",
    "d_model": "width of the residual stream",
    "head": "heads, from the first",
    "kv_head": "heads of keys and values, each shared by several heads",
    "head_dim": "d_model / num_heads, the papers' d_k",
    "d_ff": "hidden units of the feed-forward network",
    "vocab": "token ids",
    "distance": "key - query in tokens, the furthest back first",
    "pair": "pairs of dimensions that turn together",
}
TOP = '''"""{about}
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

FILE = "{file}"
folder = Path(__file__).parent if "__file__" in globals() else Path()
if not (folder / FILE).is_file():
    raise SystemExit(f"Expected the file {{FILE}} in the folder {{folder.resolve()}}: download it there, too.")
saved = {{name: torch.from_numpy(numbers) for name, numbers in np.load(folder / FILE).items()}}


def check(name, made):
    """Whether what was made here is what was saved, to the rounding of float32."""
    kept = saved[name]
    assert made.shape == kept.shape, f"{{name}}: expected {{tuple(kept.shape)}}, got {{tuple(made.shape)}}"
    finite = kept.isfinite()
    off = (made[finite].double() - kept[finite].double()).abs().max().item() if finite.any() else 0.0
    largest = kept[finite].double().abs().max().item() if finite.any() else 0.0
    same = torch.equal(made.isfinite(), finite) and torch.equal(made[~finite], kept[~finite])  # -inf is -inf
    same = same and off <= 1e-4 * largest + 1e-6
    assert same, f"{{name}}: differs from the saved one by up to {{off}}"
    print(f"{{name:<18}} {{str(tuple(made.shape)):<20}} largest difference {{off:.1e}}")

'''


def page(step: Step, file: str) -> str:
    """The page: a script that needs torch and NumPy.

    Args:
        step: what is written down.
        file: the name of the file of `Step.npz`, in the same folder.
    """
    code = [each.code for each in step.computed]
    words = {word for line in code for word in WORD.findall(line)}
    functions = [plain_source(inspect.getsource(made)) for name, made in FUNCTIONS.items() if name in words]
    constants = [f"{name} = {number!r}" for name, number in step.constants.items() if name in words]
    lines = list[str]()
    for line in (line for tensor in step.tensors for line in _lines(step, tensor)):
        lines += [line] if line or (lines and lines[-1]) else []
    top = TOP.format(about=_about(step, file), file=file)
    if "F" not in words:
        top = top.replace("import torch.nn.functional as F\n", "")
    blocks = [top, *functions, "\n".join([*constants, *[""] * bool(constants), *lines])]
    return "\n\n\n".join(block.strip("\n") for block in blocks) + "\n"


def plain_source(function: str) -> str:
    """The code of a function without its types, which say nothing that its docstring does not."""
    return function.replace(": Tensor", "").replace(" -> Tensor", "").replace(": int", "").replace(": list[Tensor]", "")


def _about(step: Step, file: str) -> str:
    """What stands at the top: what is computed, what is needed, the axes, what was left out."""
    named = {part for tensor in step.tensors for axis in tensor.axes for part in WORD.findall(axis)}
    axes = [f"    {axis:<9} {meaning}" for axis, meaning in AXES.items() if axis in named]
    parts = [
        f"{_quoted(step.title)}, in plain torch.",
        f"Needs torch and NumPy, and {file} in the same folder. Each tensor is made from those before it, and compared "
        "with the saved one. Weights are (out, in), as in nn.Linear: y = x @ W.T + b.",
        _quoted(step.note),
        step.why_left_out(),
    ]
    paragraphs = ["\n".join(textwrap.wrap(part, WIDTH)) for part in parts if part]
    return "\n\n".join([*paragraphs, *(["The axes:\n\n" + "\n".join(axes)] if axes else [])])


def _quoted(text: str) -> str:
    """Text as it may stand in a docstring."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _lines(step: Step, tensor: Named) -> Sequence[str]:
    """What the page says of a tensor: given ones stand close together, each computed one stands alone."""
    about = " ".join(tensor.about.split())
    if tensor in step.computed:
        check = [f'check("{tensor.name}", {tensor.name})'] * (tensor in step.kept)
        return ["", f"# {about}", *told(f"{tensor.name} = {tensor.code}", shape_of(tensor)), *check, ""]
    if tensor in step.kept:
        return told(f'{tensor.name} = saved["{tensor.name}"]', f"{shape_of(tensor)}: {about}")
    return [f"# {tensor.name}, {about}, is too large for the file: it is missing here."]


def told(line: str, comment: str) -> list[str]:
    """A line of code and its comment, which stands above it where both together are too long."""
    together = f"{line}  # {comment}"
    return [together] if len(together) <= LONGEST else [f"# {comment}", line]


def shape_of(tensor: Named) -> str:
    """ "(head, query, key) = (4, 6, 6)"."""
    names, lengths = ", ".join(tensor.axes), ", ".join(map(str, tensor.shape))
    return f"({names}) = ({lengths})" if tensor.axes else "a number"
