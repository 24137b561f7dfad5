"""Translation: English number words and dates to German, of a small grammar whose sentences are all listed.

German says units before tens ("vier und dreißig"), puts the day before the month, and melts "on the" into one word
after which the ordinal ends in -n ("am ersten März"): so cross-attention is no diagonal. Compound words are cut into
tokens, as German writes vierunddreißig. English is in small letters; German months have their capital.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from tfm_core.model.initialization import generator
from tfm_core.training.tasks.task import IGNORED, START, Examples, Naive, Pattern, Task
from tfm_core.training.tasks.written import END, for_decoder, rows_of_ids, text_of

UNITS = {"one": "ein", "two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "six": "sechs",
         "seven": "sieben", "eight": "acht", "nine": "neun"}  # fmt: skip
TEENS = {"ten": "zehn", "eleven": "elf", "twelve": "zwölf", "thirteen": "dreizehn", "fourteen": "vierzehn",
         "fifteen": "fünfzehn", "sixteen": "sechzehn", "seventeen": "siebzehn", "eighteen": "achtzehn",
         "nineteen": "neunzehn"}  # fmt: skip
TENS = {"twenty": "zwanzig", "thirty": "dreißig", "forty": "vierzig", "fifty": "fünfzig", "sixty": "sechzig",
        "seventy": "siebzig", "eighty": "achtzig", "ninety": "neunzig"}  # fmt: skip
# Day of the month -> its ordinal, up to the twentieth; then tens and units are put together.
ORDINALS = {"first": "erste", "second": "zweite", "third": "dritte", "fourth": "vierte", "fifth": "fünfte",
            "sixth": "sechste", "seventh": "siebte", "eighth": "achte", "ninth": "neunte", "tenth": "zehnte",
            "eleventh": "elfte", "twelfth": "zwölfte", "thirteenth": "dreizehnte", "fourteenth": "vierzehnte",
            "fifteenth": "fünfzehnte", "sixteenth": "sechzehnte", "seventeenth": "siebzehnte",
            "eighteenth": "achtzehnte", "nineteenth": "neunzehnte"}  # fmt: skip
FULL_TENS = {"twentieth": "zwanzigste", "thirtieth": "dreißigste"}
MONTHS = {"january": "Januar", "february": "Februar", "march": "März", "april": "April", "may": "Mai", "june": "Juni",
          "july": "Juli", "august": "August", "september": "September", "october": "Oktober", "november": "November",
          "december": "Dezember"}  # fmt: skip
DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)  # of a leap year: all days that there are
HIGHEST = 999
SAID_ALONE = "eins"  # as "ein" is called at the end of a number


@dataclass(frozen=True)
class Form:
    """A sentence of the grammar.

    Attributes:
        english: its words.
        german: the tokens of its translation, without `END`.
        looks: for each German token the places of the English words that it comes from; none for "und", which joins
            units to tens.
    """

    english: tuple[str, ...]
    german: tuple[str, ...]
    looks: tuple[tuple[int, ...], ...]


Piece = tuple[str, tuple[int, ...]]  # a German token, and the places of the words that it comes from


def number(value: int) -> Form:
    """A number from 1 to 999 in words."""
    units, teens, tens = list(UNITS), list(TEENS), list(TENS)
    hundreds, rest = divmod(value, 100)
    english: list[str] = []
    german: list[Piece] = []
    if hundreds:
        english += [units[hundreds - 1], "hundred"] + ["and"] * (rest > 0)
        german += [(UNITS[units[hundreds - 1]], (0,)), ("hundert", (1,))]
    at = len(english)
    if 0 < rest < 10:
        english.append(units[rest - 1])
        german.append((SAID_ALONE if rest == 1 else UNITS[units[rest - 1]], (at,)))
    elif 10 <= rest < 20:
        english.append(teens[rest - 10])
        german.append((TEENS[teens[rest - 10]], (at,)))
    elif rest:
        ten, unit = tens[rest // 10 - 2], units[rest % 10 - 1] if rest % 10 else ""
        english += [ten, *filter(None, [unit])]
        german += [*([(UNITS[unit], (at + 1,)), ("und", ())] if unit else []), (TENS[ten], (at,))]
    return _form(english, german)


def date(month: int, day: int, *, month_first: bool, on: bool) -> Form:
    """A day of the year in words.

    Args:
        month: from 0.
        day: from 1.
        month_first: "march the first", or "the first of march".
        on: whether "on" stands before it: German then says "am" for "der", and the ordinal ends in -n.
    """
    name = list(MONTHS)[month]
    words, ordinal = _ordinal(day)
    before = ["on"] * on + [name] * month_first
    english = [*before, "the", *words, *([] if month_first else ["of", name])]
    the = len(before)
    article: Piece = ("am", (0, the)) if on else ("der", (the,))
    days = [(f"{token}n" if on and token.endswith("te") else token, tuple(the + 1 + at for at in looks))
            for token, looks in ordinal]  # fmt: skip
    return _form(english, [article, *days, (MONTHS[name], (english.index(name),))])


def _ordinal(day: int) -> tuple[list[str], list[Piece]]:
    """The English words of a day, and the German tokens with the places among these words."""
    ordinals, units = list(ORDINALS), list(UNITS)
    if day < 20:
        return [ordinals[day - 1]], [(ORDINALS[ordinals[day - 1]], (0,))]
    full = list(FULL_TENS)[day // 10 - 2]
    if day % 10 == 0:
        return [full], [(FULL_TENS[full], (0,))]
    unit = UNITS[units[day % 10 - 1]]
    return [list(TENS)[day // 10 - 2], ordinals[day % 10 - 1]], [(unit, (1,)), ("und", ()), (FULL_TENS[full], (0,))]


def _form(english: list[str], german: list[Piece]) -> Form:
    return Form(tuple(english), tuple(token for token, _ in german), tuple(looks for _, looks in german))


def forms() -> Iterator[Form]:
    """All sentences: the numbers, then each day of the year in four ways."""
    yield from map(number, range(1, HIGHEST + 1))
    for month, days in enumerate(DAYS):
        for day in range(1, days + 1):
            for month_first in (False, True):
                for on in (False, True):
                    yield date(month, day, month_first=month_first, on=on)


ENGLISH = ("and", "hundred", *UNITS, *TEENS, *TENS, "on", "the", "of", *ORDINALS, *FULL_TENS, *MONTHS)
_CARDINALS = ("und", "hundert", SAID_ALONE, *UNITS.values(), *TEENS.values(), *TENS.values())
_DAYS = (*ORDINALS.values(), *FULL_TENS.values())
GERMAN = (*_CARDINALS, "am", "der", *_DAYS, *(f"{day}n" for day in _DAYS), *MONTHS.values())
VOCABULARY = (*ENGLISH, *GERMAN, START, END)
LENGTH = 6  # of the longest source, "on the twenty first of march", and of the longest translation with its end
_ID = {token: 1 + place for place, token in enumerate(VOCABULARY)}


@cache
def _listed() -> tuple[Examples, Tensor, dict[tuple[int, ...], int]]:
    """All examples, the cells of each (form, target, source), and source ids -> the number of the form."""
    listed = list(forms())
    order = torch.randperm(len(listed), generator=generator(0, "translation"))  # numbers and dates side by side
    every = [listed[place] for place in order.tolist()]
    sources = [[_ID[word] for word in form.english] for form in every]
    answers = [[*(_ID[token] for token in form.german), _ID[END]] for form in every]
    cells = torch.zeros(len(every), LENGTH, LENGTH, dtype=torch.bool)
    for place, form in enumerate(every):
        for row, looks in enumerate(form.looks):
            cells[place, row, list(looks)] = True
    examples = for_decoder(rows_of_ids(sources, LENGTH, 0), rows_of_ids(answers, LENGTH, IGNORED), _ID[START])
    return examples, cells, {tuple(source): place for place, source in enumerate(sources)}


def _all() -> Examples:
    return _listed()[0]


def _sample(numbers: torch.Generator, count: int, length: int) -> Examples:
    examples = _all()
    return examples[torch.randint(0, len(examples), (count,), generator=numbers)]


def _numbers_of(source: Tensor) -> list[int]:
    """Which form each source is.

    Raises:
        ValueError: for a source that is none.
    """
    known, numbers = _listed()[2], []
    for row in source.tolist():
        ids = text_of(row)
        if tuple(ids) not in known:
            said = " ".join(VOCABULARY[number - 1] for number in ids)
            raise ValueError(
                "source: expected a number from one to nine hundred and ninety nine or a date such as on the twenty "
                f"first of march, got {said[:80]!r}"
            )
        numbers.append(known[tuple(ids)])
    return numbers


def translated(source: Tensor) -> Tensor:
    """The right German tokens, int64 (batch, target), `IGNORED` after the end.

    Raises:
        ValueError: for a source that is no sentence of the grammar.
    """
    return _all().answers[_numbers_of(source)]


def aligned(examples: Examples) -> Tensor:
    """The English words that each German token comes from, boolean (batch, target, source)."""
    cells = _listed()[1][_numbers_of(examples.source)]
    return cells[:, : examples.answers.shape[1], : examples.source.shape[1]]


@cache
def dictionary() -> dict[str, str]:
    """English word -> the German token that most often comes from it; "" for words from which none comes."""
    pairs: dict[str, Counter[str]] = {word: Counter() for word in ENGLISH}
    for form in forms():
        for token, looks in zip(form.german, form.looks, strict=True):
            for place in looks[:1]:  # "am" stands for "on", and "the" is then left out
                pairs[form.english[place]][token] += 1
    return {word: tokens.most_common(1)[0][0] if tokens else "" for word, tokens in pairs.items()}


def word_for_word(source: Tensor) -> Tensor:
    """The tokens of a dictionary, in the order of the source, int64 (batch, target), `IGNORED` after the end."""
    words = dictionary()
    rows = []
    for row in source.tolist():
        tokens = [words.get(VOCABULARY[number - 1], "") for number in text_of(row)]
        rows.append([*(_ID[token] for token in tokens if token), _ID[END]][:LENGTH])
    return rows_of_ids(rows, LENGTH, IGNORED)


TRANSLATION = Task(
    title="Translation",
    about="The encoder reads an English number or date, the decoder writes it in German, token by token.",
    vocabulary=VOCABULARY,
    architecture="encoder-decoder",
    length=LENGTH,
    sample=_sample,
    solve=translated,
    patterns=(
        Pattern(
            "word",
            "Each German token comes from a word of the source: units stand before tens, and the day before its month.",
            aligned,
            kind="cross",
        ),
    ),
    naive=Naive(
        "word for word",
        "each word by the token that most often comes from it, in the order of the source",
        word_for_word,
    ),
    defaults={"d_model": 32, "num_heads": 2, "num_layers": 2, "steps": 120},
    examples=_all,
    stretches=False,
    end=END,
    note="999 numbers, and 366 days in four ways.",
)
