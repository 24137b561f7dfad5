"""Expressions of lessons: conditions and numbers over what is on screen, by name. Strangers write lessons, too.

An expression is read by Python's own parser, and of its tree only what is listed here is taken; nothing is executed.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_CHARS = 200  # of an expression: so it is never deep
LARGEST = 1e18  # of a whole number that is written: what is larger is no count of anything here

Value = float | str | bool
Values = Mapping[str, Any]  # name -> its value; only those that an expression names are looked up

OPERATIONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
FUNCTIONS: Mapping[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "log": math.log,
    "exp": math.exp,
    "abs": abs,
    "round": round,
}
SHAPES = "numbers, words in quotes, names, + - * /, comparisons, and, or, not, sqrt, log, exp, abs, round"
FORMAT = re.compile(r",?(\.[0-9])?[f%g]?")  # how a number may be written: a part of Python's format language
IN_BRACES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Expression:
    """An expression that was read.

    Attributes:
        text: as it stands in the file.
        names: the names of values in it.
    """

    text: str
    names: frozenset[str]
    tree: ast.expr = field(compare=False, repr=False)

    def value(self, values: Values) -> Value:
        """What it is, of these values.

        Raises:
            ValueError: if it cannot be computed, such as a number divided by 0 or compared with a word.
        """
        try:
            value: Value = _value(self.tree, values)
        except (ArithmeticError, TypeError, ValueError) as problem:
            raise ValueError(f"expected an expression that can be computed, got {self.text}: {problem}") from problem
        return value

    def holds(self, values: Values) -> bool:
        """Whether it is true of these values; what cannot be computed is not."""
        try:
            return bool(self.value(values))
        except ValueError:
            return False


def read(text: str) -> Expression:
    """Read an expression.

    Raises:
        ValueError: if it is none.
    """
    if len(text) > MOST_CHARS:
        raise ValueError(f"expected an expression of at most {MOST_CHARS} characters, got {len(text):,}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise ValueError(f"expected an expression of {SHAPES}; got {text}") from problem
    return Expression(text.strip(), frozenset(_names(tree)), tree)


def _names(node: ast.expr) -> Iterator[str]:
    """The names of values in it; a ValueError for all that is no expression of a lesson."""
    match node:
        case ast.Constant(value=int() | float() | str()):
            pass
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            yield from _names(left)
            yield from _names(right)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATIONS:
            yield from _names(operand)
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _names(part)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in OPERATIONS for op in ops):
            for part in (left, *others):
                yield from _names(part)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
            yield from _names(argument)
        case _:
            raise ValueError(f"expected {SHAPES}; got {ast.unparse(node)}")


def _value(node: ast.expr, values: Values) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATIONS[type(op)](_number(left, values), _number(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATIONS[type(op)](_value(operand, values))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, values) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, values) for part in parts)
        case ast.Compare(left=left, ops=ops, comparators=others):
            at = [_value(part, values) for part in (left, *others)]
            return all(OPERATIONS[type(op)](a, b) for op, a, b in zip(ops, at[:-1], at[1:], strict=True))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](_number(argument, values))
    raise TypeError(f"expected a part of an expression that was read, got {ast.dump(node)}")


def _number(node: ast.expr, values: Values) -> float:
    """The value of a part that is calculated with: words are not, as "a" * 10 ** 9 would be a long one."""
    value = _value(node, values)
    if isinstance(value, str):
        raise TypeError(f"a number was expected, and “{value[:40]}” is a word")
    return float(value) if isinstance(value, int) and abs(value) > LARGEST else value


@dataclass(frozen=True)
class Written:
    """Words with expressions in braces.

    Attributes:
        pieces: words, and expressions with the format in which each is written.
    """

    pieces: tuple[str | tuple[Expression, str], ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of values in all of its expressions."""
        return frozenset().union(*(piece[0].names for piece in self.pieces if not isinstance(piece, str)))

    def text(self, values: Values) -> str:
        """The words, with what the expressions are.

        Raises:
            ValueError: as of `Expression.value`.
        """
        return "".join(piece if isinstance(piece, str) else _written(*piece, values) for piece in self.pieces)


def read_written(text: str) -> Written:
    """Read words with expressions in braces.

    Raises:
        ValueError: if something in braces is no expression, or a brace stands alone.
    """
    pieces: list[str | tuple[Expression, str]] = []
    at = 0
    for match in IN_BRACES.finditer(text):
        expression, _, form = match.group(1).partition(":")
        if not FORMAT.fullmatch(form):
            raise ValueError(f"expected a format such as :.2f, :, or :.0%, got :{form}")
        pieces += [text[at : match.start()], (read(expression), form)]
        at = match.end()
    pieces.append(text[at:])
    if any(isinstance(piece, str) and ("{" in piece or "}" in piece) for piece in pieces):
        raise ValueError(f"expected each brace to have its other half, got {text}")
    return Written(tuple(piece for piece in pieces if piece))


def _written(expression: Expression, form: str, values: Values) -> str:
    return written(expression.value(values), form)


def written(value: Value, form: str = "") -> str:
    """A value as a lesson writes it: whole numbers with groups of thousands, others with four digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    form = form or ("," if isinstance(value, int) or value.is_integer() else ",.4g")
    if form == "," and isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST:
        value = int(value)
    return f"{value:{form}}".replace("-", "−")
