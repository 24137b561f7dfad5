"""Byte-level byte-pair encoding: any text to token ids and back, byte for byte.

Sennrich et al. 2016 (BPE); Radford et al. 2019, section 2.2 (on bytes). The `tokenizers` library merges; ours is
how a token is written: as its text, or as <0xE2><0x80> where its bytes are no whole characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from tfm_core.model.tokens import Tokenizer

if TYPE_CHECKING:
    import tokenizers

PAD, START = "<|pad|>", "<|start|>"  # ids 0 and 1; in a text these signs are letters like others
SPECIAL = (PAD, START)
START_ID = 1
CUT = re.compile(r"(?:<0x[0-9A-F]{2}>)+")  # how bytes that are no whole character are written


def train(texts: Iterable[str], vocab_size: int) -> tokenizers.Tokenizer:
    """Learn the merges that these texts need most."""
    import tokenizers  # here, as in `load`: whoever needs no language model needs no such library

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=list(SPECIAL), initial_alphabet=sorted(alphabet), show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    return made


def load(path: Path) -> Tokenizer:
    """The tokenizer in a file of the `tokenizers` library, see `as_tokenizer`.

    Raises:
        ValueError: if the file is none.
    """
    return as_tokenizer(from_file(path))


def from_file(path: Path) -> tokenizers.Tokenizer:
    """The library's own tokenizer in a file of the `tokenizers` library.

    Raises:
        ValueError: if the file is none.
    """
    import tokenizers

    try:
        return tokenizers.Tokenizer.from_file(str(path))
    except Exception as problem:  # the library raises no narrower class
        raise ValueError(f"expected a tokenizer in {path}; {problem}") from problem


def as_tokenizer(merges: tokenizers.Tokenizer) -> Tokenizer:
    """What the library has learned or loaded, as our models read it.

    Its pieces are what the tokens stand for, with their spaces: "The whale" is "The" and " whale", say. No two tokens
    are written alike, so that a piece has a single id.
    """
    merges.encode_special_tokens = True  # a text may contain the signs of a special token: there they are letters
    pieces = written(merges)
    ids = {piece: number for number, piece in enumerate(pieces)}

    def split(text: str) -> list[str]:
        # A str may hold half a surrogate pair, which is no UTF-8: it becomes bytes, as in the tokenizer by bytes.
        whole = re.split("([\ud800-\udfff]+)", text)
        return [piece for part in whole for piece in _pieces(merges, pieces, part)]

    return Tokenizer(len(pieces), split, ids.__getitem__, join, first_id=len(SPECIAL), pieces=pieces)


def written(merges: tokenizers.Tokenizer) -> tuple[str, ...]:
    """How each token is written, by its id."""
    return tuple(
        name if name in SPECIAL else as_piece(bytes(map(_BYTE.__getitem__, name)))
        for name, _ in sorted(merges.get_vocab().items(), key=itemgetter(1))
    )


def as_piece(content: bytes) -> str:
    """Bytes as text; where they are no whole characters, each as <0xE2>."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in content)


def join(pieces: Sequence[str]) -> str:
    """The exact text; where a character was cut in two, the sign for that. Special tokens give nothing."""
    content = b"".join(map(as_bytes, pieces))
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")


def as_bytes(piece: str) -> bytes:
    """What a piece stands for; nothing for a special token."""
    if piece in SPECIAL:
        return b""
    return bytes.fromhex(piece.replace("<0x", "").replace(">", "")) if CUT.fullmatch(piece) else piece.encode()


def _pieces(merges: tokenizers.Tokenizer, pieces: Sequence[str], part: str) -> list[str]:
    if part and "\ud800" <= part[0] <= "\udfff":
        return [as_piece(bytes([byte])) for byte in part.encode("utf-8", "surrogatepass")]
    return [pieces[number] for number in merges.encode(part).ids]


def _byte_of_signs() -> dict[str, int]:
    """The sign that stands for each byte in a tokenizer's file: printable bytes themselves, the others from U+0100 on.

    Radford et al. 2019 chose it so that merges can be written as lines of text.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + at): byte for at, byte in enumerate(others)}


_BYTE = _byte_of_signs()


def in_text(signs: str) -> str:
    """What the signs of a tokenizer's file stand for, as a piece is written; other text as it is."""
    return as_piece(bytes(map(_BYTE.__getitem__, signs))) if signs and _BYTE.keys() >= set(signs) else signs
