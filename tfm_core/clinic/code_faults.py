"""What is wrong in a line of mask code: where, what torch makes of it, and the line as it was meant."""

import ast
import re
from dataclasses import dataclass
from typing import NamedTuple

from tfm_core.clinic.finding import Severity


class Place(NamedTuple):
    """Where a part of the code begins and ends: lines from 1, columns in bytes from 0, as in ast."""

    line: int
    column: int
    end_line: int
    end_column: int

    @classmethod
    def of(cls, node: ast.expr | ast.stmt) -> "Place":
        """The place of a node."""
        line, column = node.lineno, node.col_offset
        return cls(line, column, node.end_lineno or line, node.end_col_offset or column)


@dataclass(frozen=True)
class Fault:
    """Something wrong in the code.

    Attributes:
        severity: of the finding.
        title: the finding in one sentence.
        consequence: what happens, in sentences.
        place: where.
        meant: Python that should stand there: the first that mends it counts; none where that cannot be known.
        topic: the kind of finding.
    """

    severity: Severity
    title: str
    consequence: str
    place: Place
    meant: tuple[str, ...]
    topic: str


LONG = re.compile(r"\b(\d)(0{5,})\.0\b")  # as ast writes 1e9


def written(node: ast.AST) -> str:
    """Code as people write it, on a line."""
    return LONG.sub(lambda match: f"{match[1]}e{len(match[2])}", ast.unparse(node)).replace("e-0", "e-")


def code(node: ast.AST, longest: int = 60) -> str:
    """Code for a sentence, cut where it is long."""
    text = written(node)
    return f"`{text if len(text) <= longest else text[: longest - 1] + '…'}`"


def grouped(node: ast.expr) -> str:
    """Code that an operator or a dot may follow or precede."""
    text = written(node)
    plain = isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    return text if plain else f"({text})"


def subtracted(node: ast.BinOp, numpy: bool, inverts: bool) -> Fault:
    """A subtraction of booleans."""
    wanted = f"~{grouped(node.right)}" if inverts else f"{grouped(node.left)} & ~{grouped(node.right)}"
    library, error = ("NumPy", "TypeError") if numpy else ("torch", "RuntimeError")
    return Fault(
        "error",
        f"{code(node)} subtracts booleans.",
        f"{library} raises a {error}: booleans have no subtraction. It is read here as `{wanted}`.",
        Place.of(node),
        (wanted,),
        "booleans subtracted",
    )


def negated(node: ast.UnaryOp, numpy: bool) -> Fault:
    """A minus before booleans."""
    wanted = f"~{grouped(node.operand)}"
    library, error = ("NumPy", "TypeError") if numpy else ("torch", "RuntimeError")
    return Fault(
        "error",
        f"{code(node)} puts a minus before booleans.",
        f"{library} raises a {error}: booleans have no minus. It is read here as `{wanted}`.",
        Place.of(node),
        (wanted,),
        "booleans negated",
    )


def inverted_floats(node: ast.UnaryOp) -> Fault:
    """A ~ before floats."""
    wanted = f"({grouped(node.operand)} == 0)"
    return Fault(
        "error",
        f"{code(node)} puts ~ before floats.",
        f"Python raises a TypeError: ~ is for booleans. It is read here as `{wanted}`.",
        Place.of(node),
        (wanted,),
        "floats inverted",
    )


def inverted_integers(node: ast.UnaryOp) -> Fault:
    """A ~ before whole numbers."""
    return Fault(
        "error",
        f"{code(node)} puts ~ before whole numbers, which flips all of their bits.",
        "0 becomes −1 and 1 becomes −2: neither is 0, so that as booleans all would be True.",
        Place.of(node),
        (f"({grouped(node.operand)} == 0)",),
        "integers inverted",
    )


def words_for_signs(node: ast.expr, wanted: str) -> Fault:
    """An `and`, `or`, `not` or a chain of comparisons between tensors."""
    return Fault(
        "error",
        f"{code(node)} asks a whole tensor whether it is true.",
        "torch raises “RuntimeError: Boolean value of Tensor with more than one value is ambiguous”, NumPy a "
        f"ValueError. It is read here as `{wanted}`, entry by entry.",
        Place.of(node),
        (wanted,),
        "truth of a tensor",
    )


def floats_joined(node: ast.BinOp) -> Fault:
    """A & or | between floats."""
    sign = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}[type(node.op)]
    wanted = f"({grouped(node.left)} != 0) {sign} ({grouped(node.right)} != 0)"
    return Fault(
        "error",
        f"{code(node)} joins floats by {sign}.",
        f"torch raises a NotImplementedError, NumPy a TypeError: {sign} is for booleans. It is read here as "
        f"`{wanted}`.",
        Place.of(node),
        (wanted,),
        "floats joined",
    )


def compared_with_truth(node: ast.Compare, inverts: bool) -> Fault:
    """A comparison of booleans with True or False."""
    wanted = f"~{grouped(node.left)}" if inverts else grouped(node.left)
    return Fault(
        "note",
        f"{code(node)} compares booleans with {'False' if inverts else 'True'}: `{wanted}` says the same.",
        "It works.",
        Place.of(node),
        (wanted,),
        "compared with a truth value",
    )


def nothing_times_infinity(node: ast.BinOp, masked: ast.expr, cell: str, numpy: bool) -> Fault:
    """A product of 0 and −∞."""
    wanted = (
        f"np.where({grouped(masked)} != 0, -np.inf, 0.0)"
        if numpy
        else f"torch.where({grouped(masked)} != 0, float('-inf'), 0.0)"
    )
    return Fault(
        "error",
        f"{code(node)} multiplies 0 by ∞, which is NaN, first at {cell}.",
        "A NaN in the mask makes its whole row NaN, in the weights and in the output. The NaN are read here as 0, as "
        "was meant.",
        Place.of(node),
        (wanted,),
        "zero times infinity",
    )


def tiny(node: ast.expr, number: float) -> Fault:
    """A negative number that is almost 0."""
    told = f"{number:g}".replace("e-0", "e-").replace("-", "−")
    return Fault(
        "error",
        f"The number {told} is almost 0: it hides nothing.",
        f"It is added to the scores, and e^({told}) is almost exactly 1: the hidden keys keep their weights. −1e9 or "
        "−∞ was probably meant.",
        Place.of(node),
        ("float('-inf')", "-1e9"),
        "tiny negative",
    )


def too_large_for_half(node: ast.expr, raises: bool) -> Fault:
    """A number beyond ±65,504 in float16."""
    return Fault(
        "error" if raises else "note",
        f"{code(node)} is beyond float16, which ends at −65,504.",
        (
            "torch raises “RuntimeError: value cannot be converted to type c10::Half without overflow”. "
            "It is read here as −∞."
            if raises
            else "It becomes −∞: the keys are hidden, and a row without any key becomes NaN in a plain softmax."
        ),
        Place.of(node),
        ("float('-inf')",) if raises else (),
        "overflow in half",
    )


def condition_of_numbers(node: ast.expr, name: str, dtype: str) -> Fault:
    """A condition that is not boolean."""
    wanted = f"({grouped(node)} != 0)"
    return Fault(
        "error" if (name, dtype) != ("where", "uint8") else "warning",
        f"`{name}` gets {dtype} as its condition, where booleans are expected.",
        f"torch raises a RuntimeError or gives this up. It is read here as `{wanted}`.",
        Place.of(node),
        (wanted,),
        "condition of numbers",
    )


def unknown_condition(node: ast.expr) -> Fault:
    """A mask of unknown meaning as the condition of masked_fill."""
    return Fault(
        "note",
        f"masked_fill hides where {code(node)} is True; whether that is meant cannot be known from this line.",
        "If True means “may attend” in your mask, this hides what should be visible: write `mask == 0` or `~mask` "
        "as the condition.",
        Place.of(node),
        (),
        "unknown condition",
    )
