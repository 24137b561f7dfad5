"""A row of tokens, each a chip as the model reads it, with a weight below it where it has one. Pure functions.

A row is data that travels with pictures (tfm_ui/page/words.py), and `html_of` draws it; assets/pictures/words.js draws
the same elements in the browser. An item of a row is one of
    "Reads"                   words between the tokens
    ["·cat"]                  a token by its label
    ["·cat", "0.3125", "0.31"]  and its weight, for the length of its bar, and as it is written
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from tfm_core import Tokens
from tfm_ui.text.token_labels import labels

Chip = tuple[str] | tuple[str, str, str]
Item = str | Chip
MOST = 64  # chips of a row


@dataclass(frozen=True)
class Text:
    """A text as a model reads it.

    Attributes:
        tokens: what is read.
        padded_before: whether its padding stands before the text, and not after it.
    """

    tokens: Tokens
    padded_before: bool = False

    def first(self, count: int) -> "Text":
        """Its first tokens; padding after them is among them."""
        tokens = self.tokens
        return replace(self, tokens=replace(tokens, pieces=tokens.pieces[:count], ids=tokens.ids[:count]))


def row(names: Sequence[str], weights: Sequence[float] | None = None) -> list[Item]:
    """A row of these labels, as `labels` makes them of tokens.

    Args:
        names: the labels; of more than `MOST` the first are drawn, and the others counted.
        weights: one for each label, from 0 to 1.
    """
    if weights is None:
        return _and_more([(name,) for name in names[:MOST]], len(names) - MOST)
    chips = [(name, f"{weight:.4f}", f"{weight:.2f}") for name, weight in zip(names, weights, strict=True)]
    return _and_more(chips[:MOST], len(chips) - MOST)


def read(texts: Sequence[Text], between: str = "") -> list[Item]:
    """A row that says which tokens are read; empty of no text.

    Args:
        texts: none, one, or several, each with an equal share of the chips.
        between: what stands between two texts.
    """
    rows = [_of_text(text, MOST // len(texts)) for text in texts]
    joined = [item for each in rows for item in (between, *each)]
    return ["Reads", *joined[1:]] if rows else []


def signs(texts: Sequence[Text]) -> str:
    """What the signs for white space stand for that occur in the labels of these texts; "" if none does."""
    pieces = [piece for text in texts for piece in text.tokens.pieces[:MOST]]
    spaced = [piece for piece in pieces if " " in piece]
    before_words = all(piece[0] == " " and piece[1:].isalnum() for piece in spaced)
    told = {
        "·": ("a space before the word" if before_words else "a space") if spaced else "",
        "↵": "a new line" if any("\n" in piece for piece in pieces) else "",
    }
    return ", ".join(f"{sign} = {means}" for sign, means in told.items() if means)


def html_of(items: Sequence[Item]) -> str:
    """A row as HTML, escaped."""
    return " ".join(map(_html, items))


def _of_text(text: Text, most: int) -> list[Item]:
    """The chips of a text. Labels depend on the tokens before them alone, so only those that are drawn are made."""
    tokens = text.tokens
    before = min(tokens.padding, most) if text.padded_before else 0
    pieces = tokens.pieces[: most - before]
    after = 0 if text.padded_before else min(tokens.padding, most - len(pieces))
    names = labels(replace(tokens, pieces=pieces, ids=(0,) * (len(pieces) + before + after)))
    named, padding = names[: len(pieces)], names[len(pieces) :]
    drawn = [*padding, *named] if text.padded_before else names
    return _and_more([(name,) for name in drawn], len(tokens.ids) - len(drawn))


def _and_more(chips: Sequence[Chip], more: int) -> list[Item]:
    return [*chips, *([f"… and {more:,} more"] if more > 0 else [])]


def _html(item: Item) -> str:
    if isinstance(item, str):
        return f"<span>{escape(item)}</span>"
    name, *weight = map(escape, item)
    if not weight:
        return f'<b class="token">{name}</b>'
    share, written = weight
    return f'<b class="token weighed" style="--weight: {share}">{name}<small>{written}</small><i></i></b>'
