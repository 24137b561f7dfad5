"""Text to token ids and back: by word, by character, by byte.

An id depends on its piece alone, never on the rest of the text, so a word keeps its vector wherever it stands.
Words and characters go into a vocabulary of fixed size; two that land on the same id share a vector, and
`collisions` names them. Bytes have an id each and give the text back exactly.
"""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.choices import check_choice

PAD_ID = 0
FIRST_ID = 4  # 0 is padding; 1 to 3 are kept free, so that special tokens to come will move no word
VOCAB_SIZE = 4096
BYTES_VOCAB_SIZE = FIRST_ID + 256

# A word is a run of anything but white space and punctuation, so that combining marks and joined emoji stay
# whole in every script; punctuation, tabs and newlines are tokens of their own.
PUNCTUATION = re.escape('.,;:!?"()[]{}<>…“”„«»¿¡—–،؛؟、。，！？：；「」『』')
WORD = re.compile(rf"[\n\t{PUNCTUATION}]|[^\s{PUNCTUATION}]+")


@dataclass(frozen=True)
class Tokenizer:
    """How a text is cut into pieces, and which id each piece has.

    Attributes:
        vocab_size: ids lie below it, from first_id on.
        split: text -> pieces.
        id_of: piece -> id.
        join: pieces -> text.
        first_id: the lowest id of a piece.
        pieces: how the token of each id is written, where that is known: not where words share ids.
    """

    vocab_size: int
    split: Callable[[str], list[str]]
    id_of: Callable[[str], int]
    join: Callable[[Sequence[str]], str]
    first_id: int = FIRST_ID
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tokens:
    """A text as a model reads it.

    Attributes:
        pieces: what was read, at most seq_len of them.
        ids: one id per piece, then padding up to seq_len.
        dropped: how many pieces of the text lie beyond seq_len and were not read.

    Examples:
        >>> from tfm_core import encode
        >>> tokens = encode("the cat sat", seq_len=5)
        >>> tokens.pieces
        ('the', 'cat', 'sat')
        >>> tokens.padding, tokens.dropped, tokens.batch.shape
        (2, 0, torch.Size([1, 5]))
    """

    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    dropped: int

    @property
    def padding(self) -> int:
        """How many padding tokens follow the pieces."""
        return len(self.ids) - len(self.pieces)

    @property
    def batch(self) -> Tensor:
        """The ids as a batch of one, int64 (1, seq)."""
        return torch.tensor([self.ids], dtype=torch.int64)


def encode(text: str, tokenizer: str | Tokenizer = "word", seq_len: int | None = None) -> Tokens:
    """Cut a text into tokens, and cut or pad these to seq_len (default: as many as there are).

    Args:
        text: what is read.
        tokenizer: a key of `TOKENIZERS`, or a tokenizer such as `of_vocabulary` makes.
        seq_len: how many ids there are to be.

    Raises:
        ValueError: for an unknown tokenizer, a seq_len below 1, or a piece that a closed vocabulary lacks.

    Examples:
        >>> from tfm_core import encode
        >>> encode("one fish, two fish").pieces
        ('one', 'fish', ',', 'two', 'fish')
        >>> encode("hi", "byte").ids  # bytes 104 and 105, after four ids that are kept free
        (108, 109)
    """
    if not isinstance(tokenizer, Tokenizer):
        check_choice("tokenizer", tokenizer, TOKENIZERS)
    if seq_len is not None and (type(seq_len) is not int or seq_len < 1):
        raise ValueError(f"seq_len: expected a whole number of at least 1, got {seq_len!r}")
    scheme = tokenizer if isinstance(tokenizer, Tokenizer) else TOKENIZERS[tokenizer]
    pieces = scheme.split(text)
    length = len(pieces) if seq_len is None else seq_len
    read = tuple(pieces[:length])
    ids = tuple(scheme.id_of(piece) for piece in read) + (PAD_ID,) * (length - len(read))
    return Tokens(read, ids, dropped=len(pieces) - len(read))


def of_vocabulary(pieces: Sequence[str], *, unknown: str = "") -> Tokenizer:
    """A tokenizer with a closed vocabulary, of texts whose tokens are separated by white space.

    Args:
        pieces: the tokens; the first one's id is 1, as 0 is padding.
        unknown: the token as which all others are read; without it another token is a ValueError.
    """
    ids = {piece: number for number, piece in enumerate(pieces, 1)}

    def id_of(piece: str) -> int:
        if piece in ids or unknown:
            return ids.get(piece, ids.get(unknown, 0))
        raise ValueError(f"token: expected one of {' '.join(pieces)}; got {piece!r}")

    return Tokenizer(1 + len(ids), str.split, id_of, " ".join, first_id=1, pieces=("PAD", *pieces))


def collisions(tokens: Tokens) -> list[tuple[str, ...]]:
    """Groups of different pieces that share an id, and with it a vector, in the order of the text."""
    by_id: dict[int, dict[str, None]] = {}
    for piece, token_id in zip(tokens.pieces, tokens.ids, strict=False):
        by_id.setdefault(token_id, {})[piece] = None
    return [tuple(pieces) for pieces in by_id.values() if len(pieces) > 1]


# "surrogatepass" lets through half a surrogate pair, which a str may hold but UTF-8 may not.
def _word_id(piece: str) -> int:
    return FIRST_ID + zlib.crc32(piece.encode("utf-8", "surrogatepass")) % (VOCAB_SIZE - FIRST_ID)


def _character_id(piece: str) -> int:
    return FIRST_ID + ord(piece) % (VOCAB_SIZE - FIRST_ID)  # below U+0FFC, so in most alphabets, no two collide


def _split_bytes(text: str) -> list[str]:
    """Printable ASCII as itself, every other byte as <0xE2>."""
    return [chr(byte) if 32 <= byte < 127 else f"<0x{byte:02X}>" for byte in text.encode("utf-8", "surrogatepass")]


def _byte_of(piece: str) -> int:
    return ord(piece) if len(piece) == 1 else int(piece[1:-1], 16)


def _join_bytes(pieces: Sequence[str]) -> str:
    """The exact text; where a character was cut in two, the sign for that."""
    text = bytes(map(_byte_of, pieces))
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


# How the ids of bytes are written; those kept free stand for nothing.
_BYTE_PIECES = (
    *(f"<{number}>" for number in range(FIRST_ID)),
    *(chr(byte) if 32 <= byte < 127 else f"<0x{byte:02X}>" for byte in range(256)),
)

TOKENIZERS: dict[str, Tokenizer] = {
    "word": Tokenizer(VOCAB_SIZE, WORD.findall, _word_id, " ".join),
    "character": Tokenizer(VOCAB_SIZE, list, _character_id, "".join),
    "byte": Tokenizer(
        BYTES_VOCAB_SIZE, _split_bytes, lambda piece: FIRST_ID + _byte_of(piece), _join_bytes, pieces=_BYTE_PIECES
    ),
}
"""Name -> a tokenizer: by word, by character, by byte.

Words get ids by a hash, as features in Weinberger et al. 2009, so that two may share an id; bytes have one each.

Examples:
    >>> from tfm_core import TOKENIZERS
    >>> list(TOKENIZERS)
    ['word', 'character', 'byte']
    >>> TOKENIZERS["byte"].vocab_size
    260
"""
