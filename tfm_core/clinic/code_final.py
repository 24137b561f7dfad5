"""What the mask that code made shows of the code: triangles with a diagonal too much, padding on the wrong axis."""

import ast
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.code_faults import Fault, Place, code, grouped, written
from tfm_core.clinic.code_names import IDS, PAD_ID
from tfm_core.clinic.code_reader import Reader

Evident = Literal["attend", "ignore", "added"]
HIDES = -100.0  # what is added below this hides in float32
REAL = np.array(IDS) != PAD_ID  # (batch, key), True = a token


def evident(values: NDArray[Any]) -> Evident:
    """What a mask seems to mean: "attend" where True or 1 hides nothing that is needed, "ignore" or "added".

    Triangles and the padding that stands for token ids tell; where neither does, True is taken for "may attend".
    """
    if not np.isin(values, (0, 1)).all():
        return "added"
    true = values != 0
    if values.ndim >= 2 and values.shape[-1] == values.shape[-2] > 1:
        above, below = np.triu(true, 1).any(), np.tril(true, -1).any()
        if above != below:
            return "ignore" if above else "attend"
        # With padding in it, what a triangle says still holds: it hides all that is later, or True is all of that.
        if above and bool(np.triu(~true, 1).any()) != bool(np.tril(~true, -1).any()):
            return "attend" if np.triu(~true, 1).any() else "ignore"
    keys = _keys(true)
    if keys is not None:
        return "ignore" if not (keys & REAL).any() and (keys & ~REAL).any() else "attend"
    return "attend"


def _keys(visible: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """(batch, key): which keys any query sees, if the axes may be those of the token ids."""
    if visible.ndim < 2 or visible.shape[-1] != REAL.shape[1] or len(visible) != len(REAL):
        return None
    return np.asarray(visible.any(axis=tuple(range(1, visible.ndim - 1))))


def final_faults(reader: Reader, values: NDArray[Any], last: ast.expr) -> list[Fault]:
    """What is wrong in the mask as a whole: `values` are its numbers, `last` the expression that made them."""
    meaning = evident(values)
    visible = {"attend": values != 0, "ignore": values == 0, "added": ~(values < HIDES)}[meaning]
    told = _of_padding(reader, visible) or _of_triangles(reader, visible)
    if meaning != "added" and values.dtype.kind == "f" and values.any() and not told:
        told.append(_floats(last))
    return told


def _floats(node: ast.expr) -> Fault:
    return Fault(
        "warning",
        "The mask is made of the floats 0 and 1, which F.scaled_dot_product_attention adds to the scores.",
        "Handed over as it is, it hides nothing: at equal scores a key with 1 gets e ≈ 2.72 times the weight of a "
        "key with 0. As the "
        "condition of a masked_fill, after == 0 or == 1, it is right.",
        Place.of(node),
        (f"({written(node)}) != 0",),
        "floats added",
    )


def _of_padding(reader: Reader, visible: NDArray[np.bool_]) -> list[Fault]:
    if reader.padding:
        node = reader.padding[-1]
        rows = visible[..., 0] if visible.shape[-1] == 1 else visible.any(-1)
        if not rows.all():
            within = set(ast.walk(node))
            return [_padding_on_queries(node, any(other not in within for other in reader.on_keys))]
    keys = _keys(visible)
    if keys is not None and keys.any() and not (keys & REAL).any() and len(visible) == len(REAL) and reader.tokens:
        node = reader.tokens[-1]
        return [
            Fault(
                "error",
                f"The mask shows padding alone: what comes of {code(node)} hides the tokens.",
                "Every query attends to padding, and to nothing else. The condition is the wrong way round.",
                Place.of(node),
                _inverted(node),
                "inverted",
            )
        ]
    return []


def _inverted(node: ast.expr) -> tuple[str, ...]:
    """The opposite of a comparison."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as sign], comparators=[right]):
            other = "!=" if isinstance(sign, ast.Eq) else "=="
            return (f"({written(left)} {other} {written(right)})",)
    return ()


def _padding_on_queries(node: ast.expr, also_on_keys: bool) -> Fault:
    if also_on_keys:
        return Fault(
            "warning",
            f"{code(node)} hides the rows of padding, too: these queries have no key.",
            "A plain softmax over −∞ makes these rows NaN. Hiding the padding's keys is enough: what padding itself "
            "gathers is not used.",
            Place.of(node),
            (),
            "row without a key",
        )
    return Fault(
        "error",
        f"{code(node)} puts the padding on the query axis.",
        "The rows of padding have no key, which a plain softmax over −∞ makes NaN. It hides the padding's keys from no "
        "other query.",
        Place.of(node),
        _on_keys(node),
        "padding on queries",
    )


def _on_keys(node: ast.expr) -> tuple[str, ...]:
    """The same with the tokens on the key axis."""
    match node:
        case ast.Subscript(value=base, slice=ast.Tuple(elts=parts)):
            kept = [part for part in parts if isinstance(part, ast.Slice)]
            if len(kept) == 2 and isinstance(parts[-1], ast.Constant) and isinstance(parts[-2], ast.Slice):
                swapped = [*parts[:-2], parts[-1], parts[-2]]
                return (f"{grouped(base)}[{', '.join(map(written, swapped))}]",)
        case ast.Call(func=ast.Attribute(value=base, attr="unsqueeze"), args=[ast.Constant(value=3 | -1)]):
            return (f"{grouped(base)}.unsqueeze(2)",)
        case ast.Call(func=ast.Attribute(value=base, attr="unsqueeze"), args=[ast.Constant(value=2)]):
            return (f"{grouped(base)}.unsqueeze(1)",)
    return ()


def _of_triangles(reader: Reader, visible: NDArray[np.bool_]) -> list[Fault]:
    side = visible.shape[-1]
    if not reader.triangles or visible.ndim < 2 or visible.shape[-2] != side or side < 2:
        return []
    node = reader.triangles[-1]
    square = visible.reshape(-1, side, side)
    for offset, made in TRIANGLES.items():
        if (square == np.tri(side, side, offset, dtype=bool)).all():
            meant = tuple(code for by in (-offset, offset) if (code := _moved(reader, node, by)))
            return [Fault("error", *made, Place.of(node), meant, topic_of(offset))]
    for itself in (0, 1):
        if (square == ~np.tri(side, side, itself - 1, dtype=bool)).all():
            return [
                Fault(
                    "error",
                    "Every query sees only what comes after it" + (", not itself." if itself else ", and itself."),
                    "The mask is the wrong way round: the future is visible, and the past is hidden."
                    + (f" Row {side} has no key." if itself else ""),
                    Place.of(node),
                    (),
                    "looks only ahead",
                )
            ]
    return []


def topic_of(offset: int) -> str:
    """The kind of finding of a diagonal that is off by one."""
    return "diagonal hidden" if offset < 0 else "one ahead"


# By the diagonal up to which queries see: title and consequence.
TRIANGLES: dict[int, tuple[str, str]] = {
    -2: (
        "The diagonal is off by 2: no token sees itself.",
        "Rows 1 and 2 have no key. They become NaN in a plain softmax over −∞, and so does all that later layers make "
        "of them.",
    ),
    -1: (
        "The diagonal is off by 1: no token sees itself.",
        "Row 1 has no key. It becomes NaN in a plain softmax over −∞, and so does what later layers make of it.",
    ),
    1: (
        "The diagonal is off by 1: every token sees exactly 1 token ahead.",
        "In training the next token, which is to be predicted, is visible: the loss falls to almost 0, and generation "
        "fails.",
    ),
    2: (
        "The diagonal is off by 2: every token sees exactly 2 tokens ahead.",
        "In training the next token, which is to be predicted, is visible: the loss falls to almost 0, and generation "
        "fails.",
    ),
}
FLIPPED: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


def _moved(reader: Reader, node: ast.expr, by: int) -> str | None:
    """A triangle with another diagonal, such as `torch.triu(x, diagonal=1)`."""
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in FLIPPED:
            return f"({written(left)} {FLIPPED[type(sign)]} {written(right)})"
        case ast.Call(func=ast.Attribute(attr="triu" | "tril" | "tri") as func, args=args, keywords=keywords):
            method = reader.is_method(node)
            kept = args[: 0 if method else 1]
            numpy = written(func).startswith(("np.", "numpy.", "jnp."))
            named = [word.value for word in keywords if word.arg in ("diagonal", "k")]
            before = reader.value(named[0]) if named else reader.value(args[len(kept)]) if len(args) > len(kept) else 0
            moved = before + by
            told = [*map(written, kept), *([f"{'k' if numpy else 'diagonal'}={moved}"] if moved else [])]
            return f"{written(func)}({', '.join(told)})"
    return None
