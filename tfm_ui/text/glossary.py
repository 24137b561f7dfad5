"""The glossary: what a first-year student may not know, explained where the word stands. Pure functions.

A word is explained where it first occurs in a text on screen: it is underlined with dots, and a tap, the focus or the
pointer shows the explanation. On a page only the first of them is underlined: assets/pictures/glossary.js sees to that.
The words stand in tfm_ui/text/glossary_words.py.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape

from tfm_ui.text import by_hand
from tfm_ui.text.by_hand import ByHand
from tfm_ui.text.glossary_words import GLOSSARY, Word

Marked = str | tuple[str, str] | ByHand  # a piece of text, a word with its explanation, or an act in two words


def _forms(name: str, word: Word) -> Iterator[str]:
    """How a word is written: itself, its plural, and its other forms."""
    yield from (name, *word.forms)
    if name[-1].isalpha() and not name.endswith("s"):
        yield f"{name}s"


_WITHIN = {form: word for name, word in GLOSSARY.items() for form in _forms(name, word)}
# At the beginning of a sentence; elsewhere a capital makes a name of it, such as that of the lens Heads.
_AT_FIRST = {form[0].upper() + form[1:]: word for form, word in _WITHIN.items()}
_WORDS = _AT_FIRST | _WITHIN
_BEGINS = re.compile(r"(?:^|[.?!:;✓✕·] |\n|[(“])\W*$")  # what stands before the beginning of a sentence, or of a part
_LONGEST_FIRST = "|".join(map(re.escape, sorted(_WORDS, key=len, reverse=True)))
# A part of a word is none, nor is a part of a name in a program, or a token as the label of a picture: "·key".
_ANY = re.compile(rf"(?<![\w·-])(?<!\w\.)(?:{_LONGEST_FIRST})(?![\w-])(?!\.\w)")
# What stands in quotes is somebody's: a token, a text, a title. So are tokens beside an arrow: "Strongest: key → head".
_QUOTED = re.compile(r"“[^”]*”|\S+ → \S+")
_ONLY = {word.about: re.compile(word.only) for word in GLOSSARY.values() if word.only}
_NEVER = {word.about: re.compile(word.never) for word in GLOSSARY.values() if word.never}
_NEEDS = {word.about: re.compile(word.needs) for word in GLOSSARY.values() if word.needs}


def marked(text: str) -> list[Marked]:
    """The text in pieces: each word of the glossary is explained where it first occurs; acts are in both words."""
    pieces: list[Marked] = []
    explained_words: set[str] = set()
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    at = 0
    for match in _ANY.finditer(text):
        word, about = match.group(), _WORDS[match.group()].about
        if about in explained_words or _lies_in(match.span(), quoted) or not _is_meant(about, match, text):
            continue
        explained_words.add(about)
        pieces += [*by_hand.by_hand(text[at : match.start()]), (word, about)]
        at = match.end()
    return [piece for piece in [*pieces, *by_hand.by_hand(text[at:])] if piece]


def explained(text: str) -> str:
    """The text as HTML, escaped; the first occurrence of each word of the glossary carries its explanation.

    assets/pictures/words.js builds the same elements of `marked`.
    """
    return html_of(marked(text))


def html_of(pieces: Sequence[Marked]) -> str:
    """Pieces of a text, of `marked`, as HTML, escaped."""
    return "".join(map(_html, pieces))


def plain_of(piece: Marked) -> str:
    """A piece of a text without its explanation, for who has a mouse."""
    if isinstance(piece, dict):
        return piece["mouse"]
    return piece if isinstance(piece, str) else piece[0]


def _is_meant(about: str, match: re.Match[str], text: str) -> bool:
    """Whether the word means there what the glossary explains."""
    if match.group() not in _WITHIN and not _BEGINS.search(text[: match.start()]):
        return False
    if (needs := _NEEDS.get(about)) and not needs.search(text[: match.start()] + " " + text[match.end() :]):
        return False
    only, never = (
        [other.span() for other in pattern.finditer(text)] if pattern else None
        for pattern in (_ONLY.get(about), _NEVER.get(about))
    )
    return (only is None or _lies_in(match.span(), only)) and not _lies_in(match.span(), never or [])


def _lies_in(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    begin, end = span
    return any(first <= begin and end <= last for first, last in others)


def _html(piece: Marked) -> str:
    if isinstance(piece, str):
        return escape(piece)
    if isinstance(piece, dict):
        return by_hand.html_of(piece)
    word, about = map(escape, piece)
    return (
        f'<span class="word" tabindex="0" role="button" aria-label="{word}: {about}" data-about="{about}">{word}</span>'
    )
