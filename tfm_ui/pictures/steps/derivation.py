"""How numbers of a head come about: equations with the real numbers put in, the formula, and the lines of code.

Sums are taken in float64 over the recorded float32 tensors; at the end of a line stands the tensor's own number.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from tfm_core import (
    MultiHeadAttention,
    Positional,
    TransformerLayer,
    attention_scores,
    attention_weights,
    mask_scores,
)
from tfm_core.model import scaled_dot_product
from tfm_core.model.normalization import Norm, norm_steps
from tfm_core.model.transformer import Stack
from tfm_core.positional.maths import turn_pairs
from tfm_ui.live.inside import EMBEDDED
from tfm_ui.pictures.steps.matrices import Cell, HeadSteps
from tfm_ui.text import colours, formats
from tfm_ui.text.colours import Mode

SHOWN = 8  # terms of a sum that are written out; if there are more, the largest are, with the total of the others

Span = tuple[str, str]  # a piece of a line, and the role whose colour it has ("" for none)


@dataclass(frozen=True)
class Derivation:
    """The history of one number."""

    title: str
    """Which number it is."""

    lines: list[list[Span]]
    """Equations; the last one ends in the number."""


def factor(number: float) -> str:
    """A number as text, in brackets if it is negative: its sign would stand beside another one."""
    text = formats.number(number)
    return f"({text})" if text.startswith("−") else text


def largest(terms: Tensor) -> list[int]:
    """The terms of a sum that are written out, in their order: of many only the largest."""
    count = SHOWN - 1 if len(terms) > SHOWN else len(terms)
    return sorted(terms.abs().argsort(descending=True, stable=True)[:count].tolist())


def others(terms: Tensor, kept: list[int], number: Callable[[float], str]) -> list[Span]:
    """The total of the terms that are not written out; nothing if all are."""
    left = len(terms) - len(kept)
    rest = terms.sum() - terms[kept].sum()
    return [(f" + … {left} smaller ones, together {number(rest.item())}", "")] if left else []


def products(left: Tensor, right: Tensor, roles: tuple[str, str]) -> list[Span]:
    """A sum of products: a × b + c × d + …

    Args:
        left: (term), the first factor of each product.
        right: (term), the second one.
        roles: whose colours the left and the right factors have, such as "query" and "key"; "" for none.
    """
    terms = left.double() * right.double()
    kept, spans = largest(terms), list[Span]()
    for i in kept:
        spans += [(" + " if spans else "", "")]
        spans += [(factor(left[i].item()), roles[0]), (" × ", ""), (factor(right[i].item()), roles[1])]
    return spans + others(terms, kept, formats.number)


def equation(name: Span, parts: Sequence[Span], value: float) -> list[Span]:
    """A line: "name = parts = value"."""
    return [name, (" = ", ""), *parts, (" = ", ""), (formats.number(value), "")]


def _input(head: HeadSteps, at: Cell) -> Derivation:
    inside, name = head.inside, head.queries[at.query]
    row, value = inside.residual[at.query].double(), inside.input[at.query, at.channel].item()
    title = f"Input of “{name}”, channel {at.channel + 1}"
    before = row[at.channel].item()
    lines = [[(_origin(head, at) + formats.number(before), "")]]
    if inside.norm is not None:
        lines += _normed(inside.norm, row, at.channel, before, value)
    return Derivation(title, lines)


def _normed(norm: Norm, row: Tensor, channel: int, before: float, value: float) -> list[list[Span]]:
    """What the norm makes of one number of a vector."""
    center, spread, gains, shifts = norm_steps(norm, row)
    root, gain = formats.number(spread.item()), factor(gains[channel].item())
    if isinstance(norm, nn.RMSNorm):
        about = f"the root of this token’s mean square is {root}: the RMS norm divides by it, and applies its gain"
        return [[(about, "")], [(f"{formats.number(before)} / {root} × {gain} = {formats.number(value)}", "")]]
    mean = center.item()
    about = (
        f"this token’s vector has mean {formats.number(mean)} and standard deviation {root}: "
        "the norm subtracts the mean, divides by the deviation, and applies its gain and shift"
    )
    normed, shift = f"({formats.number(before)} − {factor(mean)}) / {root}", factor(shifts[channel].item())
    return [[(about, "")], [(normed, ""), (f" × {gain} + {shift} = {formats.number(value)}", "")]]


def _origin(head: HeadSteps, at: Cell) -> str:
    """What stands before the number of the residual stream: in the first layer, what it is the sum of."""
    recorded = head.inside.recorded
    if "embedding" not in recorded:
        return "the residual stream here, as the layers before left it: "
    if "embedding_norm" in recorded:
        return "the residual stream here, what the norm after the embeddings makes of their sum: "
    scaled = " × √d_model" if head.inside.scales_embeddings else ""
    if set(EMBEDDED) & recorded.keys() == {"embedding"}:
        return f"the residual stream here: embedding of “{head.queries[at.query]}”{scaled} = "
    numbers = {what: recorded[what][at.query, at.channel].item() for what in EMBEDDED if what in recorded}
    names = {"embedding": f"embedding{scaled}", "token_types": "type 1", "position": f"position {at.query + 1}"}
    sums = " + ".join(names[what] for what in numbers)
    parts = " + ".join([formats.number(numbers.pop("embedding")), *map(factor, numbers.values())])
    return f"the residual stream here: {sums} = {parts} = "


def _projected(role: str) -> Callable[[HeadSteps, Cell], Derivation]:
    """How to derive a query, key or value: the input times parameters, then rotated if the scheme rotates it."""

    def derive(head: HeadSteps, at: Cell) -> Derivation:
        inside, token = head.inside, at.query if role == "query" else at.key
        label = (head.queries if role == "query" else head.keys)[token]
        read = (inside.input if role == "query" else inside.memory)[token]
        plain = inside.recorded[role][head.number, token]
        module = inside.projection(role)

        def product(dim: int) -> list[Span]:
            row = inside.first_row(role, head.number) + dim
            parts = [*products(read, module.weight[row].detach(), ("", "weight")), *_bias(module, row)]
            return equation((f"{role}(“{label}”) {dim + 1}", role), parts, plain[dim].item())

        title, lines = f"{role.capitalize()} of “{label}”, dimension {at.dim + 1}", [product(at.dim)]
        turned = inside.recorded.get(f"rotated_{role}")
        if turned is not None:
            assert inside.positional is not None
            pair, sign, turn = _turned_with(inside.positional, at.dim, head.head_dim)
            angle = token * turn
            value = turned[head.number, token, at.dim].item()
            line = [
                (f"rotated by the angle of position {token}, together with dimension {pair + 1}: ", ""),
                (f"{factor(plain[at.dim].item())} × ", ""),
                (f"{factor(math.cos(angle))} {sign} {factor(plain[pair].item())} × {factor(math.sin(angle))}", ""),
                (f" = {formats.number(value)}", role),
            ]
            lines += [product(pair), line]
        return Derivation(title, lines)

    return derive


def _turned_with(scheme: Positional, dim: int, width: int) -> tuple[int, str, float]:
    """The dimension with which this one is turned, the sign of the other's share, and the angle of one position."""
    pairs, wavelengths = scheme.pairs(width), scheme.wavelengths(width)
    assert pairs is not None
    assert wavelengths is not None
    pair, side = (pairs == dim).nonzero()[0].tolist()
    return int(pairs[pair, 1 - side]), "+" if side else "−", 2 * math.pi / wavelengths[pair].item()


def _bias(module: nn.Linear, row: int) -> list[Span]:
    """What a linear map adds to one of its outputs; nothing where it has no biases."""
    bias: Tensor | None = module.bias
    return [] if bias is None else [(f" + {factor(bias[row].item())}", "")]


def _score(head: HeadSteps, at: Cell) -> Derivation:
    query, key = head.queries[at.query], head.keys[at.key]
    parts = products(head.query[at.query], head.key[at.key], ("query", "key"))
    line = equation((f"score({query}, {key})", ""), parts, head.scores[at.query, at.key].item())
    return Derivation(f"Score of “{query}” and “{key}”", [line])


def _scaled(head: HeadSteps, at: Cell) -> Derivation:
    value, score = head.scaled_scores[at.query, at.key].item(), head.scores[at.query, at.key].item()
    line: list[Span] = [(formats.number(score), "")]
    line += [(f" / √{head.head_dim}", "")] if head.scaled else []
    if head.bias is not None:
        line += [(f" + {factor(head.bias[at.query, at.key].item())}", "")]
    if head.temperature != 1:
        line = [("(", ""), *line, (f") / {head.temperature:g}", "")]
    why = "" if head.scaled else "the division by √dₖ is off: "
    added = f", the bias of {head.positional} added" if head.bias is not None else ""
    title = f"Scaled score of “{head.queries[at.query]}” and “{head.keys[at.key]}”{added}"
    return Derivation(title, [[(why, ""), *line, (f" = {formats.number(value)}", "")]])


def _masked(head: HeadSteps, at: Cell) -> Derivation:
    score = formats.number(head.masked_scores[at.query, at.key].item())
    sees = bool(head.visible[at.query, at.key])
    why = "may see this key: the score stays" if sees else "may not see this key: the score becomes"
    title = f"Masked score of “{head.queries[at.query]}” and “{head.keys[at.key]}”"
    return Derivation(title, [[(f"this query {why} {score}", "")]])


def _weight(head: HeadSteps, at: Cell) -> Derivation:
    value, row = head.weights[at.query, at.key].item(), head.masked_scores[at.query].double()
    title = f"Weight of “{head.keys[at.key]}” for “{head.queries[at.query]}”"
    visible = head.visible[at.query].nonzero()[:, 0].tolist()
    if not visible:
        return Derivation(title, [[("this query may see nothing: all its weights are 0", "")]])
    highest = row.max()
    power, powers = formats.share((row[at.key] - highest).exp().item()), (row[visible] - highest).exp()
    kept, below = largest(powers), list[Span]()
    for i in kept:
        below += [(" + " if below else "", ""), (formats.share(powers[i].item()), "")]
        below += [(f" {head.keys[visible[i]]}", "key")]
    below += others(powers, kept, formats.share)
    top, total = formats.number(highest.item()), formats.share(powers.sum().item())
    same = f"The same for every key; the sum is below. (Subtracting the largest score, {top}, changes no weight.)"
    lines: list[list[Span]] = [
        [(f"exp({formats.number(row[at.key].item())} − {factor(highest.item())}) = {power}", "")],
        [(same, "")],
        [*below, (f" = {total}", "")],
        [(f"{power} / {total} = {formats.share(value)}", "")],
    ]
    return Derivation(title, lines)


def _weighted(head: HeadSteps, at: Cell) -> Derivation:
    weight, part = head.weights[at.query, at.key].item(), head.value[at.key, at.dim].item()
    value = head.weighted_values(at.query)[at.key, at.dim].item()
    line = [(formats.share(weight), ""), (" × ", ""), (factor(part), "value"), (f" = {formats.number(value)}", "")]
    title = f"What “{head.keys[at.key]}” gives to “{head.queries[at.query]}”, dimension {at.dim + 1}"
    return Derivation(title, [line])


def _gathered(head: HeadSteps, at: Cell) -> Derivation:
    label, visible = head.queries[at.query], head.visible[at.query].nonzero()[:, 0]
    title = f"Head output of “{label}”, dimension {at.dim + 1}"
    if not len(visible):
        return Derivation(title, [[("this query may see nothing, and so gathers nothing: 0.000", "")]])
    parts = products(head.weights[at.query, visible], head.value[visible, at.dim], ("weight", "value"))
    line = equation((f"output({label}) {at.dim + 1}", "result"), parts, head.output[at.query, at.dim].item())
    return Derivation(title, [line])


def _merged(head: HeadSteps, at: Cell) -> Derivation:
    column = head.number * head.head_dim + at.dim
    value = head.merged(slice(at.query, at.query + 1))[0, column].item()
    line = f"column {column + 1} of {head.inside.module.d_model} is dimension {at.dim + 1} of head {head.number + 1}: "
    title = f"All heads of “{head.queries[at.query]}”, column {column + 1}"
    return Derivation(title, [[(line + formats.number(value), "")]])


def _output(head: HeadSteps, at: Cell) -> Derivation:
    row, module = slice(at.query, at.query + 1), head.inside.module.output_projection
    label, value = head.queries[at.query], head.projected(row)[0, at.channel].item()
    parts = products(head.merged(row)[0], module.weight[at.channel].detach(), ("result", "weight"))
    line = equation((f"attention({label}) {at.channel + 1}", "result"), [*parts, *_bias(module, at.channel)], value)
    return Derivation(f"Output of “{label}”, channel {at.channel + 1}", [line])


DERIVATIONS: dict[str, Callable[[HeadSteps, Cell], Derivation]] = {
    "input": _input,
    "query": _projected("query"),
    "key": _projected("key"),
    "value": _projected("value"),
    "scores": _score,
    "scaled": _scaled,
    "masked": _masked,
    "weights": _weight,
    "weighted values": _weighted,
    "head output": _gathered,
    "heads": _merged,
    "output": _output,
}


def derivation(head: HeadSteps, step: str, at: Cell) -> Derivation:
    """How one number came about.

    Args:
        head: the head.
        step: the matrix that holds the number, one of STEPS.
        at: the cell.
    """
    with torch.no_grad():
        return DERIVATIONS[step](head, at)


Line = tuple[Callable[..., Any], str]  # a function, and a piece of one of its lines

# step -> the line that computes it, in every model.
LINES: dict[str, Line] = {
    "input": (TransformerLayer._add, "norm(x)))"),
    "query": (MultiHeadAttention.forward, "self.query_projection("),
    "key": (MultiHeadAttention.forward, "self.key_projection("),
    "value": (MultiHeadAttention.forward, "self.value_projection("),
    "scores": (vars(HeadSteps)["scores"].func, "scale=1.0"),  # not yet scaled
    "scaled": (scaled_dot_product._scaled, "math.sqrt"),
    "masked": (mask_scores, "masked_fill"),
    "weights": (attention_weights, ".softmax("),
    "weighted values": (HeadSteps.weighted_values, "* self.value"),  # in the model one product with the sum
    "head output": (MultiHeadAttention._attend, "@ v"),
    "heads": (MultiHeadAttention.forward, ".flatten(2)"),
    "output": (MultiHeadAttention.forward, "self.output_projection(merged)"),
}


def lines_of(head: HeadSteps, step: str) -> list[Line]:
    """The lines that computed this step of this head, whatever its model is made of."""
    recorded, lines = head.inside.recorded, [LINES[step]]
    if step == "input" and head.inside.norm is None:  # post-norm: the sub-layer before left it, or the embedding
        added: list[Line] = [(Stack.place, 'self.tap("position"')] if "position" in recorded else []
        if "token_types" in recorded:
            added.insert(0, (Stack.embed, "self.token_types(types)"))
        if "embedding_norm" in recorded:
            added.append((Stack.place, "self.embedding_norm(x)"))
        first: list[Line] = [(Stack.embed, "self.embedding("), *added]
        lines = first if "embedding" in recorded else [(TransformerLayer._add, "norm(x + ")]
    if f"rotated_{step}" in recorded:
        lines.append((MultiHeadAttention._place, "positional.rotate("))
        lines.append((turn_pairs, "first * cos"))
    if step == "scaled" and head.bias is not None:
        lines.append((attention_scores, "scores + bias"))
    if step == "scaled" and head.temperature != 1:
        lines.append((HeadSteps._scaled, "/ self.temperature"))
    return lines


VALUE = ("value", "weighted values", "head output")  # the steps in which V takes part


def latex(head: HeadSteps, step: str, mode: Mode) -> list[str]:
    """The formulas, Vaswani et al. 2017, equation 1 and section 3.2.2, with the parts of one step lit."""

    def part(text: str, *steps: str, role: str = "") -> str:
        if step not in steps:
            return rf"\textcolor{{{colours.MUTED[mode]}}}{{{text}}}"
        return rf"\textcolor{{{colours.ROLE[mode][role] if role else colours.INK[mode]}}}{{\boldsymbol{{{text}}}}}"

    score = part("Q", "query", "scores", role="query") + part(r"K^{\top}", "key", "scores", role="key")
    root = part(r"\sqrt{d_k}", "scaled")
    inner = rf"\dfrac{{{score}}}{{{root}}}" if head.scaled else score
    if head.bias is not None:
        inner += part("+B", "scaled")
    if head.temperature != 1:
        inner = r"\left(" + inner + r"\right)" + part(f"/{head.temperature:g}", "scaled")
    weights = part(r"\mathrm{softmax}", "weights") + r"\left(" + inner + part("+M", "masked") + r"\right)"
    gathered = part("H", "head output", "heads", role="result") + "=" + weights
    gathered += r"\," + part("V", *VALUE, role="value")
    output = part("Y", "output", role="result") + "=" + part(r"[H_1 \dots H_h]", "heads", "output", role="result")
    output += part(r"\,W_O", "output", role="result")
    read = [
        part(letter, name, role=name) + "=" + part("X", "input", name) + part(rf"\,W_{letter}", name, role=name)
        for letter, name in (("Q", "query"), ("K", "key"), ("V", "value"))
    ]
    return [*read, gathered, output]


def code(lines: Sequence[Line]) -> str:
    """These lines, cut out of the source as it runs."""
    return "\n".join(_statement(function, piece) for function, piece in lines)


@cache  # it is asked for with every picture
def _statement(function: Callable[..., Any], piece: str) -> str:
    """The shortest statement of a function that holds this piece."""
    source = textwrap.dedent(inspect.getsource(function))
    statements = [
        text
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and (text := ast.get_source_segment(source, node)) and piece in text
    ]
    return textwrap.dedent(min(statements, key=len))
