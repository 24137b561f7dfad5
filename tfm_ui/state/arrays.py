"""Attention weights out of a visitor's file, as the model's state sees them: by a name that stands in the link.

There is no model: only how much the heads of each layer look at each token, as somebody has computed it elsewhere
(tfm_core/study/attention_arrays.py). The name is a key of 128 bits; where the file holds a batch, the number of another
sentence than the first follows it, as in "array-…-2". Where files are kept, array_files.py knows.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tfm_core import Tokens
from tfm_core.positional.schemes import PLAIN

BEGINS = "array-"
NAME = re.compile(f"({BEGINS}[0-9a-f]{{32}})(?:-([2-9]|[1-9][0-9]{{1,4}}))?")
WEIGHTS_ALONE = "This file holds attention weights only: no queries, values or logits."
GONE = "The attention weights of this link are not on this server any more: load their file again, under “Weights”."
MOST_TEXT = 2000  # characters of the tokens in a box


@dataclass(frozen=True)
class AttentionFile:
    """What is known of the weights in a file, without the weights.

    Attributes:
        key: of the file in the store.
        digest: of what is kept under it.
        file: the file's name, as its visitor had it.
        num_layers, num_heads, length: how many layers, heads of each, and tokens there are.
        batch: how many sentences the file holds.
        item: which of them is shown, from 0.
        named: its tokens; () if nobody has said them.
        notes: how the file was read and what was checked, in sentences.
        tolerance: by how much the sum of a row may differ from 1 by the rounding of its numbers.
        rows_sum_to_1: whether each row does, but those of zeros.
        is_causal: whether no query looks ahead.
    """

    key: str
    digest: str
    file: str
    num_layers: int
    num_heads: int
    length: int
    batch: int
    item: int
    named: tuple[str, ...]
    notes: tuple[str, ...]
    tolerance: float
    rows_sum_to_1: bool
    is_causal: bool

    @property
    def name(self) -> str:
        """The name of this sentence's weights in a link."""
        return name_of(self.key, self.item)

    @property
    def size(self) -> int:
        """The bytes of all its weights, of the whole batch, as float32."""
        return 4 * self.num_layers * self.batch * self.num_heads * self.length**2

    @property
    def tokens(self) -> Tokens:
        """The tokens, equal ones with equal numbers; where nobody has said them, they are called by their places."""
        pieces = self.named or tuple(str(place) for place in range(1, self.length + 1))
        first: dict[str, int] = {}
        ids = tuple(first.setdefault(piece, place) for place, piece in enumerate(pieces, 1))
        return Tokens(pieces, ids, dropped=0)

    @property
    def text(self) -> str:
        """The tokens in a row, for a box that nobody can type in."""
        return " ".join(self.tokens.pieces)

    @property
    def about_tokens(self) -> str:
        """Where the tokens are from, in a sentence."""
        return "The tokens came with the weights." if self.named else "Nobody has named the tokens: they have numbers."

    @property
    def fixes(self) -> Mapping[str, Any]:
        """Field of the model's state -> the value that the file fixes. Most mean nothing: there is no such model."""
        return {
            "text": self.text[:MOST_TEXT],
            "seq_len": self.length,
            "num_layers": self.num_layers,
            "num_heads": self.num_heads,
            "causal": self.is_causal,
            "tokenizer": "word",
            "d_model": 2 * self.num_heads,
            "d_ff": 0,
            "positional": PLAIN,
            "norm": "pre",
            "activation": "gelu",
            "architecture": "encoder",
            "seed": 0,
        }


SHOWN = ("text", "num_layers", "num_heads")  # the fields of these that are true of the file, and worth a box


def name_of(key: str, item: int = 0) -> str:
    """The name in a link of a sentence of a batch, from 0."""
    return f"{key}-{item + 1}" if item else key


def is_name(name: str) -> bool:
    """Whether weights of this name are a visitor's file."""
    return NAME.fullmatch(name) is not None


# Finds what is known of the weights of a name, its key and the sentence from 0; or says why they are not there.
LookUp = Callable[[str, str, int], AttentionFile | str]


def _nowhere(name: str, key: str, item: int) -> AttentionFile | str:
    return GONE


_look_up: LookUp = _nowhere


def looked_up_by(look_up: LookUp) -> None:
    """Let names be looked up in this way, from now on."""
    global _look_up
    _look_up = look_up


def known(name: str) -> AttentionFile | None:
    """What is known of the weights of this name; None if they are not there, or if it names none."""
    there = _looked_up(name)
    return there if isinstance(there, AttentionFile) else None


def why_not_there(name: str) -> str:
    """Why the weights of this name are not there, in a sentence; "" if they are, or if it names none."""
    there = _looked_up(name)
    return there if isinstance(there, str) else ""


def _looked_up(name: str) -> AttentionFile | str:
    match = NAME.fullmatch(name)
    return _look_up(name, match[1], int(match[2] or 1) - 1) if match else ""
