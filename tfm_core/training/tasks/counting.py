"""One answer for the whole sequence, said at its first token: the majority, and balanced brackets."""

import torch
from torch import Tensor

from tfm_core.training.tasks.task import IGNORED, Examples, Pattern, Task

CLS = "CLS"  # the token at which the answer is said, as in BERT
OPEN, CLOSED, BALANCED, UNBALANCED, CLS_OF_BRACKETS = range(1, 6)


def _with_answer(sequence: Tensor, cls: int, answer: Tensor) -> Examples:
    source = torch.cat([torch.full((len(sequence), 1), cls), sequence], 1)
    answers = torch.full_like(source, IGNORED)
    answers[:, 0] = answer
    return Examples(source, answers)


def _majority(generator: torch.Generator, count: int, length: int) -> Examples:
    letters = torch.randint(1, 3, (count, length - 1), generator=generator)  # an odd number: no tie
    return _with_answer(letters, 3, torch.where((letters == 1).sum(1) * 2 > length - 1, 1, 2))


def _all_evenly(examples: Examples) -> Tensor:
    cells = torch.zeros((*examples.source.shape, examples.source.shape[1]), dtype=torch.bool)
    cells[:, 0, 1:] = True
    return cells


def heights(brackets: Tensor) -> Tensor:
    """How many brackets are open after each, (batch, seq); below 0 where one is closed that was never opened."""
    return torch.where(brackets == OPEN, 1, -1).cumsum(1)


def _brackets(generator: torch.Generator, count: int, length: int) -> Examples:
    pairs = (length - 1) // 2
    both = torch.tensor([OPEN, CLOSED]).repeat_interleave(pairs)
    mixed = both[torch.rand((count, 2 * pairs), generator=generator).argsort(1)]
    # Begun after the place where the fewest are open, any such circle is balanced (the cycle lemma).
    begin = heights(mixed).argmin(1, keepdim=True) + 1
    turned = mixed.gather(1, (begin + torch.arange(2 * pairs)) % (2 * pairs))
    sequence = torch.where(torch.rand((count, 1), generator=generator) < 0.5, turned, mixed)
    is_balanced = heights(sequence).amin(1) >= 0
    return _with_answer(sequence, CLS_OF_BRACKETS, torch.where(is_balanced, BALANCED, UNBALANCED))


def _partners(examples: Examples) -> Tensor:
    """Each bracket of a balanced sequence and the one that closes or opens it."""
    brackets = examples.source[:, 1:]
    after = heights(brackets)
    before = after - torch.where(brackets == OPEN, 1, -1)
    length = brackets.shape[1]
    # A closing bracket's partner is the nearest opening one before it from which the same height was left.
    is_pair = (brackets == CLOSED)[:, :, None] & (brackets == OPEN)[:, None, :]
    is_pair &= (after[:, :, None] == before[:, None, :]) & torch.ones((length, length), dtype=torch.bool).tril(-1)
    nearest = is_pair & (is_pair.flip(2).cumsum(2).flip(2) == 1)
    cells = torch.zeros((*examples.source.shape, examples.source.shape[1]), dtype=torch.bool)
    cells[:, 1:, 1:] = nearest | nearest.transpose(1, 2)
    return cells & (examples.answers[:, 0] == BALANCED)[:, None, None]


MAJORITY = Task(
    title="Majority",
    about="Say at CLS which of two letters is the more frequent.",
    vocabulary=("A", "B", CLS),
    architecture="encoder",
    length=22,
    labels=("A", "B"),
    sample=_majority,
    patterns=(
        Pattern(
            "all evenly", "Every letter counts as much as any other: CLS must read all alike.", _all_evenly, even=True
        ),
    ),
    defaults={"steps": 300},
)
BRACKETS = Task(
    title="Balanced brackets",
    about="Say at CLS whether twelve brackets are balanced.",
    vocabulary=("(", ")", "yes", "no", CLS),
    architecture="encoder",
    length=13,
    labels=("yes", "no"),
    sample=_brackets,
    patterns=(Pattern("partner", "One could check that each bracket has a partner.", _partners),),
    defaults={"d_model": 32, "num_layers": 2, "learning_rate": 3e-3, "steps": 600},
    note="It is learned without a pattern that one could read: few heads look from a bracket to its partner.",
)
