"""Makes speech.tsv again from the package that README.md names.

    python -m tfm_core.training.tasks.sentences.make_speech AUSTEN

AUSTEN is the file Rdata.rdb of r-cran-janeaustenr. The same package gives the same bytes.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from tfm_core.training.tasks.sentences.make import BREAK, austen, by_hash, common_words, sentences, usable

PAIRS = 1_600
SPEECH, NARRATION = "speech", "narration"
MARK = '"'
# Words of the first and second person: in narration they hardly occur, and would give the answer away.
PERSONS = frozenset(
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves thou thee thy thine".split()
)


def spoken(paragraph: str) -> Iterator[str]:
    """The whole sentences between quotation marks: what is broken by “said she” is left out.

    A speech of several paragraphs has an opening mark before each, and a closing one after the last alone, so marks
    are counted anew in each paragraph.
    """
    for speech in paragraph.split(MARK)[1::2]:
        yield from (each for each in BREAK.split(speech.strip()) if each[:1].isupper() and each[-1:] in {*".!?"})


def speeches(paragraphs: list[str]) -> list[str]:
    """The sentences that somebody says, as printed, without the underscores of italics."""
    plain = (" ".join(paragraph.replace("_", "").split()) for paragraph in paragraphs)
    return [each for paragraph in plain for each in spoken(paragraph)]


def narration(paragraphs: list[str]) -> list[str]:
    """The sentences of paragraphs in which nobody speaks."""
    return sentences([paragraph for paragraph in paragraphs if MARK not in paragraph])


def without_persons(texts: set[str]) -> set[str]:
    """Those without a word of the first or second person, such as “i” and “i'm”."""
    return {text for text in texts if not PERSONS & set(re.split(r"[ '-]", text))}


def pairs(said: set[str], told: set[str]) -> list[tuple[str, str]]:
    """A sentence of each, both of one length: PAIRS of them."""
    alike: list[tuple[str, str]] = []
    for length in {text.count(" ") for text in said}:
        first, second = ({text for text in texts if text.count(" ") == length} for texts in (said, told))
        alike += list(zip(sorted(first, key=by_hash), sorted(second, key=by_hash), strict=False))
    return sorted(alike, key=lambda pair: by_hash(*pair))[:PAIRS]


def main() -> None:
    """Read the package, write the table beside this script."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("austen", type=Path)
    paragraphs = austen(parser.parse_args().austen)
    common = common_words(sentences(paragraphs))
    said, told = (without_persons(usable(each, common)) for each in (speeches(paragraphs), narration(paragraphs)))
    both = said & told
    chosen = pairs(said - both, told - both)
    rows = [f"{SPEECH}\t{first}\n{NARRATION}\t{second}\n" for first, second in chosen]
    Path(__file__).with_name("speech.tsv").write_text("".join(rows), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
