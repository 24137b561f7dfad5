"""WordPiece: words cut into the longest pieces of a vocabulary, "##" before those that go on within a word.

Schuster and Nakajima 2012; with [CLS] before a text and [SEP] after it, Devlin et al. 2018, section 3. The `tokenizers`
library learns the vocabulary and cuts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from tfm_core.language.bpe import from_file
from tfm_core.model.tokens import Tokenizer

if TYPE_CHECKING:
    import tokenizers

PAD, UNKNOWN, CLS, SEP, MASK = SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # ids 0 to 4
PAD_ID, UNKNOWN_ID, CLS_ID, SEP_ID, MASK_ID = range(len(SPECIAL))
HALF = re.compile("[\ud800-\udfff]")  # half a surrogate pair, which is no UTF-8


def train(texts: Iterable[str], vocab_size: int) -> tokenizers.Tokenizer:
    """Learn the pieces that these texts need most, in small letters and without accents."""
    import tokenizers  # here, as in `load`: whoever needs no such model needs no such library

    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token=UNKNOWN))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    made.train_from_iterator(
        texts,
        tokenizers.trainers.WordPieceTrainer(
            vocab_size=vocab_size, special_tokens=list(SPECIAL), show_progress=False, limit_alphabet=100
        ),
    )
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{CLS} $A {SEP}",
        pair=f"{CLS} $A {SEP} $B:1 {SEP}:1",
        special_tokens=[(CLS, CLS_ID), (SEP, SEP_ID)],
    )
    return made


def load(path: Path) -> Tokenizer:
    """The tokenizer in a file of the `tokenizers` library, see `as_tokenizer`.

    Raises:
        ValueError: if the file is none.
    """
    return as_tokenizer(from_file(path))


def as_tokenizer(merges: tokenizers.Tokenizer) -> Tokenizer:
    """What the library has learned or loaded, as our models read it.

    A text is read with [CLS] before it and [SEP] after it; the sign of a special token in a text, such as [MASK], is
    that token. `join` gives the words in small letters, as WordPiece keeps neither capitals nor spaces.
    """
    pieces = tuple(name for name, _ in sorted(merges.get_vocab().items(), key=itemgetter(1)))
    ids = {piece: number for number, piece in enumerate(pieces)}

    def split(text: str) -> list[str]:
        return [pieces[number] for number in merges.encode(HALF.sub("\ufffd", text)).ids]

    def join(written: Sequence[str]) -> str:
        return str(merges.decode([ids[piece] for piece in written], skip_special_tokens=True))

    return Tokenizer(len(pieces), split, ids.__getitem__, join, first_id=len(SPECIAL), pieces=pieces)
