"""What the derivation of a number is made of: lines of text, and sums of products with a name for each term.

Sums are taken in float64 over the recorded float32 tensors; at the end of a line stands the tensor's own number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd
from torch import Tensor

from tfm_ui.text import formats

SHOWN = 8  # terms of a sum that are written out; if there are more, the largest are, with the total of the others

Span = tuple[str, str]  # a piece of a line, and the role whose colour it has ("" for none)


@dataclass(frozen=True)
class Cell:
    """A place in the matrices of one head; all numbers count from 0.

    Attributes:
        query, key: a token each.
        dim: of the head's head_dim.
        channel: of d_model.
    """

    query: int
    key: int
    dim: int
    channel: int


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
