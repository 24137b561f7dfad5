"""Faults of mask code as findings: their places in words, and the line as it was meant with the call after it."""

import ast
import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.code_faults import Fault, Place, written
from tfm_core.clinic.code_final import evident
from tfm_core.clinic.code_reader import Text
from tfm_core.clinic.finding import Finding
from tfm_core.clinic.findings_fixes import Axes, fixes

OTHERS = frozenset({"tf", "tensorflow", "jnp", "jax"})  # whose arrays torch's calls do not take


class Computed(NamedTuple):
    """What code makes: its values, whether they are a tensor, what their axes are, and the kinds of faults in it."""

    values: NDArray[Any]
    of_torch: bool
    axes: Axes | None
    topics: frozenset[str]


Compute = Callable[[ast.Module], Computed]


class _Swap(ast.NodeTransformer):
    """Puts other code in a place."""

    def __init__(self, place: Place, meant: str) -> None:
        self.place, self.meant = place, meant

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr) and Place.of(node) == self.place:
            return ast.parse(self.meant, mode="eval").body
        return self.generic_visit(node)


def finding(fault: Fault, topics: frozenset[str], tree: ast.Module, text: Text, compute: Compute) -> Finding:
    """A fault as a finding.

    Args:
        fault: what is wrong.
        topics: the kinds of all faults in the code: a line that has another is not mended.
        tree: of the whole code.
        text: its lines.
        compute: computes the mended code.
    """
    return Finding(
        fault.severity,
        fault.title,
        fault.consequence,
        where=text.place(fault.place.line, fault.place.column),
        fixes=next(filter(None, (_fixes(fault, meant, topics, tree, compute) for meant in fault.meant)), {}),
        topic=fault.topic,
    )


def _fixes(fault: Fault, meant: str, topics: frozenset[str], tree: ast.Module, compute: Compute) -> dict[str, str]:
    """The mended line and the calls; none where the fault is not in the last line, or stays unreadable."""
    last = tree.body[-1]
    if any(isinstance(node, ast.Name) and node.id in OTHERS for node in ast.walk(tree)):
        return {}
    if not isinstance(last, ast.Assign | ast.AnnAssign | ast.Expr) or Place.of(last)[:2] > fault.place[:2]:
        return {}
    swapped: ast.Module = _Swap(fault.place, meant).visit(copy.deepcopy(tree))
    mended = ast.parse(ast.unparse(swapped))
    try:
        values, of_torch, axes, left = compute(mended)
    except ValueError:
        return {}
    if left - (topics - {fault.topic}):
        return {}
    line = mended.body[-1]
    if not isinstance(line, ast.Assign | ast.AnnAssign | ast.Expr) or line.value is None:
        return {}
    made = written(line.value)
    boolean = values.dtype == np.bool_
    if not of_torch:
        made = f"torch.from_numpy({made})" + ("" if boolean else ".float()")
    return fixes(f"mask = {made}", meaning=evident(values), boolean=boolean, axes=axes)
