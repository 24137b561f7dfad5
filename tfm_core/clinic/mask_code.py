"""Mask code read without running it: `torch.triu(torch.ones(n, n), diagonal=1).bool()` becomes the mask it makes.

A few assignments, the last of which is the mask, or a function of such lines. Names without a value get one, which the
notes tell. What torch would refuse is told as a finding, and read as it was meant.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.clinic.code_bounds import Array, is_array
from tfm_core.clinic.code_final import REAL, final_faults
from tfm_core.clinic.code_mended import Computed, finding
from tfm_core.clinic.code_names import UnknownShape, standing
from tfm_core.clinic.code_reader import Reader, Text
from tfm_core.clinic.code_torch import IN_PLACE
from tfm_core.clinic.finding import SEVERITIES, Finding
from tfm_core.clinic.findings_fixes import shape_kind

CHARACTERS, NODES, DEPTH = 4000, 500, 60
MODULES = frozenset("torch torch.nn torch.nn.functional numpy math tensorflow jax jax.numpy".split())
LITERAL = frozenset(
    "tensor array asarray Tensor Array BoolTensor FloatTensor LongTensor constant float as_tensor".split()
)
# Calls in a text that is no Python as a whole, such as code that ends too early.
CALLED = re.compile(
    r"(?<![\w.])(?:torch|np|numpy|jnp|tf|nn)(?:\.\w{1,40}){0,4}?\.(\w{1,40})\s*\(|\.(masked_fill_?|tri[ul]_?|unsqueeze)\s*\("
)
ENTIRE = (ast.Call, ast.Compare, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Subscript, ast.Attribute)


@dataclass(frozen=True)
class CodeMask:
    """What mask code makes.

    Attributes:
        values: booleans, whole numbers or floats of 1 to 4 axes.
        dtype: such as "bool", "float32" or "int64".
        findings: what is wrong in the code, the worst first.
        notes: what stands for the names without a value, in sentences.
    """

    values: NDArray[Any]
    dtype: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def looks_like_code(text: str) -> bool:
    """Whether a text is code that computes a mask, rather than numbers, however they are printed."""
    if len(text) > CHARACTERS or "\0" in text:
        return _calls(text[:CHARACTERS])
    try:
        tree, _ = _parsed(text)
    except ValueError:
        return _calls(text)
    return any(_computes(statement) for statement in tree.body)


def _calls(text: str) -> bool:
    return any((match[1] or match[2]) not in LITERAL for match in CALLED.finditer(text))


def _computes(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.AugAssign):
        return True
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) else None
    if value is None or _literal(value):
        return False
    nodes = list(ast.walk(value))
    if any(isinstance(node, ast.Call) for node in nodes):
        return True
    # Heads of tables, such as "T-1, T-2", are tuples; a word alone is no code.
    if isinstance(value, ast.Tuple) or not any(isinstance(node, ENTIRE) for node in nodes):
        return False
    assigned = isinstance(statement, ast.Assign | ast.AnnAssign)
    return assigned or any(isinstance(node, ast.Name) and standing(node.id, "compared") for node in nodes)


def _literal(node: ast.expr) -> bool:
    """Whether an expression is numbers alone, perhaps in a call such as tensor(...)."""
    stack: list[ast.AST] = [node]
    while stack:
        match stack.pop():
            case ast.Constant() | ast.Name() | ast.Attribute():
                pass
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                stack += parts
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                stack.append(operand)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=parts) if name in LITERAL:
                stack += parts[:1]
            case _:
                return False
    return not isinstance(node, ast.Attribute)


def read_code(text: str) -> CodeMask:
    """The mask that code makes, computed without running it.

    Args:
        text: an expression, or a few assignments of which the last is the mask.

    Raises:
        ValueError: with the line and column of the first thing that is not understood, or what is too large.
    """
    if len(text) > CHARACTERS:
        raise ValueError(f"At most {CHARACTERS:,} characters of code are read; these are {len(text):,}.")
    tree, lines = _parsed(text)
    _check(tree)
    reader = Reader(tree, lines)
    value, last = _computed(reader, tree)
    values, dtype = _as_numpy(value)
    faults = {(fault.place, fault.topic): fault for fault in (*reader.faults, *final_faults(reader, values, last))}
    topics = frozenset(fault.topic for fault in faults.values())
    findings = [finding(fault, topics, tree, lines, _anew) for fault in faults.values()]
    findings.sort(key=lambda each: SEVERITIES.index(each.severity))
    return CodeMask(values, dtype, tuple(findings), tuple(reader.notes.values()))


def _computed(reader: Reader, tree: ast.Module) -> tuple[Array, ast.expr]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), torch.no_grad():
        warnings.simplefilter("ignore")
        value, last = _run(reader, list(_statements(reader, tree.body)))
    if not is_array(value):
        reader.refuse(last, "The last line should make a mask; it makes something else.")
    if not 1 <= value.ndim <= 4 or 0 in value.shape:
        reader.refuse(last, f"The last line should make 1 to 4 axes; it makes the shape {tuple(value.shape)}.")
    return value, getattr(last, "value", None) or ast.copy_location(ast.Name("mask"), last)


def _anew(tree: ast.Module) -> Computed:
    reader = Reader(tree, _dedented(ast.unparse(tree)))
    value, last = _computed(reader, tree)
    values = _as_numpy(value)[0]
    topics = {fault.topic for fault in (*reader.faults, *final_faults(reader, values, last))}
    of_sentences = values.shape == REAL.shape and bool(reader.tokens)
    axes = "sentences" if of_sentences else shape_kind(values.shape)
    return Computed(values, isinstance(value, Tensor), axes, frozenset(topics))


def _parsed(text: str) -> tuple[ast.Module, Text]:
    if "\0" in text:
        raise ValueError("Python was expected; a zero byte stands there.")
    lines = _dedented(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("\n".join(lines.lines)), lines
    except SyntaxError as error:
        line = min(error.lineno or 1, len(lines.lines))
        place = f"Line {line}, column {max(1, error.offset or 1) + lines.cut[line - 1]}"
        raise ValueError(f"{place}: This is not Python: {(error.msg or 'it cannot be read').rstrip('.')}.") from None
    except (MemoryError, RecursionError, ValueError, OverflowError):
        raise ValueError("Line 1, column 1: This is nested too deeply, or no Python.") from None


def _dedented(text: str) -> Text:
    """The text without what indents its first line, and without the >>> of a session."""
    given = text.splitlines() or [""]
    lines = [re.sub(r"^\s*(>>>|\.\.\.) ?", "", line) for line in given]
    first = next((line for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    indent = first[: len(first) - len(first.lstrip())]
    lines = [line.removeprefix(indent) for line in lines]
    return Text(lines, [len(before) - len(line) for before, line in zip(given, lines, strict=True)])


def _check(tree: ast.Module) -> None:
    """Refuse what is too long or nested too deeply to be walked over."""
    count, level = 0, [tree.body]
    layer: list[ast.AST] = [node for body in level for node in body]
    for depth in range(DEPTH + 1):
        count += sum(isinstance(node, ast.expr | ast.stmt | ast.keyword) for node in layer)
        if count > NODES:
            raise ValueError(f"At most {NODES} parts of code are read; there are more.")
        if not layer:
            return
        if depth == DEPTH:
            break
        layer = [child for node in layer for child in ast.iter_child_nodes(node)]
    raise ValueError(f"At most {DEPTH} levels of code are read; this is nested more deeply.")


def _statements(reader: Reader, body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The lines that compute: without imports of libraries that are known, without what heads a function."""
    for statement in body:
        match statement:
            case ast.Import(names=names) if all(name.name in MODULES for name in names):
                continue
            case ast.ImportFrom(module=module, names=names) if module in MODULES and all(
                name.name in {"nn", "functional", "inf"} for name in names
            ):
                continue
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                continue
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str()), made, *_])
            ):  # a module that keeps its mask
                yield ast.copy_location(ast.Expr(made), statement)
            case ast.Return(value=ast.Tuple(elts=[*_, last])):
                reader.notes["return"] = "Of the values that are returned, the last is read."
                yield ast.copy_location(ast.Return(last), statement)
            case ast.FunctionDef(body=lines, decorator_list=[]):
                _defaults(reader, statement)
                yield from _statements(reader, lines)
            case _:
                yield statement


def _defaults(reader: Reader, function: ast.FunctionDef) -> None:
    """Give a function's parameters their defaults, as far as these are numbers."""
    given = function.args
    ends = zip(reversed(given.args), reversed(given.defaults), strict=False)
    for argument, default in [*ends, *zip(given.kwonlyargs, given.kw_defaults, strict=True)]:
        if isinstance(default, ast.Constant) and isinstance(default.value, int | float):
            reader.variables[argument.arg] = default.value


def _run(reader: Reader, statements: list[ast.stmt]) -> tuple[Any, ast.stmt]:
    """Compute the lines, and hand over the last value."""
    if not statements:
        raise ValueError("Line 1, column 1: No line makes a mask.")
    value: Any = None
    for statement in statements:
        match statement:
            case ast.Assign(targets=[target], value=node):
                value = _assign(reader, target, reader.value(node))
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as node):
                value = _assign(reader, target, reader.value(node))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=sign, value=node):
                before = ast.copy_location(ast.Name(name, ast.Load()), target)
                joined = ast.copy_location(ast.BinOp(before, sign, node), statement)
                reader.parents |= {before: joined, node: joined}
                value = _assign(reader, target, reader.value(joined))
            case ast.Expr(value=node):
                value = reader.value(node)
                match node:  # in place
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in IN_PLACE:
                        reader.variables[name] = value
            case ast.Return(value=ast.expr() as node):
                return reader.value(node), statement
            case _:
                what = type(statement).__name__.lower()
                reader.refuse(statement, f"“{what}” is not among what a mask is read from: assignments are.")
    return value, statements[-1]


def _assign(reader: Reader, target: ast.expr, value: Any) -> Any:
    """Give a name its value; of a part, the whole is handed back."""
    match target:
        case ast.Name(id=name) if not name.startswith("__"):
            reader.variables[name] = value
            return value
        case ast.Tuple(elts=parts) if all(isinstance(part, ast.Name) for part in parts):
            sizes = value.sizes(len(parts)) if isinstance(value, UnknownShape) else value
            if isinstance(sizes, tuple | list) and len(sizes) == len(parts):
                for part, size in zip(parts, sizes, strict=True):
                    _assign(reader, part, size)
                    if isinstance(value, UnknownShape):
                        reader.notes[ast.unparse(part)] = f"{ast.unparse(part)} stands for {size} here."
                return value
        case ast.Subscript(value=ast.Name(id=name)) if name in reader.variables:
            return _set_part(reader, target, name, value)
    reader.refuse(target, "A name was expected before the =, or a part of one that has a value.")


def _set_part(reader: Reader, target: ast.Subscript, name: str, value: Any) -> Any:
    whole = reader.variables[name]
    if not is_array(whole) or not (is_array(value) or isinstance(value, int | float)):
        reader.refuse(target, "A part of a tensor can be given numbers alone.")
    index = reader.index(target.slice, whole, reader.value(target.slice))
    copied = whole.clone() if isinstance(whole, Tensor) else whole.copy()
    try:
        if isinstance(copied, Tensor):
            copied[index] = torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        else:
            copied[index] = np.asarray(value)
    except (TypeError, ValueError, RuntimeError, IndexError) as error:
        reader.refuse(target, f"This part cannot be given its value: {str(error).splitlines()[0][:160].rstrip('.')}.")
    reader.variables[name] = copied
    return copied


def _as_numpy(value: Any) -> tuple[NDArray[Any], str]:
    if isinstance(value, Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        return (value.float() if value.dtype == torch.bfloat16 else value).numpy().copy(), dtype
    return np.array(value), str(value.dtype)
