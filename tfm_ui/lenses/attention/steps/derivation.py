"""The derivation of any cell of any step: its equation with the real numbers put in.

It is made of lines of text, and of sums of products with a name for each term. Sums are taken in float64 over the
recorded float32 tensors; at the end of a line stands the tensor's own number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pandas as pd
import torch
from torch import Tensor, nn

from tfm_ui.lenses.attention.steps.head_steps import Cell, HeadSteps
from tfm_ui.text import formats

SHOWN = 8  # terms of a sum that are written out; if there are more, the largest are, with the total of the others

Span = tuple[str, str]  # a piece of a line, and the role whose colour it has ("" for none)


@dataclass(frozen=True)
class Derivation:
    """The history of one number.

    Attributes:
        title: which number it is.
        value: the number.
        lines: equations; the last one ends in the number.
        terms: what was summed: term -> its factors and their product; often empty.
    """

    title: str
    value: float
    lines: list[list[Span]]
    terms: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def text(self) -> str:
        """The lines as plain text."""
        return "\n".join("".join(text for text, _ in line) for line in self.lines)


@dataclass(frozen=True)
class Sum:
    """A sum of products.

    Attributes:
        left, right: (term), the two factors of each product.
        names: a name for each term.
        roles: whose colours the left and the right factors have, such as "query" and "key"; "" for none.
    """

    left: Tensor
    right: Tensor
    names: Sequence[str]
    roles: tuple[str, str]

    @property
    def products(self) -> Tensor:
        """float64, (term)."""
        return self.left.double() * self.right.double()

    def spans(self) -> list[Span]:
        """a × b + c × d + …: of many terms only the largest, in the order of the terms, and the total of the others."""
        products = self.products
        many = len(products) > SHOWN
        kept = sorted(products.abs().argsort(descending=True)[: SHOWN - 1].tolist()) if many else range(len(products))
        spans: list[Span] = []
        for i in kept:
            spans += [(" + " if spans else "", "")]
            spans += [(factor(self.left[i].item()), self.roles[0]), (" × ", "")]
            spans += [(factor(self.right[i].item()), self.roles[1])]
        if many:
            rest = products.sum() - products[list(kept)].sum()
            spans += [(f" + … {len(products) - len(kept)} smaller ones, together {formats.number(rest.item())}", "")]
        return spans

    def table(self) -> pd.DataFrame:
        """A row per term: its two factors and their product."""
        first, second = (role or "weight" for role in self.roles)
        second = f"{second}'" if first == second else second
        columns = {first: self.left.tolist(), second: self.right.tolist(), "product": self.products.tolist()}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="term"))


def factor(number: float) -> str:
    """A number as text, in brackets if it is negative: its sign would stand beside another one."""
    text = formats.number(number)
    return f"({text})" if text.startswith("−") else text


def summed(title: str, name: list[Span], parts: Sum, value: float, more: Sequence[Span] = ()) -> Derivation:
    """The derivation of a sum of products: "name = the sum [+ more] = value".

    Args:
        title: which number it is.
        name: what stands before the first equals sign.
        parts: the sum.
        value: the number, as the model computed it.
        more: what is added after the sum, such as a bias.
    """
    line = [*name, (" = ", ""), *parts.spans(), *more, (" = ", ""), (formats.number(value), "")]
    return Derivation(title, value, [line], parts.table())


def _channels(count: int) -> list[str]:
    return [f"channel {i + 1}" for i in range(count)]


def _input(head: HeadSteps, at: Cell) -> Derivation:
    inside, name = head.inside, head.queries[at.query]
    row, value = inside.residual[at.query].double(), inside.input[at.query, at.channel].item()
    title = f"Input of “{name}”, channel {at.channel + 1}"
    before = row[at.channel].item()
    origin = _origin(head, at)
    if inside.norm is None:
        return Derivation(title, value, [[(origin + formats.number(before), "")]])
    mean, variance = row.mean().item(), row.var(unbiased=False).item()
    gain, shift = inside.norm.weight[at.channel].item(), inside.norm.bias[at.channel].item()
    root = math.sqrt(variance + inside.norm.eps)
    lines = [
        [(origin + formats.number(before), "")],
        [
            (
                f"this token’s vector has mean {formats.number(mean)} and standard deviation {formats.number(root)}: "
                "the norm subtracts the mean, divides by the deviation, and applies its gain and shift",
                "",
            )
        ],
        [
            (f"({formats.number(before)} − {factor(mean)}) / {formats.number(root)}", ""),
            (f" × {factor(gain)} + {factor(shift)} = {formats.number(value)}", ""),
        ],
    ]
    return Derivation(title, value, lines)


def _origin(head: HeadSteps, at: Cell) -> str:
    """What stands before the number of the residual stream: in the first layer, what it is the sum of."""
    recorded = head.inside.recorded
    if "embedding" not in recorded:
        return "the residual stream here, as the layers before left it: "
    embedding = formats.number(recorded["embedding"][at.query, at.channel].item())
    if "position" not in recorded:
        return f"the residual stream here: embedding of “{head.queries[at.query]}” × √d_model = "
    position = recorded["position"][at.query, at.channel].item()
    parts = f"embedding × √d_model + position {at.query + 1} = {embedding} + {factor(position)}"
    return f"the residual stream here: {parts} = "


def _projected(role: str) -> Callable[[HeadSteps, Cell], Derivation]:
    """How to derive a query, key or value: the input times parameters, then rotated if the scheme rotates it."""

    def derive(head: HeadSteps, at: Cell) -> Derivation:
        inside, token = head.inside, at.query if role == "query" else at.key
        label = (head.queries if role == "query" else head.keys)[token]
        read = (inside.input if role == "query" else inside.memory)[token]
        plain = inside.recorded[role][head.number, token]
        module = inside.module.get_submodule(f"{role}_projection")
        assert isinstance(module, nn.Linear)

        def product(dim: int) -> Derivation:
            row = head.number * head.head_dim + dim
            parts = Sum(read, module.weight[row].detach(), _channels(len(read)), ("", "weight"))
            bias = (f" + {factor(module.bias[row].item())}", "")
            name = [(f"{role}(“{label}”) {dim + 1}", role)]
            return summed(
                f"{role.capitalize()} of “{label}”, dimension {dim + 1}", name, parts, plain[dim].item(), [bias]
            )

        unturned = product(at.dim)
        turned = inside.recorded.get(f"rotated_{role}")
        if turned is None:
            return unturned
        half = head.head_dim // 2
        pair, sign = (at.dim + half, "−") if at.dim < half else (at.dim - half, "+")
        angle = token * 10000.0 ** (-(at.dim % half) / half)
        value = turned[head.number, token, at.dim].item()
        line = [
            (f"rotated by the angle of position {token}, together with dimension {pair + 1}: ", ""),
            (f"{factor(plain[at.dim].item())} × ", ""),
            (f"{factor(math.cos(angle))} {sign} {factor(plain[pair].item())} × {factor(math.sin(angle))}", ""),
            (f" = {formats.number(value)}", role),
        ]
        lines = [*unturned.lines, *product(pair).lines, line]
        return Derivation(unturned.title, value, lines, unturned.terms)

    return derive


def _score(head: HeadSteps, at: Cell) -> Derivation:
    pair = head.queries[at.query], head.keys[at.key]
    names = [f"dimension {i + 1}" for i in range(head.head_dim)]
    parts = Sum(head.query[at.query], head.key[at.key], names, ("query", "key"))
    name = [(f"score({pair[0]}, {pair[1]})", "")]
    return summed(f"Score of “{pair[0]}” and “{pair[1]}”", name, parts, head.scores[at.query, at.key].item())


def _scaled(head: HeadSteps, at: Cell) -> Derivation:
    value, score = head.scaled_scores[at.query, at.key].item(), head.scores[at.query, at.key].item()
    line: list[Span] = [(formats.number(score), "")]
    line += [(f" / √{head.head_dim}", "")] if head.scaled else []
    if head.bias is not None:
        line += [(f" + {factor(head.bias[at.query, at.key].item())}", "")]
    if head.temperature != 1:
        line = [("(", ""), *line, (f") / {head.temperature:g}", "")]
    why = "" if head.scaled else "the division by √dₖ is off: "
    said = f", the bias of {head.positional} added" if head.bias is not None else ""
    title = f"Scaled score of “{head.queries[at.query]}” and “{head.keys[at.key]}”{said}"
    return Derivation(title, value, [[(why, ""), *line, (f" = {formats.number(value)}", "")]])


def _masked(head: HeadSteps, at: Cell) -> Derivation:
    value = head.masked_scores[at.query, at.key].item()
    pair = f"“{head.queries[at.query]}” and “{head.keys[at.key]}”"
    sees = bool(head.visible[at.query, at.key])
    stays, becomes = "may see this key: the score stays ", "may not see this key: the score becomes "
    why = f"this query {stays if sees else becomes}"
    return Derivation(f"Masked score of {pair}", value, [[(why + formats.number(value), "")]])


def _weight(head: HeadSteps, at: Cell) -> Derivation:
    value, row = head.weights[at.query, at.key].item(), head.masked_scores[at.query].double()
    title = f"Weight of “{head.keys[at.key]}” for “{head.queries[at.query]}”"
    visible = head.visible[at.query].nonzero()[:, 0].tolist()
    if not visible:
        return Derivation(title, value, [[("this query may see nothing: all its weights are 0", "")]])
    highest = row.max()
    powers = (row - highest).exp()
    many = len(visible) > SHOWN
    kept = sorted(sorted(visible, key=lambda k: -powers[k].item())[: SHOWN - 1]) if many else visible
    below: list[Span] = []
    for k in kept:
        below += [(" + " if below else "", ""), (formats.share(powers[k].item()), ""), (f" {head.keys[k]}", "key")]
    if many:
        rest = powers.sum() - powers[kept].sum()
        below += [(f" + … {len(visible) - len(kept)} smaller ones, together {formats.share(rest.item())}", "")]
    top, total = formats.number(highest.item()), formats.share(powers.sum().item())
    score = formats.number(row[at.key].item())
    lines: list[list[Span]] = [
        [(f"exp({score} − {factor(highest.item())}) = {formats.share(powers[at.key].item())}", "")],
        [
            (
                f"The same for every key; the sum is below. (Subtracting the largest score, {top}, changes no weight.)",
                "",
            )
        ],
        [*below, (f" = {total}", "")],
        [(f"{formats.share(powers[at.key].item())} / {total} = {formats.share(value)}", "")],
    ]
    columns = {
        "score": row[visible].tolist(),
        "exp": powers[visible].tolist(),
        "weight": head.weights[at.query, visible].tolist(),
    }
    names = pd.Index([f"{k + 1} {head.keys[k]}" for k in visible], name="key")
    return Derivation(title, value, lines, pd.DataFrame(columns, index=names))


def _weighted(head: HeadSteps, at: Cell) -> Derivation:
    weight, part = head.weights[at.query, at.key].item(), head.value[at.key, at.dim].item()
    value = head.weighted_values(at.query)[at.key, at.dim].item()
    line = [(formats.share(weight), ""), (" × ", ""), (factor(part), "value"), (f" = {formats.number(value)}", "")]
    title = f"What “{head.keys[at.key]}” gives to “{head.queries[at.query]}”, dimension {at.dim + 1}"
    return Derivation(title, value, [line])


def _gathered(head: HeadSteps, at: Cell) -> Derivation:
    label, visible = head.queries[at.query], head.visible[at.query].nonzero()[:, 0]
    names = [f"{k + 1} {head.keys[k]}" for k in visible.tolist()]
    title = f"Head output of “{label}”, dimension {at.dim + 1}"
    if not names:
        return Derivation(title, 0.0, [[("this query may see nothing, and so gathers nothing: 0.000", "")]])
    parts = Sum(head.weights[at.query, visible], head.value[visible, at.dim], names, ("weight", "value"))
    name = [(f"output({label}) {at.dim + 1}", "result")]
    return summed(title, name, parts, head.output[at.query, at.dim].item())


def _merged(head: HeadSteps, at: Cell) -> Derivation:
    column = head.number * head.head_dim + at.dim
    value = head.merged(slice(at.query, at.query + 1))[0, column].item()
    line = f"column {column + 1} of {head.inside.module.d_model} is dimension {at.dim + 1} of head {head.number + 1}: "
    title = f"All heads of “{head.queries[at.query]}”, column {column + 1}"
    return Derivation(title, value, [[(line + formats.number(value), "")]])


def _output(head: HeadSteps, at: Cell) -> Derivation:
    row, module = slice(at.query, at.query + 1), head.inside.module.output_projection
    merged, value = head.merged(row)[0], head.projected(row)[0, at.channel].item()
    label = head.queries[at.query]
    names = [f"head {i // head.head_dim + 1}, dimension {i % head.head_dim + 1}" for i in range(len(merged))]
    parts = Sum(merged, module.weight[at.channel].detach(), names, ("result", "weight"))
    bias = (f" + {factor(module.bias[at.channel].item())}", "")
    name = [(f"attention({label}) {at.channel + 1}", "result")]
    return summed(f"Output of “{label}”, channel {at.channel + 1}", name, parts, value, [bias])


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
