"""What a task is: examples that a seed generates, their answers, and where attention should look to find them.

Every example belongs for ever to one side: a hash of its source decides whether it is trained on or held out, so what
is held out has never been trained on, whatever the seed of a run.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from tfm_core.model.tokens import Tokenizer, of_vocabulary

IGNORED = -100  # the answer where nothing is asked, as torch's cross-entropy has it
PAD = "PAD"  # id 0 of every vocabulary
START = "START"  # what a decoder reads first
HELD_OUT = 5  # one example in this many is held out
PRIME = 2_147_483_647  # of the hash; a product of two numbers below it fits into int64

Sample = Callable[[torch.Generator, int, int], "Examples"]


@dataclass(frozen=True)
class Examples:
    """Examples side by side.

    Attributes:
        source: int64 (batch, seq), the tokens of an encoder or a decoder.
        answers: int64 (batch, seq), of a task with two texts (batch, target): the right token at each place, and
            `IGNORED` where nothing is asked. For a classifier of whole sequences, (batch). Where the answer is a span
            of the source, (batch, 2): the places of its first and of its last token.
        target: int64 (batch, target), what the decoder of an encoder-decoder reads: the answers, one place later.
    """

    source: Tensor
    answers: Tensor
    target: Tensor | None = None

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, which: slice | Tensor) -> "Examples":
        target = None if self.target is None else self.target[which]
        return Examples(self.source[which], self.answers[which], target)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What the model is called with."""
        return (self.source,) if self.target is None else (self.source, self.target)

    def to(self, device: torch.device | str) -> "Examples":
        """The same on another device."""
        target = None if self.target is None else self.target.to(device)
        return Examples(self.source.to(device), self.answers.to(device), target)


@dataclass(frozen=True)
class Pattern:
    """Where a head that solves the task should look.

    Attributes:
        name: in a word or two.
        why: a sentence with the reason.
        cells: examples -> boolean (batch, query, key), the cells that should get the weight of their row; rows
            without such a cell do not count.
        kind: of which attention: "self", or "cross" in an encoder-decoder.
        even: whether the weight should be spread evenly over the cells, rather than lie on any of them.
    """

    name: str
    why: str
    cells: Callable[[Examples], Tensor]
    kind: str = "self"
    even: bool = False


@dataclass(frozen=True)
class Naive:
    """A way to answer that needs no network, to compare one with.

    Attributes:
        name: in two or three words.
        about: what it does, as a sentence goes on after a colon.
        answer: source (batch, seq) -> answers, of the shape of `Examples.answers`.
    """

    name: str
    about: str
    answer: Callable[[Tensor], Tensor]


class Vocabulary:
    """A field of a dataclass for tokens, or for a function that reads them from a file once they are asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._kept = f"_{name}"

    def __get__(self, task: object, owner: type | None = None) -> tuple[str, ...]:
        if task is None:
            raise AttributeError("a vocabulary has no default")
        given: tuple[str, ...] | Callable[[], tuple[str, ...]] = vars(task)[self._kept]
        return given() if callable(given) else given

    def __set__(self, task: object, given: tuple[str, ...] | Callable[[], tuple[str, ...]]) -> None:
        vars(task)[self._kept] = given  # once, as tasks are frozen


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task with known answers. To add one, write its `sample` and enter it in `TASKS`.

    Attributes:
        title: its name on screen.
        about: what is asked, in a sentence.
        vocabulary: the tokens after `PAD`, in the order of their ids; given as such, or as a function that reads them.
        architecture: of the transformer that learns it.
        length: of the sequences that are trained on; `sample` makes others, too, where `stretches`.
        sample: (generator, count, length) -> examples.
        solve: source (batch, seq) -> answers, of a task whose source may be typed; None where that is not offered. A
            ValueError says what it expects of a source that has no answer.
        patterns: where attention should look.
        naive: a way to answer without a network.
        defaults: fields of the `TrainingConfig` that differ from its own defaults.
        examples: all there are, where a task is a fixed set; `sample` then draws from it.
        stretches: whether there are examples of other lengths.
        classes: of a classifier of whole sequences; 0 where answers are tokens.
        spans: whether the answer is a span of the source, told by the places where it begins and ends.
        end: the token that a decoder writes last; "" if it writes as many tokens as it reads.
        labels: what the answers are called, where a whole sequence has one answer, which is said at its first token or
            by a classifier; empty elsewhere.
        split: sources -> which of them are never trained on; by a hash of their tokens, if nothing else is said.
        unknown: the token that stands for all that the vocabulary lacks; "" if there is none.
        note: what should be said of it, beside what is asked.
        accuracy: what the share of right answers counts.
    """

    title: str
    about: str
    vocabulary: Vocabulary = Vocabulary()
    architecture: str
    length: int
    sample: Sample
    solve: Callable[[Tensor], Tensor] | None = None
    patterns: tuple[Pattern, ...] = ()
    naive: Naive | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    examples: Callable[[], Examples] | None = None
    stretches: bool = True
    classes: int = 0
    spans: bool = False
    end: str = ""
    labels: tuple[str, ...] = ()
    split: Callable[[Tensor], Tensor] = field(default_factory=lambda: is_held_out)
    unknown: str = ""
    note: str = ""
    accuracy: str = "answers"

    @property
    def vocab_size(self) -> int:
        """How many token ids there are, padding included."""
        return 1 + len(self.vocabulary)

    @property
    def tokenizer(self) -> Tokenizer:
        """Reads and writes the task's tokens, separated by spaces."""
        return of_vocabulary(self.vocabulary, unknown=self.unknown)

    @property
    def outcomes(self) -> int:
        """The number of answers among which the model chooses."""
        return self.length if self.spans else self.classes or self.vocab_size

    def ids(self, *pieces: str) -> Tensor:
        """The ids of these tokens, int64."""
        return torch.tensor([1 + self.vocabulary.index(piece) for piece in pieces])


def is_held_out(source: Tensor) -> Tensor:
    """Which sequences are never trained on: a fifth of them, by a hash of their tokens alone.

    Args:
        source: token ids (batch, seq).
    """
    hashed = torch.full((len(source),), 17, dtype=torch.int64)
    for column in source.cpu().unbind(1):
        hashed = (hashed * 48_271 + column + 1) % PRIME  # Park and Miller 1988
    return hashed * 16_807 % PRIME % HELD_OUT == 0


def draw(task: Task, generator: torch.Generator, count: int, *, held_out: bool, length: int = 0) -> Examples:
    """Draw examples of one side.

    Args:
        task: the task whose examples they are.
        generator: the generator of the random numbers.
        count: how many examples.
        held_out: whether they come from the side that is never trained on.
        length: the length of the sequences; the task's own by default.
    """
    parts: list[Examples] = []
    missing = count
    while missing > 0:
        more = task.sample(generator, 16 + missing * (HELD_OUT + 1 if held_out else 2), length or task.length)
        side = task.split(more.source) == held_out
        parts.append(more[side.nonzero()[:missing, 0]])
        missing -= len(parts[-1])
    return joined(parts)


def joined(parts: list[Examples]) -> Examples:
    """Examples of several batches as one."""
    if len(parts) == 1:
        return parts[0]
    targets = [part.target for part in parts if part.target is not None]
    return Examples(
        torch.cat([part.source for part in parts]),
        torch.cat([part.answers for part in parts]),
        torch.cat(targets) if targets else None,
    )
