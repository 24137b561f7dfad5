"""Roles that a head can have, and when it has one: its score has to exceed what position alone would give.

Clark et al. 2019, "What Does BERT Look At?", sections 3 and 4, on heads of BERT and on baselines of a fixed offset;
Voita et al. 2019, "Analyzing Multi-Head Self-Attention", section 5, on positional and syntactic heads; Olsson et al.
2022, "In-context Learning and Induction Heads"; Xiao et al. 2023, "Efficient Streaming Language Models with Attention
Sinks", on the first token.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core.model.initialization import generator

MARGIN = 0.1  # of a head's weight: what lies closer to its baseline is no role, however sure it is
RESAMPLED = 1000  # draws of the bootstrap
SURE = 0.95  # of these lie within the interval
SINKS = ("first", "sep")  # where weight goes that has nowhere else to go
LEAST_PAIRS = 20  # fewer pairs of a role are not measured


@dataclass(frozen=True)
class Role:
    """What a head may do.

    Attributes:
        title: its name.
        letter: that stands for it in a small cell.
        looks: from where to where a head with this role looks, in words that go on "looks".
        baseline: what its score has to exceed, in words.
        source: who described such heads.
        is_syntax: whether it is a relation of grammar, or of reference.
    """

    title: str
    letter: str
    looks: str
    baseline: str
    source: str
    is_syntax: bool = False


_EVEN = "a head that spreads its weight evenly over all tokens that it may see"
_UNREPEATED = "the same head at the same distance in texts in which no token comes twice on purpose"
_POSITION = "the attention by distance and place alone that comes closest to this head"

ROLES: Mapping[str, Role] = {
    "previous": Role("Previous token", "P", "at the token before", _EVEN, "Clark et al. 2019; Voita et al. 2019"),
    "following": Role("Next token", "N", "at the token after", _EVEN, "Clark et al. 2019; Voita et al. 2019"),
    "first": Role("First token", "F", "at the first token, a sink", _EVEN, "Xiao et al. 2023; Clark et al. 2019"),
    "same": Role("Same token", "S", "at the other place of its own token", _UNREPEATED, "Elhage et al. 2021"),
    "induction": Role(
        "Induction", "I", "at what came after its own token the last time", _UNREPEATED, "Olsson et al. 2022"
    ),
    "sep": Role(
        "[SEP]", "E", "at [SEP], the last token", "the same head with another token in that place", "Clark et al. 2019"
    ),
    "signs": Role("Punctuation", ".", "from words at commas and full stops", _POSITION, "Clark et al. 2019"),
    "verb": Role("Verb to subject", "V", "from a verb at its subject", _POSITION, "Voita et al. 2019", is_syntax=True),
    "subject": Role(
        "Subject to verb", "B", "from a subject at its verb", _POSITION, "Voita et al. 2019", is_syntax=True
    ),
    "article": Role(
        "Noun to article", "A", "from a noun at its article", _POSITION, "Clark et al. 2019", is_syntax=True
    ),
    "pronoun": Role(
        "Pronoun to name", "R", "from a pronoun at its name", _POSITION, "Clark et al. 2019", is_syntax=True
    ),
}


def bootstrapped(margins: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """The ends of the interval of a mean over pairs, (layer, head) each: texts are drawn with replacement.

    Args:
        margins: (text, layer, head), the mean of each text.
        pairs: (text), how many pairs each text has.
    """
    count, shape = len(pairs), margins.shape[1:]
    drawn = torch.randint(count, (RESAMPLED, count), generator=generator(0, "texts of a bootstrap"))
    times = torch.zeros(RESAMPLED, count).scatter_add_(1, drawn, torch.ones(RESAMPLED, count)) * pairs
    means = times @ margins.flatten(1) / times.sum(1, keepdim=True).clamp(min=1)
    low, high = (means.quantile(q, dim=0).view(shape) for q in ((1 - SURE) / 2, (1 + SURE) / 2))
    return low, high


@dataclass(frozen=True)
class RoleScores:
    """How much of one role each head plays.

    Attributes:
        scores: float32 (text, layer, head), the mean weight of this text's pairs; 0 of a text without any.
        baselines: of the same shape, what `Role.baseline` would give.
        pairs: int64 (text), how many pairs each text has.
    """

    scores: Tensor
    baselines: Tensor
    pairs: Tensor

    @cached_property
    def score(self) -> Tensor:
        """The mean weight over all pairs, (layer, head)."""
        return self._mean(self.scores)

    @cached_property
    def baseline(self) -> Tensor:
        """What position alone, or an even spread, would give, (layer, head)."""
        return self._mean(self.baselines)

    @cached_property
    def margin(self) -> Tensor:
        """Score minus baseline, (layer, head)."""
        return self.score - self.baseline

    @cached_property
    def interval(self) -> tuple[Tensor, Tensor]:
        """The ends of the margin's interval, (layer, head) each: a bootstrap over texts, of which `SURE` lie inside."""
        return bootstrapped(self.scores - self.baselines, self.pairs)

    @cached_property
    def has(self) -> Tensor:
        """Which heads have the role, boolean (layer, head): the interval's low end is above `MARGIN`."""
        return self.interval[0] > MARGIN

    @property
    def heads(self) -> list[tuple[int, int]]:
        """Layer and head of those that have it, from 0, the largest margin first."""
        order = self.margin.flatten().argsort(descending=True, stable=True).tolist()
        places = [divmod(at, self.margin.shape[1]) for at in order]
        return [place for place in places if self.has[place]]

    def _mean(self, values: Tensor) -> Tensor:
        weighted = values * self.pairs[:, None, None]
        return weighted.sum(0) / self.pairs.sum().clamp(min=1)


Measured = Mapping[str, RoleScores]  # name of a role -> its scores; roles that a model cannot have are not in it


def strongest(measured: Measured) -> list[list[str]]:
    """The role of each head, (layer, head): of those that it has the one with the largest margin, or "" if none.

    A sink comes last: most heads of many models leave their weight there in most rows, also those that have another
    role in a few.
    """
    names = list(measured)
    after = [1.0 if name in SINKS else 0.0 for name in names]  # no margin is larger than 1
    margins = [(of.margin - later).where(of.has, -2.0) for of, later in zip(measured.values(), after, strict=True)]
    best, which = torch.stack(margins).max(0)
    return [
        [names[at] if margin > -2 else "" for at, margin in zip(*row, strict=True)]
        for row in zip(which.tolist(), best.tolist(), strict=True)
    ]


def to_tensors(measured: Measured) -> dict[str, Tensor]:
    """What is kept in a file: name of a tensor -> tensor."""
    return {f"{role}.{part}": x.clone() for role, of in measured.items() for part, x in vars_of(of).items()}


def vars_of(of: RoleScores) -> dict[str, Tensor]:
    """The three tensors of a role's scores."""
    return {"scores": of.scores, "baselines": of.baselines, "pairs": of.pairs}


def of_tensors(tensors: Mapping[str, Tensor]) -> Measured:
    """The same, read again.

    Raises:
        KeyError: if a tensor is not there.
    """
    names = [role for role in ROLES if f"{role}.scores" in tensors]
    return {
        role: RoleScores(tensors[f"{role}.scores"], tensors[f"{role}.baselines"], tensors[f"{role}.pairs"])
        for role in names
    }
