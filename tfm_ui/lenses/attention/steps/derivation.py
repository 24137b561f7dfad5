"""What the derivation of a number is made of: lines of text, and sums of products with a name for each term.

Sums are taken in float64 over the recorded float32 tensors; at the end of a line stands the tensor's own number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd
from torch import Tensor

from tfm_ui.text import formats

SHOWN = 8  # terms of a sum that are written out; of more, the largest, and what the others come to

Span = tuple[str, str]  # a piece of a line, and the role whose colour it has ("" for none)


@dataclass(frozen=True)
class Cell:
    """A place in the matrices of one head, all from 0: query and key are tokens, dim is of the head."""

    query: int
    key: int
    dim: int
    channel: int


@dataclass(frozen=True)
class Derivation:
    """The history of one number.

    Attributes:
        title: whose it is.
        value: the number.
        lines: equations, the number at the end of the last.
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
    """Products, a name for each, and the roles of their factors."""

    left: Tensor
    right: Tensor
    names: Sequence[str]
    roles: tuple[str, str]

    @property
    def products(self) -> Tensor:
        """float64, (term)."""
        return self.left.double() * self.right.double()

    def spans(self) -> list[Span]:
        """a × b + c × d + …, the largest if they are many, in their order, and what the others come to."""
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
        """A row per term."""
        first, second = (role or "weight" for role in self.roles)
        second = f"{second}'" if first == second else second
        columns = {first: self.left.tolist(), second: self.right.tolist(), "product": self.products.tolist()}
        return pd.DataFrame(columns, index=pd.Index(self.names, name="term"))


def factor(number: float) -> str:
    """In brackets, where a sign would stand beside another."""
    text = formats.number(number)
    return f"({text})" if text.startswith("−") else text


def summed(title: str, name: list[Span], parts: Sum, value: float, more: Sequence[Span] = ()) -> Derivation:
    """name = the sum [+ more] = value."""
    line = [*name, (" = ", ""), *parts.spans(), *more, (" = ", ""), (formats.number(value), "")]
    return Derivation(title, value, [line], parts.table())
