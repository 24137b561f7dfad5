"""Tokenizers that others have trained: a `tokenizer.json` of the `tokenizers` library, as our models read it.

The library cuts and merges, and the ids are its own: those that `transformers` gives for the same file. Ours is how a
token is written, and what a file must be like, as a stranger may have made it: each step of it is bounded beforehand,
because the library holds Python's lock while it reads a text, so that a step without an end would stop the process.
"""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tokenizers

from tfm_core.language.bpe import _BYTE, as_piece
from tfm_core.model.tokens import Tokenizer

LARGEST_FILE = 50_000_000  # bytes; Gemma's, the largest in use, has 33 million
MOST_VALUES = 3_000_000  # in the JSON; Gemma's has 1.8 million, and 3 million need 600 MB while they are read
MOST_PARTS = 2000  # of the steps around the vocabulary, their names and numbers
LONGEST_TOKEN = 1000  # characters
LONGEST_SCORED = 100  # characters of a token with a score: each that begins at a letter is tried; SentencePiece has 16
LONGEST_VOCABULARY = 4_000_000  # characters of all tokens; the library makes a tree of them, at 300 bytes each
MOST_ADDED = 20_000  # tokens beside the vocabulary's; some models have 6,000
LONGEST_ADDED = 1_000_000  # characters of all of them; the library needs a second for so many
LONGEST_WORD = 200  # characters that WordPiece reads as a word, in cubic time; BERT's number is 100
LONGEST_CHARACTER = 64  # bytes that a character may become by a table; in SentencePiece's tables they are 33
MOST_AROUND = 16  # special tokens around a text

# How the usual families split a text before its pieces are merged. The first four are by name in gguf_tokenizer.py.
_ENDINGS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LINES_AND_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SHORT_ENDINGS = "'s|'t|'re|'ve|'m|'ll|'d"
_SIGN = r"[^\r\n\p{L}\p{N}]?"
GPT_2 = rf"{_SHORT_ENDINGS}| ?\p{{L}}+| ?\p{{N}}+| ?[^\s\p{{L}}\p{{N}}]+|\s+(?!\S)|\s+"
LLAMA_3 = rf"{_ENDINGS}|{_SIGN}\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_LINES_AND_SPACES}"
QWEN_2 = LLAMA_3.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN_3_5 = rf"{_ENDINGS}|{_SIGN}[\p{{L}}\p{{M}}]+|\p{{N}}| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_LINES_AND_SPACES}"
TEKKEN = (
    rf"{_SIGN}{_UPPER}*{_LOWER}+|{_SIGN}{_UPPER}+{_LOWER}*"
    rf"|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES_AND_SPACES}"
)
GPT_4O = (
    rf"{_SIGN}{_UPPER}*{_LOWER}+{_ENDINGS}?|{_SIGN}{_UPPER}+{_LOWER}*{_ENDINGS}?"
    rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_LINES_AND_SPACES}"
)
GPT_4 = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
    r"|\s*[\r\n]|\s+(?!\S)|\s+"
)
CLIP = rf"{_SHORT_ENDINGS}|[\p{{L}}]+|[\p{{N}}]|[^\s\p{{L}}\p{{N}}]+"
DEEPSEEK_3 = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"""
    + _LINES_AND_SPACES
)

# Regular expressions are taken from this list alone. The library's engine gives up a match after ten million steps, but
# it starts anew at each character: of "(a+)+c", a text of a thousand letters took a second, and others take hours. Of
# these, each reads any text in linear time, which a test holds.
PATTERNS = frozenset(
    {
        *(GPT_2, LLAMA_3, QWEN_2, QWEN_3_5, TEKKEN, GPT_4O, GPT_4, CLIP, DEEPSEEK_3),
        *(GPT_4.replace(r"\p{N}{1,3}", r"\p{N}"), LLAMA_3.replace(r"\p{N}{1,3}", r"\p{N}+")),
        DEEPSEEK_3.replace(r"\r", "\r").replace(r"\n", "\n"),  # as DeepSeek's own files have it
        r"<\|startoftext\|>|<\|endoftext\|>|" + CLIP,
        *(r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", "[0-9][0-9][0-9]"),  # DeepSeek's numbers and signs, Falcon's numbers
        " ?[^(\\s|[.,!?…。，、।۔،])]+",  # BLOOM
        *(" {2,}", r"\s{2,}|[\n\r\t]", r"[\n\r\t]", r"\s+", r"\n", " "),  # spaces: T5, XLM-R, DeBERTa, CLIP, PEGASUS
    }
)

# Steps that may lengthen a text, and would do so each time that they stand there.
_LENGTHENING = {
    "NFC": "NFC or NFD",
    "NFD": "NFC or NFD",
    "NFKC": "NFKC or NFKD",
    "NFKD": "NFKC or NFKD",
    **{name: name for name in ("BertNormalizer", "ByteLevel", "Lowercase", "Nmt", "Precompiled", "Prepend")},
}


def load(path: Path, vocab_size: int, *, trusted: bool = False) -> Tokenizer:
    """The tokenizer in a `tokenizer.json`, see `as_tokenizer`.

    Args:
        path: the file.
        vocab_size: how many ids the model has.
        trusted: whether regular expressions are taken as they are, and not only those of `PATTERNS`.

    Raises:
        ValueError: if the file is none, is too large, or asks for more than a text should cost.
    """
    return as_tokenizer(read(path, trusted=trusted), vocab_size, source=path.name)


def read(path: Path, *, trusted: bool = False) -> tokenizers.Tokenizer:
    """The library's tokenizer in a `tokenizer.json`, once the file has been checked.

    Raises:
        ValueError: see `load`.
    """
    source = path.name
    content = _content(path)
    values = sum(map(content.count, (b",", b"[", b"{")))  # before they are read, as an empty list takes 64 bytes
    if values > MOST_VALUES:
        raise ValueError(f"{source}: expected at most {MOST_VALUES:,} values; got {values:,}")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{source}: expected JSON; got {_short(problem)}") from problem
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        raise ValueError(
            f"{source}: expected an object with a model; got {_short(content[:80].decode(errors='replace'))}"
        )
    _check_model(data["model"], source)
    _check_added(data.get("added_tokens") or [], source)
    _check_steps(data, source, trusted=trusted)
    data["truncation"] = data["padding"] = None
    # What has been checked is what the library gets: of two entries by one name, say, it might take the other.
    with refused(source, "a tokenizer of the tokenizers library"):
        merges = tokenizers.Tokenizer.from_str(json.dumps(data, ensure_ascii=False))
    for token in data.get("added_tokens") or []:
        name, number = token["content"], token.get("id")
        if name and merges.token_to_id(name) != number:  # the library counts on, where a file leaves a gap
            raise ValueError(f"{source}: expected id {merges.token_to_id(name)} of {name!r}; got {_short(number)}")
    return merges


def as_tokenizer(merges: tokenizers.Tokenizer, vocab_size: int, *, source: str = "tokenizer") -> Tokenizer:
    """What the library has loaded, as our models read it.

    Its pieces are how the tokens are written. Tokens of bytes are written as text with their spaces, and as <0xE2>
    where they are no whole characters; others as the file has them: "##ing", "▁the", "[CLS]". An id that has no token
    is written <id 50300>; where two are written alike, that follows the piece of the later, " a<id 7>", and a special
    token keeps its name. Half a surrogate pair, which is no UTF-8, is read as U+FFFD.

    A text is read as `transformers` does: with the special tokens around it (`prefix_and_suffix`), and where it has
    the sign of a special token, that is the token. Of tokens of bytes, `join` gives back the text to the last byte,
    as far as each byte has a token; of others, what the library decodes. Special tokens give nothing.

    Args:
        merges: the library's tokenizer. Its dropout, padding and truncation are switched off.
        vocab_size: how many ids the model has: as many as the tokenizer, or more.
        source: what errors call it.

    Raises:
        ValueError: if the model has fewer ids, if an id has two tokens, or if the library cannot read a text with it.
    """
    merges.no_truncation()
    merges.no_padding()
    merges.encode_special_tokens = False
    if getattr(merges.model, "dropout", None) is not None:
        merges.model.dropout = None  # with it, a text has other ids each time
    names = _names(merges, vocab_size, source)
    if (around := sum(prefix_and_suffix(merges))) > MOST_AROUND:
        raise ValueError(f"{source}: expected at most {MOST_AROUND} special tokens around a text; got {around}")
    content = _contents(merges, names)
    pieces = _written(names, content, special_pieces(merges), vocab_size)
    ids = {piece: number for number, piece in enumerate(pieces)}
    end_of_word = getattr(merges.model, "end_of_word_suffix", None)

    def encoded(text: str) -> list[int]:
        with refused(source, "a tokenizer that reads any text"):
            return merges.encode(_without_halves(text)).ids

    def split(text: str) -> list[str]:
        return [pieces[number] for number in encoded(text)]

    def join(written: Sequence[str]) -> str:
        numbers = [ids[piece] for piece in written]
        if content:
            return b"".join(content.get(number, b"") for number in numbers).decode("utf-8", "replace")
        with refused(source, "a tokenizer that writes any text"):
            text = merges.decode(numbers, skip_special_tokens=True)
        return text.replace(end_of_word, " ") if end_of_word else text  # which CLIP's decoder leaves as it is

    if (
        largest := max(encoded(""), default=0)
    ) >= vocab_size:  # that are put around each text, in the vocabulary or not
        raise ValueError(f"{source}: expected ids below {vocab_size}, as the model has them; got {largest}")
    return Tokenizer(vocab_size, split, ids.__getitem__, join, first_id=0, pieces=pieces)


def special_pieces(merges: tokenizers.Tokenizer) -> frozenset[str]:
    """How the special tokens are written."""
    return frozenset(token.content for token in merges.get_added_tokens_decoder().values() if token.special)


def prefix_and_suffix(merges: tokenizers.Tokenizer) -> tuple[int, int]:
    """How many special tokens are put before a text and after it: 1 and 1 of BERT, say.

    Raises:
        ValueError: if the text has no place between them, or several.
    """
    return _around(_state(merges.post_processor))


def check_tokens(names: Collection[str], source: str, longest: int = LONGEST_TOKEN) -> None:
    """Refuse a vocabulary whose tokens are too long, each or together.

    Raises:
        ValueError: if they are.
    """
    lengths = [len(name) for name in names]
    if (most := max(lengths, default=0)) > longest:
        raise ValueError(f"{source}: expected tokens of at most {longest:,} characters; got {most:,}")
    if (together := sum(lengths)) > LONGEST_VOCABULARY:
        raise ValueError(f"{source}: expected at most {LONGEST_VOCABULARY:,} characters of tokens; got {together:,}")


def check_added(contents: Collection[str], source: str) -> None:
    """Refuse too many tokens beside the vocabulary's, and too long ones.

    Raises:
        ValueError: if they are.
    """
    if len(contents) > MOST_ADDED:
        raise ValueError(f"{source}: expected at most {MOST_ADDED:,} added tokens; got {len(contents):,}")
    if (longest := max(map(len, contents), default=0)) > LONGEST_TOKEN:
        raise ValueError(f"{source}: expected added tokens of at most {LONGEST_TOKEN:,} characters; got {longest:,}")
    if (together := sum(map(len, contents))) > LONGEST_ADDED:
        raise ValueError(f"{source}: expected at most {LONGEST_ADDED:,} characters of added tokens; got {together:,}")


# the file


def _content(path: Path) -> bytes:
    try:
        if (size := path.stat().st_size) <= LARGEST_FILE:
            with path.open("rb") as file:
                content = file.read(LARGEST_FILE + 1)  # it may have grown meanwhile
            size = len(content)
    except OSError as problem:
        raise ValueError(f"{path.name}: expected a file; got {_short(problem)}") from problem
    if size > LARGEST_FILE:
        raise ValueError(f"{path.name}: expected at most {LARGEST_FILE:,} bytes; got {size:,}")
    return content


def _check_model(model: Mapping[str, Any], source: str) -> None:
    match model.get("vocab"):
        case dict() as vocab:
            check_tokens(vocab, source)
        case list() as pairs if all(isinstance(pair, list) and pair and isinstance(pair[0], str) for pair in pairs):
            check_tokens([pair[0] for pair in pairs], source, LONGEST_SCORED)
        case other:
            raise ValueError(f"{source}: expected a vocabulary; got {_short(other)}")
    longest = model.get("max_input_chars_per_word", 0)
    if not isinstance(longest, int) or longest > LONGEST_WORD:
        expected = f"max_input_chars_per_word of at most {LONGEST_WORD}"
        raise ValueError(f"{source}: expected {expected}; got {_short(longest)}")


def _check_added(added: object, source: str) -> None:
    if not isinstance(added, list) or not all(
        isinstance(token, dict) and isinstance(token.get("content"), str) for token in added
    ):
        raise ValueError(f"{source}: expected a list of added tokens; got {_short(added)}")
    check_added([token["content"] for token in added], source)


def _check_steps(data: Mapping[str, Any], source: str, *, trusted: bool) -> None:
    """Refuse steps around the vocabulary that would take too long, or make too much of a text."""
    sections = {name: data.get(name) for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")}
    parts = list(_parts(sections, source))
    for name, part in parts:
        match part:
            case str() if name == "Regex" and not trusted and part not in PATTERNS:
                expected = "a regular expression that a known family of tokenizers has"
                raise ValueError(f"{source}: {name}: expected {expected}; got {_short(part)}")
            case str() if name == "precompiled_charsmap":
                _check_table(part, source)
            case str() if name != "Regex" and len(part) > LONGEST_TOKEN:
                raise ValueError(f"{source}: {name}: expected at most {LONGEST_TOKEN:,} characters; got {len(part):,}")
            case {"type": "Replace", "pattern": {"String": str() as before}, "content": str() as after}:
                _check_replaced(before, after, source)
            case {"type": "Replace", "pattern": {"Regex": str()}, "content": str() as after} if not trusted:
                _check_replaced("x", after, source)  # a match has at least one character
    steps = [part.get("type") for name in ("normalizer", "pre_tokenizer") for part in _dicts(sections[name])]
    for kind, count in Counter(_LENGTHENING[step] for step in steps if step in _LENGTHENING).items():
        if count > 1:
            raise ValueError(f"{source}: expected {kind} at most once; got it {count} times")


def _parts(sections: Mapping[str, Any], source: str) -> Iterator[tuple[str, Any]]:
    """All that stands in the sections, each with the name under which it stands."""
    waiting: list[tuple[str, Any]] = list(sections.items())
    for count, (name, part) in enumerate(waiting):  # which grows meanwhile
        if count > MOST_PARTS:
            raise ValueError(f"{source}: expected at most {MOST_PARTS:,} parts of its steps; got more")
        yield name, part
        match part:
            case dict():
                waiting += part.items()
            case list():
                waiting += ((name, item) for item in part[: MOST_PARTS + 1])


def _dicts(part: Any) -> list[dict[str, Any]]:
    """The steps in a step, and itself. They have been counted before."""
    return [step for _, step in _parts({"": part}, "") if isinstance(step, dict)]


def _check_replaced(before: str, after: str, source: str) -> None:
    # Thirty that make two letters of one make a billion of it.
    if len(after) > len(before):
        expected = f"a text no longer than {before!r}, which it replaces"
        raise ValueError(f"{source}: expected {expected}; got {_short(after)}")


def _check_table(table: str, source: str) -> None:
    """Refuse a table of characters that makes a long text of one.

    It has the size of a tree, the tree, and the texts at its leaves with a zero after each.
    """
    try:
        content = base64.b64decode(table, validate=True)
    except (ValueError, binascii.Error) as problem:
        raise ValueError(f"{source}: expected precompiled_charsmap in base64; got {_short(problem)}") from problem
    texts = content[4 + int.from_bytes(content[:4], "little") :].split(b"\0")
    if (longest := max(map(len, texts))) > LONGEST_CHARACTER:
        expected = f"a precompiled_charsmap with texts of at most {LONGEST_CHARACTER} bytes"
        raise ValueError(f"{source}: expected {expected}; got {longest:,}")


# the tokens


def _names(merges: tokenizers.Tokenizer, vocab_size: int, source: str) -> dict[int, str]:
    """The name of each id in the file, in order."""
    vocab = merges.get_vocab(with_added_tokens=True)
    names = {number: name for name, number in sorted(vocab.items(), key=lambda item: item[1])}
    if (largest := max(names, default=0)) >= vocab_size:
        raise ValueError(f"{source}: expected ids below {vocab_size}, as the model has them; got {largest}")
    if len(names) < len(vocab):
        double = next(number for number, count in Counter(vocab.values()).items() if count > 1)
        raise ValueError(f"{source}: expected one token of each id; got several of id {double}")
    return names


def _contents(merges: tokenizers.Tokenizer, names: Mapping[int, str]) -> dict[int, bytes]:
    """The bytes of each token that stands for some; none at all where tokens are not made of bytes."""
    steps = [*_dicts(_state(merges.normalizer)), *_dicts(_state(merges.pre_tokenizer))]
    marks = [getattr(merges.model, name, None) for name in ("continuing_subword_prefix", "end_of_word_suffix")]
    if not any(step.get("type") == "ByteLevel" for step in steps) or any(marks):
        return {}
    added = merges.get_added_tokens_decoder()
    return {
        number: name.encode()
        if number in added or not _BYTE.keys() >= set(name)
        else bytes(map(_BYTE.__getitem__, name))
        for number, name in names.items()
        if number not in added or not added[number].special
    }


def _written(
    names: Mapping[int, str], content: Mapping[int, bytes], special: Collection[str], vocab_size: int
) -> tuple[str, ...]:
    """How each id is written, no two alike."""
    pieces = [""] * vocab_size
    taken: set[str] = set()
    for number in sorted(range(vocab_size), key=lambda number: names.get(number) not in special):
        piece = (as_piece(content[number]) if number in content else names.get(number)) or f"<id {number}>"
        while piece in taken:
            piece += f"<id {number}>"
        taken.add(piece)
        pieces[number] = piece
    return tuple(pieces)


def _around(step: Any) -> tuple[int, int]:
    match step:
        case {"type": "Sequence", "processors": [*steps]}:
            counts = [_around(inner) for inner in steps]
            return sum(before for before, _ in counts), sum(after for _, after in counts)
        case {"type": "BertProcessing" | "RobertaProcessing"}:
            return 1, 1
        case {"type": "TemplateProcessing"}:
            return _around_text(step["single"], step["special_tokens"])
    return 0, 0


def _around_text(single: Sequence[Any], special: Mapping[str, Any]) -> tuple[int, int]:
    before, after, texts = 0, 0, 0
    for piece in single:
        match piece:
            case {"Sequence": {"id": "A"}}:
                texts, after = texts + 1, 0
            case {"SpecialToken": {"id": name}} if name in special:
                count = len(special[name]["ids"])
                before, after = before + (0 if texts else count), after + count
            case _:
                raise ValueError(f"tokenizer: expected a template of one text and special tokens; got {_short(piece)}")
    if texts != 1:
        raise ValueError(f"tokenizer: expected a template with one place for the text; got {texts}")
    return before, after


def _state(step: Any) -> Any:
    """A step of the library as its file has it."""
    return json.loads(step.__getstate__()) if step else None


def _without_halves(text: str) -> str:
    """A text in which half a surrogate pair is U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


# errors


@contextmanager
def refused(source: str, expected: str) -> Iterator[None]:
    """What the library raises as a ValueError. Where its Rust code panics, that is no Exception, and has no module."""
    try:
        yield
    except BaseException as problem:
        if not isinstance(problem, Exception) and type(problem).__name__ != "PanicException":
            raise
        raise ValueError(f"{source}: expected {expected}; got {_short(problem)}") from problem


def _short(thing: object) -> str:
    """What came, in a line: of a text or an error its first 120 signs."""
    text = str(thing) if isinstance(thing, BaseException) else repr(thing)
    text = " ".join(text.split())
    return text if len(text) <= 120 else f"{text[:120]}…"
