"""Mask code computed without running it: a walk over Python's syntax tree, in which each step is in a table.

Nothing is executed, no attribute is looked up by a name from the text, and sizes are looked at before anything is made.
"""

import ast
import math
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch
from torch import Tensor

from tfm_core.clinic import code_faults as faults
from tfm_core.clinic import code_numpy, code_torch
from tfm_core.clinic import code_operators as operators
from tfm_core.clinic.code_bounds import (
    WORK,
    Array,
    NotUnderstood,
    check_count,
    check_number,
    check_together,
    is_array,
    is_boolean,
    named,
    numbers_in,
)
from tfm_core.clinic.code_faults import Fault
from tfm_core.clinic.code_names import SCORES, SIZE, Standing, UnknownShape, standing

NAMES = {**code_torch.NAMES, **code_numpy.NAMES}
MODULES = {
    "numpy.": "np.",
    "tensorflow.": "tf.",
    "jax.numpy.": "jnp.",
    "torch.nn.functional.": "F.",
    "nn.functional.": "F.",
}
ROOTS = frozenset("torch np numpy tf tensorflow jnp jax nn F math os sys".split())
PLAIN: dict[str, Any] = {"bool": bool, "int": int, "float": float, "inf": math.inf, "nan": math.nan}
DROPPED = frozenset({"device", "requires_grad", "non_blocking", "pin_memory", "memory_format"})
UNKNOWN = (
    "is not among what a mask is read from: constructors such as torch.ones, triu and tril, comparisons, logic, "
    "indexing, where and masked_fill are."
)
RAISED = (TypeError, ValueError, RuntimeError, IndexError, KeyError, AttributeError, ArithmeticError)
TRIANGLES = frozenset({"triu", "tril", "triu_", "tril_"})


class Text(NamedTuple):
    """Lines of code, and how many characters were cut off before each."""

    lines: list[str]
    cut: list[int]

    def place(self, line: int, column: int) -> str:
        """A place in words, counted from 1, of a line from 1 and a column in bytes from 0."""
        before = self.lines[line - 1].encode(errors="replace")[:column].decode(errors="ignore")
        return f"line {line}, column {len(before) + 1 + self.cut[line - 1]}"


class Located(ValueError):
    """What cannot be read, with its place."""


class Reader:
    """Computes expressions of mask code.

    Attributes:
        variables: the values of assigned names.
        notes: by name, what stands for it.
        faults: what is wrong, in the order of the reading.
        triangles: the calls and comparisons that made triangles.
        padding: the parts that put sentences' padding on the query axis.
        on_keys: the parts that put it on the key axis.
        tokens: the comparisons of token ids.
    """

    def __init__(self, tree: ast.AST, text: "Text") -> None:
        self.text = text
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self.variables: dict[str, Any] = {}
        self.notes: dict[str, str] = {}
        self.faults: list[Fault] = []
        self.triangles: list[ast.expr] = []
        self.padding: list[ast.expr] = []
        self.on_keys: list[ast.expr] = []
        self.tokens: list[ast.expr] = []
        self.work = 0

    def refuse(self, node: ast.AST, sentence: str) -> NoReturn:
        """Raise an error at the place of a node."""
        place = self.text.place(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        raise Located(f"{place.capitalize()}: {sentence}")

    def unknown(self, node: ast.AST) -> NoReturn:
        """Raise an error that names what is not understood."""
        self.refuse(node, f"{faults.code(node)} {UNKNOWN}")

    def value(self, node: ast.expr) -> Any:
        """The value of an expression.

        Raises:
            ValueError: with the line and column of the first thing that is not understood.
        """
        try:
            made = self._value(node)
            made = tuple(made) if isinstance(made, torch.Size) else made
            made = np.asarray(made) if isinstance(made, np.generic) else made
            check_number(made)
            if isinstance(made, np.ndarray) and made.dtype.kind not in "biuf":
                raise NotUnderstood("Numbers or booleans were expected; an array of something else would be made.")
            if is_array(made):
                check_count(numbers_in(made), made.ndim)
                self.work += numbers_in(made)
                if self.work > WORK:
                    raise NotUnderstood(f"More than {WORK:,} numbers would be made on the way.")
            return made
        except Located:
            raise
        except NotUnderstood as error:
            self.refuse(node, str(error))
        except RAISED as error:
            first = (str(error).splitlines() or [""])[0][:160]
            self.refuse(node, f"{faults.code(node)} cannot be computed: {first.rstrip('.')}.")

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() | bool() | str() | None):
                return node.value
            case ast.Constant() if node.value is ...:
                return ...
            case ast.Name(id=name):
                return self.variables[name] if name in self.variables else self._name(node, name)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.UnaryOp():
                return operators.unary(node, self.value(node.operand), self.faults)
            case ast.BinOp():
                return self._binary(node)
            case ast.BoolOp():
                return operators.joined(node, [self.value(each) for each in node.values], self.faults)
            case ast.Compare():
                return self._compared(node)
            case ast.Subscript():
                return self._part(node)
            case ast.Tuple(elts=parts):
                return tuple(self._parts(parts))
            case ast.List(elts=parts):
                return self._parts(parts)
            case ast.Slice():
                return slice(*(None if at is None else self.value(at) for at in (node.lower, node.upper, node.step)))
        self.unknown(node)

    def _parts(self, nodes: list[ast.expr]) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                several = self.value(node.value)
                if not isinstance(several, tuple | list):
                    self.unknown(node)
                values += several
            else:
                values.append(self.value(node))
        return values

    # Names

    def _name(self, node: ast.expr, name: str) -> Any:
        if name in PLAIN and isinstance(node, ast.Name):
            return PLAIN[name]
        context = self._context(node)
        stands = standing(name, context)
        if stands is None:
            self.unknown(node)
        return self._noted(node, ast.unparse(node), stands, context)

    def _noted(self, node: ast.expr, written: str, stands: Standing, context: str) -> Any:
        self.notes[written] = f"{written} stands for {stands.said} here."
        if context == "condition" and stands.kind == "mask":
            self.faults.append(faults.unknown_condition(node))
        match self.parents.get(node):
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(), ast.Slice(), ast.Slice(), ast.Slice()])) if (
                stands.kind == "mask"
            ):
                return stands.value[(None,) * (4 - stands.value.dim())]
        return stands.value

    def _context(self, node: ast.expr) -> str:
        """What is done with a name, once it has its shape: see `standing`."""
        below: ast.AST = node
        above = self.parents.get(node)
        while isinstance(above, ast.Subscript | ast.Attribute) and above.value is below:
            call = self.parents.get(above)
            if isinstance(above, ast.Attribute):
                if above.attr in CASTS and isinstance(call, ast.Call):
                    return "inverted"
                if above.attr in ("transpose", "mT", "T") and self._in_a_product(above):
                    return "product"
                if not isinstance(call, ast.Call):
                    return ""
                above = call
            below, above = above, self.parents.get(above)
        match above:
            case ast.BinOp(op=ast.MatMult()):
                return "product"
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div()):
                return "arithmetic"
            case ast.Compare():
                return "compared"
            case ast.UnaryOp():
                return "joined" if below is node and _joins(self.parents.get(above)) else "inverted"
            case _ if below is node and _joins(above):
                return "joined"
            case ast.Call(func=ast.Attribute(attr="masked_fill" | "masked_fill_"), args=[first, *_]) if first is below:
                return "condition"
            case ast.Call(func=ast.Attribute(attr="equal" | "not_equal" | "eq" | "ne")):
                return "compared"
        return ""

    def _in_a_product(self, node: ast.AST) -> bool:
        above = self.parents.get(node)
        above = self.parents.get(above) if isinstance(above, ast.Call) else above
        return isinstance(above, ast.BinOp) and isinstance(above.op, ast.MatMult)

    def _dotted(self, node: ast.expr) -> str:
        """A name with dots, such as "torch.nn.Transformer", or "" for another expression or an assigned name."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.variables:
            return ""
        dotted = ".".join([node.id, *reversed(parts)])
        for written, short in MODULES.items():
            if dotted.startswith(written):
                return short + dotted.removeprefix(written)
        return dotted

    def _attribute(self, node: ast.Attribute) -> Any:
        dotted = self._dotted(node)
        if dotted in NAMES:
            return NAMES[dotted]
        root = dotted.partition(".")[0]
        if root in ROOTS:
            self.unknown(node)
        if node.attr == "data":  # of old torch: the tensor itself
            return self.value(node.value)
        if dotted and node.attr == "device":
            return code_torch.DEVICE
        if node.attr == "shape" and (self._nameless(node.value) or self._counted(node.value)):
            return UnknownShape()
        if self._nameless(node.value):
            if node.attr == "dtype":
                return torch.float32
            stands = standing(node.attr, context := self._context(node))
            if stands is None or "__" in dotted:
                self.unknown(node)
            return self._noted(node, ast.unparse(node), stands, context)
        base = self.value(node.value)
        if isinstance(base, torch.finfo | torch.iinfo | np.finfo | np.iinfo) and node.attr in ("min", "max"):
            return float(base.min if node.attr == "min" else base.max)
        if base is SCORES and node.attr == "shape":
            return UnknownShape()
        table: dict[str, Callable[[Any], Any]] = {}
        if isinstance(base, Tensor):
            table = dict(code_torch.ATTRIBUTES)
        elif isinstance(base, np.ndarray):
            table = dict(code_numpy.ATTRIBUTES)
        if node.attr not in table:
            self.unknown(node)
        return table[node.attr](base)

    def _nameless(self, node: ast.expr) -> bool:
        """Whether an expression is a name, with dots or without, that has no value and nothing stands for."""
        dotted = self._dotted(node)
        if not dotted or dotted in NAMES or dotted.partition(".")[0] in ROOTS:
            return False
        stands = standing(dotted.rpartition(".")[2])
        return stands is None or stands.kind in ("size", "pad id")

    # Calls

    def _call(self, node: ast.Call) -> Any:
        function, name, given = self._function(node)
        if name == "len" and self._counted(node.args[0]):
            return SIZE
        positional = [*given, *self._parts(node.args)]
        keywords = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is None or keyword.arg == "out":
                self.unknown(node)
            if keyword.arg not in DROPPED:
                keywords[keyword.arg] = value
        positional, keywords = self._dtypes(node, name, positional, keywords)
        check_together([*positional, *keywords.values()])
        self._conditions(node, name, len(given), positional, keywords)
        if any(isinstance(each, np.ndarray) for each in positional) and function in code_torch.ELEMENTWISE.values():
            positional = [torch.from_numpy(each) if isinstance(each, np.ndarray) else each for each in positional]
        made = function(*positional, **keywords)
        if isinstance(made, tuple) and type(made) not in (tuple, torch.Size, UnknownShape):
            self.unknown(node)
        if name == "size" and not given and isinstance(made, int):
            self.notes[ast.unparse(node)] = f"{ast.unparse(node)} stands for {made} here."
        if name in TRIANGLES or name == "band_part":
            self.triangles.append(node)
        if name.endswith("_") and given and given[0] is not SCORES:
            if made.shape != given[0].shape and name != "unsqueeze_":
                raise NotUnderstood(f"{name} keeps the shape {tuple(given[0].shape)}; {tuple(made.shape)} would come.")
            made = made.to(given[0].dtype)
        self._look_at_padding(node, made)
        return made

    def _function(self, node: ast.Call) -> tuple[Callable[..., Any], str, list[Any]]:
        """The function of a call, its last name, and the value before the dot of a method."""
        func = node.func
        if isinstance(func, ast.Name) and func.id not in self.variables:
            if func.id == "len" and len(node.args) == 1 and self._counted(node.args[0]):
                self.notes[ast.unparse(node)] = f"{ast.unparse(node)} stands for {SIZE} here."
                return len, "len", []
            if func.id in BUILTINS:
                return BUILTINS[func.id], func.id, []
            if func.id in code_torch.WRITTEN:
                return code_torch.WRITTEN[func.id], func.id, []
        if not isinstance(func, ast.Attribute):
            self.unknown(func)
        dotted, name = self._dotted(func), func.attr
        if dotted in NAMES and callable(NAMES[dotted]):
            return NAMES[dotted], name, []
        if dotted and name in code_torch.WRITTEN:
            return code_torch.WRITTEN[name], name, []
        if dotted.partition(".")[0] in ROOTS and dotted:
            self.unknown(func)
        unknown = name == "size" and (self._nameless(func.value) or self._counted(func.value))
        base = None if unknown else self.value(func.value)
        if name == "size" and (unknown or base is SCORES):
            return lambda dim=None: UnknownShape() if dim is None else UnknownShape().at(dim), name, []
        methods = code_torch.METHODS if isinstance(base, Tensor) else code_numpy.METHODS
        plain = name.removesuffix("_") if name in code_torch.IN_PLACE and isinstance(base, Tensor) else name
        if not is_array(base) or plain not in methods:
            of = "a NumPy array" if isinstance(base, np.ndarray) else "a tensor" if is_array(base) else named(base)
            self.refuse(func, f"`{name}` of {of} {UNKNOWN}")
        return methods[plain], name, [base]

    def _counted(self, node: ast.expr) -> bool:
        """Whether a name stands for a sentence, whose tokens are counted: len(ids) is 6."""
        if self._nameless(node):
            return True
        dotted = self._dotted(node)
        is_named = dotted and dotted not in NAMES and dotted.partition(".")[0] not in ROOTS
        stands = standing(dotted.rpartition(".")[2]) if is_named else None
        return stands is not None and stands.kind == "ids"

    def _dtypes(
        self, node: ast.Call, name: str, positional: list[Any], keywords: dict[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        """The arguments, with a dtype in the place of its name in quotes; no other strings are handed on."""

        def typed(value: Any) -> Any:
            if not isinstance(value, str) or name in ("to", "cuda", "device", "float"):
                return value
            if value not in code_numpy.DTYPES:
                self.refuse(node, f"“{value[:20]}” {UNKNOWN}")
            return code_numpy.DTYPES[value]

        return [typed(value) for value in positional], {key: typed(value) for key, value in keywords.items()}

    def _conditions(
        self, node: ast.Call, name: str, given: int, positional: list[Any], keywords: dict[str, Any]
    ) -> None:
        """Mend a condition that is not boolean, and a number that its dtype has no place for; both are faults."""
        plain = name.rstrip("_")
        at = {"masked_fill": 1, "where": 0}.get(plain)
        condition = positional[at] if at is not None and given <= at < len(positional) else None
        if at is not None and isinstance(condition, Tensor) and condition.dtype != torch.bool:
            dtype = str(condition.dtype).removeprefix("torch.")
            self.faults.append(faults.condition_of_numbers(node.args[at - given], plain, dtype))
            positional[at] = condition != 0
        first = {"masked_fill": 2, "where": 1, "full": 1}.get(plain, 99)
        for i in range(first, len(positional)):
            number = positional[i].item() if is_array(positional[i]) and positional[i].ndim == 0 else positional[i]
            if not isinstance(number, int | float) or i - given >= len(node.args):
                continue
            if operators.TINY < number < 0:
                self.faults.append(faults.tiny(node.args[i - given], number))
            half = keywords.get("dtype") == torch.float16 or getattr(positional[0], "dtype", None) == torch.float16
            if half and plain != "where" and operators.HALF < abs(number) < math.inf:
                self.faults.append(faults.too_large_for_half(node.args[i - given], raises=True))
                positional[i] = math.copysign(math.inf, number)

    def _look_at_padding(self, node: ast.expr, made: Any) -> None:
        """Remember where the sentences' tokens come onto the query axis."""
        if is_array(made) and made.ndim >= 3 and len(made) == 2:
            for list_of_parts, axes in ((self.padding, (SIZE, 1)), (self.on_keys, (1, SIZE))):
                if tuple(made.shape[-2:]) == axes:
                    list_of_parts.append(node)

    # Operators and parts

    def _binary(self, node: ast.BinOp) -> Any:
        return operators.binary(node, self.value(node.left), self.value(node.right), self.faults)

    def _compared(self, node: ast.Compare) -> Any:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        made = operators.compared(node, values, self.faults)
        if is_array(made) and made.ndim == 2 and not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            self.triangles.append(node)
        if isinstance(made, Tensor) and tuple(made.shape) == (2, SIZE):
            self.tokens.append(node)
        return made

    def is_method(self, node: ast.Call) -> bool:
        """Whether a call is of a method of a value, such as x.triu(), rather than of a library's function."""
        return isinstance(node.func, ast.Attribute) and self._dotted(node.func) not in NAMES

    def _part(self, node: ast.Subscript) -> Any:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str) and self._dotted(node.value):
            stands = standing(node.slice.value, context := self._context(node))
            if stands is None:
                self.unknown(node)
            return self._noted(node, ast.unparse(node), stands, context)
        whole, index = self.value(node.value), self.value(node.slice)
        if isinstance(whole, UnknownShape) and isinstance(index, int):
            self.notes[ast.unparse(node)] = f"{ast.unparse(node)} stands for {whole.at(index)} here."
            return whole.at(index)
        if isinstance(whole, tuple | list) and isinstance(index, int | slice):
            return whole[index]
        if not is_array(whole):
            self.unknown(node)
        made = whole[self.index(node, whole, index)]
        self._look_at_padding(node, made)
        return made

    def index(self, node: ast.expr, whole: Array, index: Any) -> Any:
        """An index of an array, if it is one that makes no more than may be made."""
        parts = index if isinstance(index, tuple) else (index,)
        for part in parts:
            if isinstance(part, int | slice | list) or part is None or part is ...:
                continue
            if not is_array(part):
                self.unknown(node)
            if not is_boolean(part):
                check_count(numbers_in(whole) * numbers_in(part))
        return index


def _joins(node: ast.AST | None) -> bool:
    """Whether a node joins masks by "and" or "or"."""
    match node:
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()) | ast.BoolOp():
            return True
        case ast.Call(func=ast.Attribute(attr="logical_and" | "logical_or")):
            return True
    return False


BUILTINS: dict[str, Callable[..., Any]] = {
    "float": lambda x: float(x.item() if is_array(x) else x),
    "int": lambda x: int(x.item() if is_array(x) else x),
    "len": len,
    "max": lambda *x: max(*x) if len(x) > 1 else max(x[0]),
    "min": lambda *x: min(*x) if len(x) > 1 else min(x[0]),
    "abs": abs,
    "Variable": lambda x: x,  # of old torch: the tensor itself
}
CASTS = frozenset("bool float int long half double to type byte".split())
