"""Sentences of ours with marked pairs of words: who is whose subject, article or name, and where a model reads them.

They stand in marked_sentences.txt, whose head says who marked them and how that was checked.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tfm_core.model.tokens import Tokens

FILE = Path(__file__).parent / "marked_sentences.txt"
RELATIONS = ("verb", "article", "pronoun")  # what can be marked: verb > subject, noun > article, pronoun > name
EDGES = ".,;:!?"  # signs that stand beside words, and are no part of them
GOES_ON = "##"  # how BERT's vocabulary marks a piece that goes on a word
# Forms of one verb that differ by the number of the subject alone: each is the wrong one where the other is right.
OTHER_NUMBER = {"was": "were", "is": "are", "has": "have"}
OTHER_NUMBER |= {plural: singular for singular, plural in OTHER_NUMBER.items()}


@dataclass(frozen=True)
class MarkedSentence:
    """A sentence with its marks.

    Attributes:
        text: of the sentence.
        pairs: relation, number of the word that looks, number of the word that it should look at; words from 0.
    """

    text: str
    pairs: tuple[tuple[str, int, int], ...]

    @property
    def words(self) -> list[str]:
        """Its words, without the signs beside them."""
        return [word.strip(EDGES) for word in self.text.split()]


def parse(text: str) -> list[MarkedSentence]:
    """The sentences of a file of marks.

    A sentence is a line; marks of a relation stand in a line below it, `relation: word > word, word > word`. A word
    that stands in the sentence more than once is the first one, unless a number follows: `the#2` is the second "the".
    Lines that begin with # are remarks; an empty line ends a sentence.

    Raises:
        ValueError: if a mark names a relation or a word that is not there.
    """
    made = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            sentence, *marks = lines
            words = MarkedSentence(sentence, ()).words
            made.append(MarkedSentence(sentence, tuple(pair for mark in marks for pair in _pairs(mark, words))))
    return made


def _pairs(line: str, words: Sequence[str]) -> list[tuple[str, int, int]]:
    relation, _, listed = line.partition(":")
    if relation not in RELATIONS:
        raise ValueError(f"expected a line that begins with one of {', '.join(RELATIONS)}, got {line!r}")
    pairs = []
    for pair in listed.split(","):
        looks, arrow, target = (part.strip() for part in pair.partition(">"))
        if not arrow:
            raise ValueError(f"expected `word > word`, got {pair.strip()!r}")
        pairs.append((relation, _number(looks, words), _number(target, words)))
    return pairs


def _number(name: str, words: Sequence[str]) -> int:
    """Which of the words is meant, from 0."""
    word, _, which = name.partition("#")
    places = [at for at, each in enumerate(words) if each == word]
    if not places or (which and not (which.isdigit() and 1 <= int(which) <= len(places))):
        raise ValueError(f"expected a word of {' '.join(words)!r}, got {name!r}")
    return places[int(which or 1) - 1]


@cache
def marked_sentences() -> tuple[MarkedSentence, ...]:
    """The sentences that come with this package."""
    return tuple(parse(FILE.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class ReadSentence:
    """A marked sentence as one model reads it; places count its tokens from 0, special ones included.

    Attributes:
        ids: of its tokens.
        pairs: relation, the places of the word that looks, the places of the word that it should look at.
        signs: the places of punctuation.
        choices: of each verb whose form tells the number of its subject, in one token: its place, its id, and the id of
            the form that would be wrong.
    """

    ids: tuple[int, ...]
    pairs: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    signs: tuple[int, ...]
    choices: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class ReadSentences:
    """All that a model reads where roles of its heads are measured.

    Attributes:
        sentences: the marked sentences.
        before, after: the ids of special tokens around each text.
        first_id: the lowest id that is drawn for random tokens; those below are special.
        mask_id: the id of the token that hides a word, of a model that has learned to fill it in; -1 if it has none.
    """

    sentences: tuple[ReadSentence, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    first_id: int
    mask_id: int = -1


def read_sentences(
    prompt: Callable[[str], Tokens],
    *,
    first_id: int,
    around: tuple[Sequence[int], Sequence[int]] = ((), ()),
    mask_id: int = -1,
    sentences: Sequence[MarkedSentence] | None = None,
) -> ReadSentences:
    """The marked sentences, cut into a model's tokens.

    Args:
        prompt: a text -> its tokens, with special ones around them.
        first_id: as in `ReadSentences`.
        around: the ids of special tokens that stand before and after each text.
        mask_id: as in `ReadSentences`.
        sentences: by default those that come with this package.

    Raises:
        ValueError: if the tokens do not hold the letters of a sentence, so that its words cannot be found in them.
    """
    before, after = (tuple(ids) for ids in around)
    listed = marked_sentences() if sentences is None else sentences
    read = tuple(_read(each, prompt, len(before), len(after)) for each in listed)
    return ReadSentences(read, before, after, first_id, mask_id)


def _read(sentence: MarkedSentence, prompt: Callable[[str], Tokens], before: int, after: int) -> ReadSentence:
    tokens = prompt(sentence.text)
    places, signs = places_of_words(sentence.text.split(), tokens.pieces, before, after)
    pairs = tuple((relation, places[looks], places[target]) for relation, looks, target in sentence.pairs)
    choices = []
    words = sentence.text.split()
    for relation, verb, _ in sentence.pairs:
        other = OTHER_NUMBER.get(words[verb])
        if relation == "verb" and other and len(places[verb]) == 1:
            wrong = prompt(" ".join([*words[:verb], other, *words[verb + 1 :]])).ids
            differ = [at for at, (a, b) in enumerate(zip(tokens.ids, wrong, strict=False)) if a != b]
            if len(wrong) == len(tokens.ids) and differ == list(places[verb]):
                choices.append((differ[0], tokens.ids[differ[0]], wrong[differ[0]]))
    return ReadSentence(tokens.ids, pairs, signs, tuple(choices))


def places_of_words(
    words: Sequence[str], pieces: Sequence[str], before: int = 0, after: int = 0
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """The places of each word's tokens, and those of punctuation.

    Tokens are found by their letters, whatever a tokenizer makes of spaces and capitals. A sign is a token that holds
    no letter.

    Args:
        words: of a text, with the signs beside them.
        pieces: the text's tokens, as they are written.
        before: how many special tokens stand before it.
        after: how many stand after it.

    Raises:
        ValueError: if the tokens do not hold the letters of the words, one after the other.
    """
    of_letter = [(at, letter) for at, word in enumerate(words) for letter in word.lower() if letter.isalnum()]
    places: list[list[int]] = [[] for _ in words]
    signs, done = [], 0
    for place in range(before, len(pieces) - after):
        letters = [letter for letter in pieces[place].removeprefix(GOES_ON).lower() if letter.isalnum()]
        here = of_letter[done : done + len(letters)]
        if [letter for _, letter in here] != letters:
            raise ValueError(f"expected the letters of {' '.join(words)!r} in its tokens, got {pieces[place]!r}")
        done += len(letters)
        for word in dict.fromkeys(at for at, _ in here):
            places[word].append(place)
        if not letters and pieces[place].strip():
            signs.append(place)
    if done != len(of_letter):
        raise ValueError(f"expected tokens for all of {' '.join(words)!r}, got them for {done} letters")
    return [tuple(each) for each in places], tuple(signs)
