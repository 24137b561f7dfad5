"""The order of tokens: reverse and sort, each with one text, and with a decoder that writes a second one."""

import torch
from torch import Tensor

from tfm_core.training.tasks.cells import DIGITS, equal_to_answer, mirrored, random_tokens
from tfm_core.training.tasks.task import START, Examples, Pattern, Task

NUMBERS = tuple(str(number) for number in range(32))


def in_reverse(source: Tensor) -> Tensor:
    """The tokens from the last to the first."""
    return source.flip(1)


def sorted_up(source: Tensor) -> Tensor:
    """The tokens in ascending order: their ids are in the order of the numbers."""
    return source.sort(1).values


def _reverse(generator: torch.Generator, count: int, length: int) -> Examples:
    source = random_tokens(generator, count, length, len(DIGITS))
    return Examples(source, in_reverse(source))


def _sort(generator: torch.Generator, count: int, length: int) -> Examples:
    source = random_tokens(generator, count, length, len(NUMBERS))
    return Examples(source, sorted_up(source))


def _for_decoder(examples: Examples, start: int) -> Examples:
    """The decoder reads the answers one place later, after the token `start`: teacher forcing."""
    target = examples.answers.roll(1, 1)
    target[:, 0] = start
    return Examples(examples.source, examples.answers, target)


def _reverse_by_decoder(generator: torch.Generator, count: int, length: int) -> Examples:
    return _for_decoder(_reverse(generator, count, length), 1 + len(DIGITS))


def _sort_by_decoder(generator: torch.Generator, count: int, length: int) -> Examples:
    return _for_decoder(_sort(generator, count, length), 1 + len(NUMBERS))


REVERSE = Task(
    title="Reverse",
    about="Write the digits in reverse order.",
    vocabulary=DIGITS,
    architecture="encoder",
    length=10,
    sample=_reverse,
    solve=in_reverse,
    patterns=(
        Pattern("mirror", "The first answer is the last digit, the second the last but one, and so on.", mirrored),
    ),
    defaults={"steps": 400},
)
SORT = Task(
    title="Sort",
    about="Write the ten numbers in ascending order.",
    vocabulary=NUMBERS,
    architecture="encoder",
    length=10,
    sample=_sort,
    solve=sorted_up,
    patterns=(Pattern("rank", "The third answer is the third smallest number, wherever it stands.", equal_to_answer),),
    defaults={"d_model": 32, "num_heads": 2, "num_layers": 2, "steps": 1500},
)
REVERSE_BY_DECODER = Task(
    title="Reverse, encoder-decoder",
    about="The encoder reads the digits, the decoder writes them in reverse order, one after the other.",
    vocabulary=(*DIGITS, START),
    architecture="encoder-decoder",
    length=10,
    sample=_reverse_by_decoder,
    solve=in_reverse,
    patterns=(
        Pattern("mirror", "The first token that is written is the last digit of the source.", mirrored, kind="cross"),
    ),
    defaults={"steps": 400},
)
SORT_BY_DECODER = Task(
    title="Sort, encoder-decoder",
    about="The encoder reads ten numbers, the decoder writes them in ascending order, one after the other.",
    vocabulary=(*NUMBERS, START),
    architecture="encoder-decoder",
    length=10,
    sample=_sort_by_decoder,
    solve=sorted_up,
    patterns=(
        Pattern(
            "rank",
            "The third token that is written is the third smallest number of the source.",
            equal_to_answer,
            kind="cross",
        ),
    ),
    defaults={"d_model": 32, "num_heads": 2, "num_layers": 2, "steps": 1000},
)
