"""Texts that look alike and are not: signs that are easily taken for others, by Unicode's rules.

A small part of the table of confusables of Unicode Technical Standard #39 (Unicode Security Mechanisms), with the
compatibility forms of Unicode Standard Annex #15 (NFKC), which `unicodedata` knows.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Letters of Cyrillic and Greek, and the Latin ones that they are taken for: confusables.txt of UTS #39.
CYRILLIC = dict(zip("аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅ", "aeopcyxijshdqwABEKMHOPCTYXIJS", strict=True))
GREEK = dict(zip("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX", strict=True))
LETTERS = CYRILLIC | GREEK
MARKS = dict(zip("‘’‛′“”‐‑‒–−", "''''\"\"-----", strict=True))
UNSEEN = "\u200b\u2060\ufeff\u00ad"  # nothing of them is seen, wherever they stand
# They turn the direction in which others are written, and are not seen themselves: Unicode Standard Annex #9.
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
JOINERS = "\u200c\u200d"  # emoji, Arabic and the scripts of India need them; among Latin letters they are not seen
FORMS = ("<wide>", "<narrow>", "<noBreak>", "<font>")  # other forms of a sign, by their decomposition


@dataclass(frozen=True)
class Sign:
    """A sign, or a letter with its marks, that is easily taken for another.

    Attributes:
        at: where it stands in the text, from 0.
        text: what stands there.
        like: what it is taken for; "" if nothing of it is seen.
        why: what it is, in a few words.
    """

    at: int
    text: str
    like: str
    why: str


@dataclass(frozen=True)
class Difference:
    """A place at which two texts look alike and differ.

    Attributes:
        at: where, in the first text and in the second, from 0.
        texts: what stands there in each.
    """

    at: tuple[int, int]
    texts: tuple[str, str]


def code_points(text: str) -> str:
    """The numbers and names of a text's signs: "U+0430 CYRILLIC SMALL LETTER A"."""
    return ", ".join(f"U+{ord(sign):04X} {unicodedata.name(sign, 'without a name')}" for sign in text)


def skeleton(text: str) -> str:
    """What a text looks like: texts of one skeleton are easily taken for each other.

    As in UTS #39, section 4, with its table cut down to the signs above, and with compatibility forms undone.

    Examples:
        >>> from tfm_core.language.alike import skeleton
        >>> skeleton("c\u0430t") == skeleton("cat")  # the second letter is Cyrillic
        True
    """
    return "".join(_like(text[start:end]) for start, end in _clusters(text))


def signs_alike(text: str) -> tuple[Sign, ...]:
    """The signs of a text that are easily taken for others.

    Letters of Cyrillic and Greek count only in a word that has Latin letters, too: a Russian word is what it looks
    like. Straight and curly quotes, or hyphens of any kind, count always.
    """
    marked = []
    mixed = _mixed(text)
    for start, end in _clusters(text):
        part = text[start:end]
        if why := _why(part, mixed[start], text[start - 1 : start]):
            marked.append(Sign(start, part, unicodedata.normalize("NFC", _like(part)), why))
    return tuple(marked)


def differences(text: str, other: str) -> tuple[Difference, ...] | None:
    """Where two texts that look alike differ; none if they are the same, None if they do not look alike."""
    if skeleton(text) != skeleton(other):
        return None
    apart = []
    sides = [iter([(start, each[start:end]) for start, end in _clusters(each)]) for each in (text, other)]
    parts, seen_as, begins = ["", ""], ["", ""], [0, 0]
    ended = [False, False]
    while not all(ended):
        side = 0 if len(seen_as[0]) <= len(seen_as[1]) and not ended[0] else 1
        side = side if not ended[side] else 1 - side
        if (step := next(sides[side], None)) is None:
            ended[side] = True
            continue
        _, part = step
        parts[side] += part
        seen_as[side] += _like(part)
        if seen_as[0] == seen_as[1] and all(seen_as):
            if parts[0] != parts[1]:
                apart.append(Difference((begins[0], begins[1]), (parts[0], parts[1])))
            begins = [begins[i] + len(parts[i]) for i in (0, 1)]
            parts, seen_as = ["", ""], ["", ""]
    if parts[0] != parts[1]:
        apart.append(Difference((begins[0], begins[1]), (parts[0], parts[1])))
    return tuple(apart)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Each sign with the marks that are put on it: where it begins and ends."""
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or not unicodedata.combining(text[at]):
            yield start, at
            start = at


def _like(part: str) -> str:
    """What a sign with its marks looks like, decomposed."""
    plain = "".join(LETTERS.get(sign, MARKS.get(sign, "" if sign in UNSEEN + DIRECTIONS else sign)) for sign in part)
    plain = "".join(unicodedata.normalize("NFKD", sign) if _is_form(sign) else sign for sign in plain)
    return unicodedata.normalize("NFD", plain)


def _is_form(sign: str) -> bool:
    """Whether a sign is another form of others, such as a wide letter, a ligature, or a space of another width."""
    kind, _, rest = unicodedata.decomposition(sign).partition(" ")
    return kind in FORMS or (kind == "<compat>" and all(int(point, 16) < 128 for point in rest.split()))


def _mixed(text: str) -> list[bool]:
    """Whether each sign stands in a word that has Latin letters."""
    mixed: list[bool] = []
    word = 0
    for at in range(len(text) + 1):
        if at == len(text) or not (text[at].isalpha() or unicodedata.combining(text[at])):
            latin = any(sign.isascii() for sign in text[word:at])
            mixed += [latin] * (at - word) + [False] * (at < len(text))
            word = at + 1
    return mixed


def _why(part: str, mixed: bool, before: str) -> str:
    sign = part[0]
    if sign in LETTERS and mixed:
        return f"{'Cyrillic' if sign in CYRILLIC else 'Greek'}, in a word of Latin letters"
    if sign in UNSEEN:
        return "not seen at all"
    if sign in DIRECTIONS:
        return "not seen, and sets the direction in which others are written"
    if sign in JOINERS and before.isascii() and before:
        return "not seen after a Latin letter"
    if sign in MARKS:
        return "a typographic sign"
    if _is_form(sign):
        return "another form of a sign"
    if len(part) > 1 and len(unicodedata.normalize("NFC", part)) < len(part):
        return "a letter and a mark, which are one code point elsewhere"
    return ""
