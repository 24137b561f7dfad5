"""Sentences with a label, as a body reads them. `SETS` and `BODIES` at the foot of the file list what there is."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from tfm_core.language.lab_bert import LAB_BERT, lab_bert_tokenizer
from tfm_core.model.config import TransformerConfig
from tfm_core.model.initialization import generator
from tfm_core.model.tokens import Tokenizer
from tfm_core.training.tasks import sentence_files
from tfm_core.training.tasks.sentence_files import FOLDER, ORIGINS, Row


@dataclass(frozen=True, kw_only=True)
class LabelledSet:
    """Sentences with labels.

    Attributes:
        title: its name on screen.
        about: what is asked, in a sentence.
        labels: what a sentence may be.
        origin: where the sentences are from, in a sentence.
        read: what of it the body has read without labels, in a sentence.
        path: the file.
    """

    title: str
    about: str
    labels: tuple[str, ...]
    origin: str
    read: str
    path: Path


@dataclass(frozen=True)
class Body:
    """A network that has been trained without labels.

    Attributes:
        title: its name on screen.
        config: of its shape, and of its weights.
        tokenizer: cuts its texts.
    """

    title: str
    config: TransformerConfig
    tokenizer: Callable[[], Tokenizer]


@dataclass(frozen=True)
class Sentences:
    """Sentences as a body reads them.

    Attributes:
        source: int64 (sentence, seq), token ids, padded.
        labels: int64 (sentence), the number of the label, from 0.
    """

    source: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, which: slice | Tensor) -> "Sentences":
        return Sentences(self.source[which], self.labels[which])


def sides(name: str) -> tuple[list[Row], list[Row]]:
    """The sentences of a set that may be learned from, and those that never are: by a hash of their words."""
    return sentence_files.sides(SETS[name].path)


@cache
def held_out(name: str, body: str) -> Sentences:
    """The sentences that nothing is ever trained on."""
    return _as_read(name, body, sides(name)[1])


def drawn(name: str, body: str, count: int, seed: int) -> Sentences:
    """Sentences to learn from, so many: with one seed, the first 50 are also the first of 200.

    Raises:
        ValueError: if there are not so many.
    """
    training = _training(name, body)
    if not 1 <= count <= len(training):
        raise ValueError(f"examples: expected 1 to {len(training)} of {name!r}, got {count!r}")
    return training[_order(name, len(training), seed)[:count]]


def not_drawn(name: str, body: str, count: int, seed: int, most: int) -> Sentences:
    """The last `most` of the training side's sentences, none of which is among the first `count`."""
    training = _training(name, body)
    return training[_order(name, len(training), seed)[count:][-most:]]


def _order(name: str, count: int, seed: int) -> Tensor:
    return torch.randperm(count, generator=generator(seed, f"sentences of {name}"))


@cache
def _training(name: str, body: str) -> Sentences:
    return _as_read(name, body, sides(name)[0])


def _as_read(name: str, body: str, rows: list[Row]) -> Sentences:
    tokenizer, labels = BODIES[body].tokenizer(), SETS[name].labels
    ids = [torch.tensor([*map(tokenizer.id_of, tokenizer.split(" ".join(words)))]) for _, words in rows]
    source = pad_sequence(ids, batch_first=True, padding_value=BODIES[body].config.pad_id)
    return Sentences(source, torch.tensor([labels.index(label) for label, _ in rows]))


SETS: dict[str, LabelledSet] = {
    "authors": LabelledSet(
        title="Three authors",
        about="Who wrote the sentence: Austen, Melville or Roosevelt?",
        labels=tuple(ORIGINS),
        origin=f"3,600 sentences, all in the public domain: {'; '.join(ORIGINS.values())}.",
        read="Lab BERT has read most of Austen’s novels and of Moby-Dick without labels, and nothing of Roosevelt.",
        path=FOLDER / "authors.tsv",
    ),
    "speech": LabelledSet(
        title="Speech or narration",
        about="Austen’s novels without quotation marks: does somebody say the sentence, or does the narrator tell it?",
        labels=("speech", "narration"),
        origin="3,200 sentences of Jane Austen’s six novels, 1811–1817, without “I”, “you” and other words of the "
        "first and second person, half of them from between quotation marks.",
        read="Lab BERT has read most of these novels without labels, but with their quotation marks.",
        path=FOLDER / "speech.tsv",
    ),
}
BODIES: dict[str, Body] = {"lab-bert": Body("Lab BERT", LAB_BERT, lab_bert_tokenizer)}
