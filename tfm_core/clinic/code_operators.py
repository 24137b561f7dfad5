"""Python's operators between tensors, arrays and numbers, with what torch says of each; what it refuses is a fault."""

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tfm_core.clinic import code_faults as faults
from tfm_core.clinic import code_torch
from tfm_core.clinic.code_bounds import NotUnderstood, check_together, is_array, is_boolean, is_float, named
from tfm_core.clinic.code_faults import Fault
from tfm_core.clinic.code_names import SCORES

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
JOINING = (ast.BitAnd, ast.BitOr, ast.BitXor)
COMPARING: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
OF_NUMBERS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
TINY = -1e-3  # a negative number above this hides nothing
HALF = 65504  # the end of float16


def unary(node: ast.UnaryOp, x: Any, told: list[Fault]) -> Any:
    """The result of ~, −, + or not; what is wrong with it is added to `told`."""
    if not is_array(x):
        if not isinstance(x, int | float) or type(node.op) not in OF_NUMBERS:
            raise NotUnderstood(f"{faults.code(node)} stands before {named(x)}, which it is not for.")
        return OF_NUMBERS[type(node.op)](x)
    made: Any = x
    match node.op:
        case ast.Invert() if is_float(x):
            told.append(faults.inverted_floats(node))
            made = x == 0
        case ast.Invert():
            if not is_boolean(x):
                told.append(faults.inverted_integers(node))
            made = ~x
        case ast.Not():
            told.append(faults.words_for_signs(node, f"~{faults.grouped(node.operand)}"))
            made = x == 0
        case ast.USub() if is_boolean(x):
            told.append(faults.negated(node, isinstance(x, np.ndarray)))
            made = ~x
        case ast.USub():
            made = -x
    return made


def binary(node: ast.BinOp, left: Any, right: Any, told: list[Fault]) -> Any:
    """The result of an operator between two values; what is wrong with it is added to `told`."""
    if isinstance(node.op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    for each in (left, right):
        if not is_array(each) and not isinstance(each, int | float):
            raise NotUnderstood(f"{faults.code(node)} calculates with {named(each)}; numbers were expected.")
    if not is_array(left) and not is_array(right):
        return _of_numbers(node, left, right)
    numpy = not isinstance(left, Tensor) and not isinstance(right, Tensor)
    if not numpy:
        left, right = (torch.from_numpy(each) if isinstance(each, np.ndarray) else each for each in (left, right))
    if isinstance(node.op, ast.MatMult):
        return _matrix_product(node, left, right)
    if type(node.op) not in BINARY:
        raise NotUnderstood(f"The operator of {faults.code(node)} is not among what a mask is read from.")
    check_together([left, right])
    if isinstance(node.op, ast.Sub) and (is_boolean(left) or is_boolean(right)):
        return _difference(node, left, right, numpy, told)
    if isinstance(node.op, JOINING) and (is_float(left) or is_float(right)):
        told.append(faults.floats_joined(node))
        return BINARY[type(node.op)](left != 0, right != 0)
    made = BINARY[type(node.op)](left, right)
    return _product(node, left, right, made, numpy, told) if isinstance(node.op, ast.Mult) else made


def _matrix_product(node: ast.BinOp, left: Any, right: Any) -> Any:
    if not (isinstance(left, Tensor) and isinstance(right, Tensor)):
        raise NotUnderstood(f"{faults.code(node)} is a matrix product; tensors were expected.")
    product = code_torch.matmul(left, right)
    return product if product.any() else SCORES  # of queries and keys that are zeros


def _of_numbers(node: ast.BinOp, left: float, right: float) -> Any:
    if isinstance(node.op, ast.Pow):
        if abs(left) > 2**16 or abs(right) > 64 or (abs(left) > 1 and abs(right) * math.log2(abs(left)) > 100):
            raise NotUnderstood("A power of small numbers was expected; this would be a large number.")
        return left**right
    if type(node.op) not in BINARY:
        raise NotUnderstood(f"The operator of {faults.code(node)} is not among what a mask is read from.")
    return BINARY[type(node.op)](left, right)


def _difference(node: ast.BinOp, left: Any, right: Any, numpy: bool, told: list[Fault]) -> Any:
    both = is_boolean(left) and is_boolean(right)
    inverts = is_boolean(right) and (not is_array(left) or not is_boolean(left)) and bool(np.all(np.asarray(left) == 1))
    if numpy and not both:
        return left - right  # NumPy makes whole numbers of the booleans
    if not both and not inverts:
        raise NotUnderstood(f"{faults.code(node)} subtracts booleans: torch raises a RuntimeError.")
    told.append(faults.subtracted(node, numpy, inverts))
    return ~right if inverts else left & ~right


def _product(node: ast.BinOp, left: Any, right: Any, made: Any, numpy: bool, told: list[Fault]) -> Any:
    for number, side in ((left, node.left), (right, node.right)):
        if isinstance(number, int | float) and TINY < number < 0:
            told.append(faults.tiny(side, number))
        if isinstance(number, int | float) and HALF < abs(number) < math.inf and made.dtype in HALVES:
            told.append(faults.too_large_for_half(side, raises=False))
    nan = np.isnan(made) if numpy else made.isnan()
    if not bool(nan.any()) or _has_nan(left) or _has_nan(right):
        return made
    place = np.argwhere(np.asarray(nan))[0].tolist()[-2:]
    cell = ", ".join(f"{axis} {i + 1}" for axis, i in zip(("row", "column")[-len(place) :], place, strict=False))
    masked = node.left if is_array(left) and bool(np.any(np.asarray(left) == 0)) else node.right
    told.append(faults.nothing_times_infinity(node, masked, cell, numpy))
    return np.where(nan, np.zeros_like(made), made) if numpy else made.masked_fill(nan, 0)


HALVES = (torch.float16, np.dtype(np.float16))


def _has_nan(x: Any) -> bool:
    return bool(np.isnan(np.asarray(x)).any())


def joined(node: ast.BoolOp, values: Sequence[Any], told: list[Fault]) -> Any:
    """The entries joined by `and` or `or`, which torch refuses between tensors."""
    if not any(map(is_array, values)):
        raise NotUnderstood(f"{faults.code(node)} joins values that are no tensors.")
    conjunction = isinstance(node.op, ast.And)
    wanted = (" & " if conjunction else " | ").join(map(faults.grouped, node.values))
    told.append(faults.words_for_signs(node, wanted))
    made = values[0] != 0
    for each in values[1:]:
        check_together([made, each])
        made = made & (each != 0) if conjunction else made | (each != 0)
    return made


def compared(node: ast.Compare, values: Sequence[Any], told: list[Fault]) -> Any:
    """A comparison of two values, or of more in a chain, which torch refuses."""
    made: Any = None
    for sign, left, right in zip(node.ops, values, values[1:], strict=False):
        if type(sign) not in COMPARING or not all(is_array(x) or isinstance(x, int | float) for x in (left, right)):
            raise NotUnderstood(f"{faults.code(node)} does not compare numbers by ==, !=, <, <=, > or >=.")
        check_together([left, right])
        part = COMPARING[type(sign)](left, right)
        made = part if made is None else made & part
    if len(node.ops) > 1 and is_array(made):
        sides = [node.left, *node.comparators]
        pairs = zip(sides, node.ops, sides[1:], strict=False)
        told.append(
            faults.words_for_signs(
                node, " & ".join(f"({faults.written(ast.Compare(a, [sign], [b]))})" for a, sign, b in pairs)
            )
        )
    elif isinstance(values[1], bool) and is_boolean(values[0]) and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        told.append(faults.compared_with_truth(node, values[1] is isinstance(node.ops[0], ast.NotEq)))
    return made
