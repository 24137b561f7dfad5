"""Tokens that come again: copy, the first token again, and strings that repeat with an unknown period (induction)."""

import torch
from torch import Tensor

from tfm_core.training.tasks.cells import LETTERS, random_tokens
from tfm_core.training.tasks.task import IGNORED, Examples, Pattern, Task

SHORTEST, LONGEST = 8, 16  # periods of the strings that repeat
AGAIN = ("yes", "no")


def _copy(generator: torch.Generator, count: int, length: int) -> Examples:
    once = random_tokens(generator, count, length // 2, len(LETTERS))
    source = torch.cat([once, once], 1)
    answers = source.roll(-1, 1)  # the next token
    answers[:, : length // 2 - 1] = IGNORED  # the first time nobody can know what comes next
    answers[:, -1] = IGNORED
    return Examples(source, answers)


def _one_period_back(examples: Examples) -> Tensor:
    """The token that followed when the same stood there the first time."""
    batch, length = examples.source.shape
    lag = length // 2 - 1
    cells = torch.eye(length, dtype=torch.bool).roll(lag, 0)  # query i -> key i - lag
    cells[:lag] = False
    cells[-1] = False
    return cells.expand(batch, -1, -1)


def _induction(generator: torch.Generator, count: int, length: int) -> Examples:
    order = torch.rand((count, len(LETTERS)), generator=generator).argsort(1) + 1  # no letter twice in a period
    period = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)
    places = torch.arange(length)[None]
    source = order.gather(1, places % period)
    answers = source.roll(-1, 1)
    is_known = places >= period
    is_known[:, -1] = False
    return Examples(source, answers.masked_fill(~is_known, IGNORED))


def after_the_same(examples: Examples) -> Tensor:
    """Every place after an earlier occurrence of the token at hand, (batch, query, key)."""
    source = examples.source
    length = source.shape[1]
    earlier = torch.ones((length, length), dtype=torch.bool).tril(-1)
    same = (source[:, :, None] == source[:, None, :]) & earlier
    after = torch.zeros_like(same)
    after[:, :, 1:] = same[:, :, :-1]
    return after & (examples.answers != IGNORED)[:, :, None]


def token_before(examples: Examples) -> Tensor:
    """The token before, within the first period: later the same token can be had elsewhere, too."""
    length = examples.source.shape[1]
    before = torch.eye(length, dtype=torch.bool).roll(1, 0)
    before[0] = False
    in_first = examples.answers == IGNORED
    in_first[:, -1] = False
    return before & in_first[:, :, None]


def _again(generator: torch.Generator, count: int, length: int) -> Examples:
    source = random_tokens(generator, count, length, len(LETTERS))
    is_again = (source[:, 1:] == source[:, :1]).any(1)
    answers = torch.full_like(source, IGNORED)
    answers[:, 0] = torch.where(is_again, 1 + len(LETTERS), 2 + len(LETTERS))
    return Examples(source, answers)


def _others_like_first(examples: Examples) -> Tensor:
    source = examples.source
    cells = torch.zeros((*source.shape, source.shape[1]), dtype=torch.bool)
    cells[:, 0, 1:] = source[:, 1:] == source[:, :1]
    return cells


COPY = Task(
    title="Copy",
    about="Twelve letters come twice; say the next letter while they come the second time.",
    vocabulary=LETTERS,
    architecture="decoder",
    length=24,
    sample=_copy,
    patterns=(Pattern("one period back", "What comes next stands eleven places back.", _one_period_back),),
    defaults={"steps": 400},
)
FIRST_AGAIN = Task(
    title="First again?",
    about="Say at the first letter whether it comes again among the sixteen that follow.",
    vocabulary=(*LETTERS, *AGAIN),
    architecture="encoder",
    length=17,
    sample=_again,
    patterns=(Pattern("same letter", "The first letter must find others that are like it.", _others_like_first),),
    defaults={"num_heads": 2, "steps": 1500},
)
INDUCTION = Task(
    title="Induction",
    about="Letters repeat after 8 to 16 places; say the next letter from the second time on.",
    vocabulary=LETTERS,
    architecture="decoder",
    length=32,
    sample=_induction,
    patterns=(
        Pattern(
            "induction",
            "What comes next stands after the place where the same letter stood before.",
            after_the_same,
        ),
        Pattern(
            "token before",
            "In a layer below, each place must learn which letter stands before it, or nobody can look for it.",
            token_before,
        ),
    ),
    defaults={"d_model": 32, "num_layers": 2, "steps": 350},
)
