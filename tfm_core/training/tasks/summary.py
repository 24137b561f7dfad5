"""Summary by copying: of several sentences one is marked, and the decoder writes this one."""

import torch
from torch import Tensor

from tfm_core.training.tasks.task import IGNORED, START, Examples, Naive, Pattern, Task
from tfm_core.training.tasks.written import compact, for_decoder, rows_of_ids, text_of

MARK, STOP = "note", "."
NAMES = ("anna", "ben", "clara", "david", "emma", "felix")
VERBS = ("lost", "sold", "bought", "drew", "broke", "hid", "saw", "kept")
ADJECTIVES = ("old", "red", "small", "blue", "long", "new")
THINGS = ("key", "book", "ball", "cup", "map", "lamp", "coin", "ring", "hat", "boat")
VOCABULARY = (*NAMES, *VERBS, *ADJECTIVES, *THINGS, "and", "the", STOP, MARK, START)
SENTENCES, SLOTS = 3, 9  # sentences of a text, and slots: mark, name (and name) verb the (adjective) thing .
LENGTH = SENTENCES * (SLOTS - 1) + 1  # of the longest text
WRITTEN = SLOTS - 1  # tokens of the longest sentence, with its stop
_ID = {token: 1 + place for place, token in enumerate(VOCABULARY)}


def _ids(*words: str) -> Tensor:
    return torch.tensor([_ID[word] for word in words])


def _drawn(generator: torch.Generator, words: tuple[str, ...], count: int) -> Tensor:
    return _ids(*words)[torch.randint(0, len(words), (count, SENTENCES), generator=generator)]


def _sample(generator: torch.Generator, count: int, length: int) -> Examples:
    first, second = _drawn(generator, NAMES, count), _drawn(generator, NAMES, count)
    verb, adjective, thing = (_drawn(generator, words, count) for words in (VERBS, ADJECTIVES, THINGS))
    two_names, described = torch.rand(2, count, SENTENCES, generator=generator) < 0.5
    marked = torch.randint(0, SENTENCES, (count, 1), generator=generator)
    nothing = torch.zeros_like(first)

    def word(text: str) -> Tensor:
        return nothing + _ID[text]

    is_marked = torch.arange(SENTENCES) == marked
    slots = torch.stack(
        [
            torch.where(is_marked, word(MARK), nothing),
            first,
            torch.where(two_names, word("and"), nothing),
            torch.where(two_names, second, nothing),
            verb,
            word("the"),
            torch.where(described, adjective, nothing),
            thing,
            word(STOP),
        ],
        2,
    )
    sentence, _ = compact(slots[is_marked][:, 1:])
    source, _ = compact(slots.flatten(1))
    return for_decoder(source[:, :LENGTH], sentence.masked_fill(sentence == 0, IGNORED), _ID[START])


def _sentences(row: list[int]) -> list[list[int]]:
    """The ids of each sentence, with its stop, and with its mark if it has one."""
    sentences: list[list[int]] = [[]]
    for number in text_of(row):
        sentences[-1].append(number)
        if number == _ID[STOP]:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def summed_up(source: Tensor) -> Tensor:
    """The marked sentence of each text, int64 (batch, target), `IGNORED` after its stop.

    Raises:
        ValueError: for a text without exactly one mark, or whose marked sentence is empty, too long or does not end.
    """
    rows = []
    for row in source.tolist():
        marked = [sentence for sentence in _sentences(row) if _ID[MARK] in sentence]
        is_clear = row.count(_ID[MARK]) == 1 and marked[0][0] == _ID[MARK] and marked[0][-1] == _ID[STOP]
        if not is_clear or not 2 < len(marked[0]) <= WRITTEN + 1:
            said = " ".join(VOCABULARY[number - 1] for number in text_of(row))
            raise ValueError(
                f"source: expected sentences that end in “{STOP}”, one of them after “{MARK}” and of at most "
                f"{WRITTEN - 1} words, got {said[:80]!r}"
            )
        rows.append(marked[0][1:])
    return rows_of_ids(rows, WRITTEN, IGNORED)


def first_sentence(source: Tensor) -> Tensor:
    """The first sentence of each text, without its mark, int64 (batch, target), `IGNORED` after its stop."""
    sentences = [_sentences(row)[0] for row in source.tolist()]
    return rows_of_ids([[each for each in ids if each != _ID[MARK]][:WRITTEN] for ids in sentences], WRITTEN, IGNORED)


def copied(examples: Examples) -> Tensor:
    """The place in the marked sentence of each token that is written, boolean (batch, target, source)."""
    source, answers = examples.source, examples.answers
    begin = (source == _ID[MARK]).long().argmax(1)[:, None] + 1
    place = begin + torch.arange(answers.shape[1])  # (batch, target)
    cells = place[:, :, None] == torch.arange(source.shape[1])
    return cells & (answers != IGNORED)[:, :, None]


SUMMARY = Task(
    title="Summary by copying",
    about="The encoder reads three sentences, one of them after “note”; the decoder writes this one.",
    vocabulary=VOCABULARY,
    architecture="encoder-decoder",
    length=LENGTH,
    sample=_sample,
    solve=summed_up,
    patterns=(
        Pattern(
            "copy",
            "Each token is copied from its place in the sentence after “note”, wherever that stands.",
            copied,
            kind="cross",
        ),
    ),
    naive=Naive("first sentence", "the first sentence, marked or not", first_sentence),
    defaults={"d_model": 32, "num_heads": 2, "steps": 300},
    stretches=False,
    end=STOP,
)
