"""The way through a model that a reader goes by opening sources: cells, each of a head, and the source that is chosen.

    2.1.6.5k       layer 2, head 1: query 6 and key 5; all numbers count from 1. A source of the key was opened
    x2.1.6.5q      the same of the cross-attention in an encoder-decoder, `d` of the decoder; a source of the query was
    l1.2.6.6l      what follows token 6: the logit of the likeliest, minus that of the second; a source of it was opened

In a link a minus stands between cells: the last is where the reader came from. The third side is `v`, the value's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

LOGIT = "logit"
KINDS = {"": "encoder", "d": "decoder", "x": "cross", "l": LOGIT}  # what a cell begins with in a link -> its kind
CELL = re.compile(r"([dxl]?)(\d{1,3})\.(\d{1,3})\.(\d{1,5})\.(\d{1,5})([qkvl])", re.ASCII)
CODE = re.compile(r"e?(?:embedding|types|position|biases|\d{1,3}(?:[.x]\d{1,3}|n))(?:@\d{1,5})?", re.ASCII)
ROOM = 40  # characters of a link that the cells may take: of a longer way the last ones are kept
EXPECTED = "expected cells such as 2.1.6.5k, with a minus between them"


class At(NamedTuple):
    """A cell of one head; all numbers count from 1. Or a logit, with ranks of tokens as layer and head.

    Attributes:
        kind: of the attention, as in the lens's state; or "logit".
        layer: of the head.
        head: its number in the layer.
        query: the token that looks.
        key: the token that is looked at.
        side: in a trail, on which side a source was opened: "q", "k" or "v", the query's, the key's or the value's; "l"
            of a logit.
    """

    kind: str
    layer: int
    head: int
    query: int
    key: int
    side: str = ""

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """Layer, head, query and key, from 0."""
        return self.layer - 1, self.head - 1, self.query - 1, self.key - 1

    def __str__(self) -> str:
        """Its text in a link."""
        sign = next(sign for sign, kind in KINDS.items() if kind == self.kind)
        return f"{sign}{self.layer}.{self.head}.{self.query}.{self.key}{self.side}"


def cells(text: str) -> list[At]:
    """The cells in a text; what is none is left out."""
    return [cell for part in text.split("-") if (cell := _cell(part))]


def _cell(text: str) -> At | None:
    match = CELL.fullmatch(text)
    if not match:
        return None
    sign, layer, head, query, key, side = match.groups()
    is_logit = KINDS[sign] == LOGIT
    return At(KINDS[sign], int(layer), int(head), int(query), int(key), side) if is_logit == (side == "l") else None


def written(trail: Sequence[At]) -> str:
    """Cells as they stand in a link: the last ones, as many as there is room for."""
    kept = list(trail)
    while len(text := "-".join(map(str, kept))) > ROOM:
        kept = kept[1:]
    return text


@dataclass(frozen=True)
class Trail:
    """A control that holds a trail: the text that stands for it."""

    label: str
    max_chars: int = ROOM

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The cells among what was asked for."""
        text = written(cells(raw))
        return text, "" if text == raw else EXPECTED


@dataclass(frozen=True)
class SourceCode:
    """A control that holds a source, as `tfm_core.study.attribution` codes it, such as "1.4"; "" for none.

    In a graph it also has the token at which it wrote, "1.4@5"; a node of the encoder in an encoder-decoder begins with
    an "e", "e1.4@5". The biases, which are the same at all tokens, are "biases@0".
    """

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The source, if it is one."""
        if not raw or CODE.fullmatch(raw):
            return raw, ""
        return default, "expected such as 1.4, 1n, embedding, or with a token 1.4@5"
