"""Real text: who wrote this sentence? 3,600 sentences of three authors; their origin: sentences/README.md."""

from collections import Counter
from functools import cache

import torch
from torch import Tensor

from tfm_core.training.tasks import sentence_files
from tfm_core.training.tasks.counting import CLS
from tfm_core.training.tasks.sentence_files import FOLDER, Row
from tfm_core.training.tasks.sentence_files import ORIGINS as ORIGINS
from tfm_core.training.tasks.sentence_files import are_held_out as are_held_out
from tfm_core.training.tasks.task import IGNORED, Examples, Task

FILE = FOLDER / "authors.tsv"
UNKNOWN = "UNKNOWN"
WORDS = 2_000  # in the vocabulary; all others are read as `UNKNOWN`
LENGTH = 1 + 28  # CLS and the longest sentence


def rows() -> list[Row]:
    """The author and the tokens of each sentence, in the order of the file."""
    return sentence_files.rows(FILE)


def frequent(sentences: list[list[str]]) -> tuple[str, ...]:
    """The most frequent words, the most frequent one first; words that are equally frequent are in order of letters."""
    count = Counter(word for sentence in sentences for word in sentence)
    return tuple(sorted(count, key=lambda word: (-count[word], word))[:WORDS])


@cache
def _split_rows() -> tuple[list[tuple[str, list[str]]], Tensor]:
    known = rows()
    return known, are_held_out([sentence for _, sentence in known])


@cache
def _vocabulary() -> tuple[str, ...]:
    """The authors, who are the answers, then CLS, `UNKNOWN`, and the words of the training side."""
    known, held_out = _split_rows()
    train = [sentence for (_, sentence), out in zip(known, held_out.tolist(), strict=True) if not out]
    return (*ORIGINS, CLS, UNKNOWN, *frequent(train))


@cache
def _examples() -> tuple[Examples, frozenset[tuple[int, ...]]]:
    """All sentences, and what is trained on. The first counts of those that read alike without their rare words."""
    tokenizer = AUTHORS.tokenizer
    cls = tokenizer.id_of(CLS)
    first: dict[tuple[int, ...], tuple[int, bool]] = {}
    known, held_out = _split_rows()
    for (author, sentence), out in zip(known, held_out.tolist(), strict=True):
        first.setdefault((cls, *map(tokenizer.id_of, sentence)), (tokenizer.id_of(author), out))
    source = torch.zeros(len(first), LENGTH, dtype=torch.int64)
    for number, ids in enumerate(first):
        source[number, : len(ids)] = torch.tensor(ids)
    answers = torch.full_like(source, IGNORED)
    answers[:, 0] = torch.tensor([author for author, _ in first.values()])
    train = (tuple(row) for row, (_, out) in zip(source.tolist(), first.values(), strict=True) if not out)
    return Examples(source, answers), frozenset(train)


def _all() -> Examples:
    return _examples()[0]


def _split(source: Tensor) -> Tensor:
    """A sentence that is not in the file has not been trained on either."""
    _, train = _examples()
    return torch.tensor([tuple(ids) not in train for ids in source.tolist()])


def _some(generator: torch.Generator, count: int, length: int) -> Examples:
    every = _all()
    return every[torch.randint(len(every), (count,), generator=generator)]


AUTHORS = Task(
    title="Three authors",
    about="The output at the CLS token names the author of a sentence: Austen, Melville or Roosevelt.",
    vocabulary=_vocabulary,
    architecture="encoder",
    length=LENGTH,
    sample=_some,
    labels=tuple(ORIGINS),
    split=_split,
    examples=_all,
    stretches=False,
    unknown=UNKNOWN,
    defaults={"d_model": 32, "num_heads": 2, "learning_rate": 3e-3, "dropout": 0.1, "steps": 200},
    note="Real sentences, all in the public domain: nobody knows where attention should look.",
    accuracy="sentences",
)
