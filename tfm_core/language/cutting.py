"""A text cut into tokens with all that is to be known of them: ids, where each stands in the text, how it came about.

A `Scheme` is a way to cut: by words, characters, bytes, or as a file of the `tokenizers` library does. What somebody
types is text here, whatever it looks like: "[CLS]" and "<|start|>" are cut into letters, and no text is read as a
special token. Special tokens come from the scheme alone, around a text or as padding (`batch_of`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tfm_core.language.histories import Match, Merge, after_merges, longest_match, merge_history, pieces_of
from tfm_core.model.tokens import TOKENIZERS, WORD

if TYPE_CHECKING:
    import tokenizers

HALF = re.compile("[\ud800-\udfff]")  # half a surrogate pair, which is no UTF-8
SPECIAL_STEPS = ("continuing_subword_prefix", "end_of_word_suffix", "dropout", "byte_fallback", "ignore_merges")
LONGEST_WORD = 2_000  # signs of a word whose history is told


@dataclass(frozen=True)
class Cut:
    """A text, cut.

    Attributes:
        pieces: how each token is written.
        ids: the id of each.
        spans: where in the text each begins and ends, by code points; several tokens may share a character's.
    """

    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class History:
    """How a token came about.

    Attributes:
        word: the part of the text that is cut by itself, as the scheme reads it: in small letters, say.
        signs: what it begins as.
        parts: its tokens, as the scheme has them in its file.
        at: which of them it is, from 0.
        merges: those of the word, in their order; of byte pairs.
        matches: the search for each piece; of WordPiece.
        of_bytes: whether signs stand for bytes, see `in_text` of bpe.py.
    """

    word: str
    signs: tuple[str, ...]
    parts: tuple[str, ...]
    at: int
    merges: tuple[Merge, ...] = ()
    matches: tuple[Match, ...] = ()
    of_bytes: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """Which of the word's signs the token stands for."""
        start = sum(len(part) for part in self.parts[: self.at])
        return start, start + len(self.parts[self.at])


@dataclass(frozen=True)
class Around:
    """What stands in a row of a batch: special tokens, and places of texts.

    Attributes:
        items: from left to right: ids of special tokens, or 0 and 1 for the first text and the second.
        types: the token type of each.
    """

    items: tuple[tuple[int, ...] | int, ...]
    types: tuple[int, ...]

    @property
    def special(self) -> int:
        """How many special tokens there are."""
        return sum(len(item) for item in self.items if isinstance(item, tuple))


ALONE = Around((0,), (0,))


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """A way to cut texts.

    Attributes:
        name: what it is called.
        vocab_size: how many ids there are.
        cut: text -> its tokens, without special ones around it.
        join: pieces -> text.
        pad_id: the id of padding.
        pad: how padding is written.
        special: id -> how the special token is written.
        single: what stands around a text.
        pair: what stands around two texts in one row; None if they cannot be in one.
        merges: the library's tokenizer, if it is one.
        by_default: text -> ids, as the library reads it if nothing is set: typed names of special tokens are these.
    """

    name: str
    vocab_size: int
    cut: Callable[[str], Cut]
    join: Callable[[Sequence[str]], str]
    pad_id: int = 0
    pad: str = "PAD"
    special: Mapping[int, str] = field(default_factory=dict)
    single: Around = ALONE
    pair: Around | None = None
    merges: tokenizers.Tokenizer | None = field(default=None, repr=False, compare=False)
    by_default: Callable[[str], Sequence[int]] = field(default=lambda text: (), repr=False, compare=False)

    @property
    def has_types(self) -> bool:
        """Whether its model is told which text a token is of."""
        return self.pair is not None and any(self.pair.types)

    @cached_property
    def model(self) -> Mapping[str, Any]:
        """What the library has learned, as its file has it; empty of other schemes."""
        return dict(json.loads(self.merges.to_str())["model"]) if self.merges else {}

    @cached_property
    def ranks(self) -> Mapping[tuple[str, str], int]:
        """Pair of neighbours -> the number of its merge, of byte pairs; empty of others."""
        if self.model.get("type") != "BPE" or any(self.model.get(step) for step in SPECIAL_STEPS):
            return {}
        return {(left, right): rank for rank, (left, right) in enumerate(self.model["merges"])}

    @cached_property
    def of_bytes(self) -> bool:
        """Whether its tokens are made of bytes."""
        return self.merges is not None and '"ByteLevel"' in json.dumps(
            json.loads(self.merges.to_str())["pre_tokenizer"]
        )

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All pieces of WordPiece; empty of others."""
        return frozenset(self.model["vocab"]) if self.model.get("type") == "WordPiece" else frozenset()

    def history(self, text: str, at: int) -> History | None:
        """How a token of a text came about; None where that cannot be told step by step.

        Args:
            text: what is cut.
            at: the token, from 0.
        """
        if self.merges is None or not (self.ranks or self.vocabulary):
            return None
        text = readable(text)
        encoding = self.merges.encode(text, add_special_tokens=False)
        number = encoding.word_ids[at]
        if number is None:
            return None
        places = [place for place, word in enumerate(encoding.word_ids) if word == number]
        plain = self.merges.normalizer.normalize_str(text) if self.merges.normalizer else text
        words = self.merges.pre_tokenizer.pre_tokenize_str(plain) if self.merges.pre_tokenizer else [(plain, (0, 0))]
        if number >= len(words) or len(words[number][0]) > LONGEST_WORD:
            return None
        word = words[number][0]
        parts = tuple(encoding.tokens[place] for place in places)
        if self.ranks:
            signs = tuple(sign for sign in word if sign in self.model["vocab"])  # others the library leaves out
            merges = merge_history(signs, self.ranks)
            told = History(word, signs, parts, at - places[0], merges=merges, of_bytes=self.of_bytes)
            return told if tuple(after_merges(signs, merges)) == parts else None
        prefix, unknown = str(self.model["continuing_subword_prefix"]), str(self.model["unk_token"])
        longest = int(self.model["max_input_chars_per_word"])
        matches = longest_match(word, self.vocabulary, prefix=prefix, longest=longest)
        told = History(word, tuple(word), parts, at - places[0], matches=matches)
        return told if pieces_of(matches, unknown) == [*parts] else None


@dataclass(frozen=True)
class Row:
    """A row of a batch, as a model is handed it.

    Attributes:
        pieces: how each token is written, special tokens and padding included.
        ids: of each.
        mask: 1 where a token is, 0 where padding is: `attention_mask`.
        types: 0 for the first text, 1 for the second: `token_type_ids`.
        special: whether each is a special token or padding.
        cut: the pieces of each text that had no room.
    """

    pieces: tuple[str, ...]
    ids: tuple[int, ...]
    mask: tuple[int, ...]
    types: tuple[int, ...]
    special: tuple[bool, ...]
    cut: tuple[tuple[str, ...], ...]


def batch_of(scheme: Scheme, texts: Sequence[tuple[str, ...]], max_length: int) -> tuple[Row, ...]:
    """Texts as a batch: each cut to max_length tokens with its special ones, then all padded to the longest.

    As `transformers` and the `tokenizers` library do it with truncation "longest first" and padding on the right.

    Args:
        scheme: how they are cut.
        texts: of each row one text, or two.
        max_length: the most tokens of a row.

    Raises:
        ValueError: if special tokens leave no room, if a row has other than 1 or 2 texts, or 2 and the scheme has no
            place for the second.
    """
    rows = [_row(scheme, each, max_length) for each in texts]
    length = max((len(row.ids) for row in rows), default=0)
    return tuple(_padded(scheme, row, length - len(row.ids)) for row in rows)


def _row(scheme: Scheme, texts: tuple[str, ...], max_length: int) -> Row:
    around = scheme.single if len(texts) == 1 else scheme.pair
    if len(texts) not in (1, 2) or around is None:
        raise ValueError(f"a row of a batch: expected 1 text{' or 2' if scheme.pair else ''}, got {len(texts)}")
    room = max_length - around.special
    if room < 1:
        raise ValueError(f"max_length: expected more than {around.special} special tokens, got {max_length}")
    cuts = [scheme.cut(text) for text in texts]
    keeps = _kept([len(each.ids) for each in cuts], room)
    pieces, ids, types, special = list[str](), list[int](), list[int](), list[bool]()
    for item, kind in zip(around.items, around.types, strict=True):
        if isinstance(item, int):
            new, written = cuts[item].ids[: keeps[item]], cuts[item].pieces[: keeps[item]]
        else:
            new, written = item, tuple(scheme.special.get(number, f"<{number}>") for number in item)
        ids += new
        pieces += written
        types += [kind] * len(new)
        special += [not isinstance(item, int)] * len(new)
    dropped = tuple(each.pieces[keep:] for each, keep in zip(cuts, keeps, strict=True))
    return Row(tuple(pieces), tuple(ids), (1,) * len(ids), tuple(types), tuple(special), dropped)


def _kept(lengths: Sequence[int], room: int) -> list[int]:
    """How many tokens of one text or two are kept: of two, the longer loses first, then both until they are equal."""
    if sum(lengths) <= room:
        return list(lengths)
    if len(lengths) == 1:
        return [room]
    short, long = sorted(lengths)
    long = short if short > room else max(short, room - short)
    if short + long > room:
        short, long = room // 2, room // 2 + room % 2
    return [short, long] if lengths[0] <= lengths[1] else [long, short]


def _padded(scheme: Scheme, row: Row, count: int) -> Row:
    return Row(
        row.pieces + (scheme.pad,) * count,
        row.ids + (scheme.pad_id,) * count,
        row.mask + (0,) * count,
        row.types + (0,) * count,
        row.special + (True,) * count,
        row.cut,
    )


def readable(text: str) -> str:
    """A text in which half a surrogate pair, which no UTF-8 has, is U+FFFD."""
    return HALF.sub("\ufffd", text)


def _by_words(text: str) -> Cut:
    matches = [*WORD.finditer(text)]
    pieces = tuple(match[0] for match in matches)
    return Cut(pieces, tuple(map(TOKENIZERS["word"].id_of, pieces)), tuple(match.span() for match in matches))


def _by_characters(text: str) -> Cut:
    return Cut(
        tuple(text), tuple(map(TOKENIZERS["character"].id_of, text)), tuple((i, i + 1) for i in range(len(text)))
    )


def _by_bytes(text: str) -> Cut:
    scheme = TOKENIZERS["byte"]
    pieces = tuple(scheme.split(text))
    spans = tuple((i, i + 1) for i, sign in enumerate(text) for _ in sign.encode("utf-8", "surrogatepass"))
    return Cut(pieces, tuple(map(scheme.id_of, pieces)), spans)


def _simple(name: str, kind: str, cut: Callable[[str], Cut]) -> Scheme:
    of = TOKENIZERS[kind]
    return Scheme(name=name, vocab_size=of.vocab_size, cut=cut, join=of.join)


BY_WORDS = _simple("words", "word", _by_words)
BY_CHARACTERS = _simple("characters", "character", _by_characters)
BY_BYTES = _simple("bytes", "byte", _by_bytes)


def of_library(
    merges: tokenizers.Tokenizer, *, name: str, pieces: Sequence[str], join: Callable[[Sequence[str]], str], pad_id: int
) -> Scheme:
    """The scheme of a tokenizer of the `tokenizers` library. A copy of it is kept, which reads special signs as text.

    Args:
        merges: the library's tokenizer.
        name: what it is called.
        pieces: how each id is written.
        join: pieces -> text.
        pad_id: the id of padding; below 0 if there is none, and then id 0 fills the places, which the mask hides.
    """
    import tokenizers

    copy = tokenizers.Tokenizer.from_str(merges.to_str())
    copy.no_truncation()
    copy.no_padding()
    copy.encode_special_tokens = True
    special = {number: token.content for number, token in copy.get_added_tokens_decoder().items() if token.special}
    state = json.loads(copy.to_str())["post_processor"]

    def cut(text: str) -> Cut:
        encoding = copy.encode(readable(text), add_special_tokens=False)
        return Cut(tuple(pieces[number] for number in encoding.ids), tuple(encoding.ids), tuple(encoding.offsets))

    filler = max(pad_id, 0)
    return Scheme(
        name=name,
        vocab_size=len(pieces),
        cut=cut,
        join=join,
        pad_id=filler,
        pad=pieces[filler],
        special={number: pieces[number] for number in special},
        single=_around(state, "single") or ALONE,
        pair=_around(state, "pair"),
        merges=copy,
        by_default=lambda text: merges.encode(readable(text), add_special_tokens=False).ids,
    )


def _around(state: Any, form: str) -> Around | None:
    """What the library puts around a text, or two; None where it has no template for that."""
    match state:
        case {"type": "Sequence", "processors": [*steps]}:
            return next((around for step in steps if (around := _around(step, form))), None)
        case {"type": "TemplateProcessing", "special_tokens": special}:
            items, types = list[tuple[int, ...] | int](), list[int]()
            for each in state[form]:
                match each:
                    case {"Sequence": {"id": which, "type_id": kind}}:
                        items.append(0 if which == "A" else 1)
                        types.append(kind)
                    case {"SpecialToken": {"id": named, "type_id": kind}}:
                        items.append(tuple(special[named]["ids"]))
                        types.append(kind)
            return Around(tuple(items), tuple(types)) if form == "single" or 1 in items else None
        case {"type": "BertProcessing", "sep": [_, int(sep)], "cls": [_, int(cls)]}:
            if form == "single":
                return Around(((cls,), 0, (sep,)), (0, 0, 0))
            return Around(((cls,), 0, (sep,), 1, (sep,)), (0, 0, 0, 1, 1))
    return None


# scripts that write no spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han
_UNSPACED = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def words_in(text: str) -> int:
    """How many words a text has: runs without white space and punctuation in which a letter or a digit is.

    0 where its script writes no spaces between words, as Thai and Chinese: there a word is a question of a dictionary.
    """
    if _UNSPACED.search(text):
        return 0
    return sum(any(sign.isalnum() for sign in word[0]) for word in WORD.finditer(text))
