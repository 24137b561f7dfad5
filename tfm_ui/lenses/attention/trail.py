"""The way through a model that a reader goes by opening sources: cells, each of a head, and the source that is chosen.

    2.1 6>5 k           layer 2, head 1: query 6 and key 5; all numbers count from 1. A source of the key was opened
    cross 2.1 6>5 q     the same of the cross-attention in an encoder-decoder; a source of the query was opened

    logit 1.2 6>6 l     what follows token 6: the logit of the likeliest, minus that of the second; a source was opened

In a link several cells are separated by semicolons: the last is where the reader came from. The third side is `v`, the
value's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

KINDS = ("encoder", "decoder", "cross")
LOGIT = "logit"
CELL = re.compile(
    rf"(?:({'|'.join(KINDS)}|{LOGIT}) )?(\d{{1,3}})\.(\d{{1,3}}) (\d{{1,5}})>(\d{{1,5}}) ([qkvl])", re.ASCII
)
CODE = re.compile(r"embedding|types|position|biases|\d{1,3}(?:[.x]\d{1,3}|n)", re.ASCII)
NODE = re.compile(rf"(?:encoder:)?(?:{CODE.pattern})@\d{{1,5}}", re.ASCII)
MOST = 8  # cells of a trail
ROOM = 190  # characters of a link that they may take
EXPECTED = "expected cells such as 2.1 6>5 k, separated by semicolons"


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
        kind = "" if self.kind == KINDS[0] else f"{self.kind} "
        return f"{kind}{self.layer}.{self.head} {self.query}>{self.key} {self.side}".rstrip()


def cells(text: str) -> list[At]:
    """The cells in a text; what is none is left out."""
    return [cell for part in text.split(";") if (cell := _cell(" ".join(part.split())))]


def _cell(text: str) -> At | None:
    match = CELL.fullmatch(text)
    if not match:
        return None
    kind, layer, head, query, key, side = match.groups()
    is_logit = kind == LOGIT
    return (
        At(kind or KINDS[0], int(layer), int(head), int(query), int(key), side) if is_logit == (side == "l") else None
    )


def written(trail: Sequence[At]) -> str:
    """Cells as they stand in a link: the last ones, as many as there is room for."""
    kept = list(trail)[-MOST:]
    while len(text := "; ".join(map(str, kept))) > ROOM:
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
        return text, "" if len(cells(raw)) == len([part for part in raw.split(";") if part.strip()]) else EXPECTED


@dataclass(frozen=True)
class SourceCode:
    """A control that holds the code of a source, as `tfm_core.study.attribution` has it; "" for none."""

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The code, if it is one."""
        if not raw or CODE.fullmatch(raw):
            return raw, ""
        return default, "expected such as 1.4, 1n, embedding, position or biases"


@dataclass(frozen=True)
class Node:
    """A control that holds a node of a graph: a source and the token at which it wrote, such as "1.4@5"; "" for none.

    In an encoder-decoder a node of the encoder begins with "encoder:", "encoder:1.4@5". The biases, which are the same
    at all tokens, are "biases@0".
    """

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The node, if it is one."""
        if not raw or NODE.fullmatch(raw):
            return raw, ""
        return default, "expected such as 1.4@5, embedding@2 or biases@0"
