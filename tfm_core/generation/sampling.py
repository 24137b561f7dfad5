"""Sampling: from logits to the next token, as pure functions, with all the steps in between that a picture needs.

    scaled  = logits / temperature
    order   = tokens by falling probability, ties by id: the filters below each cut off its end
    top-k   leaves the k likeliest, and those as likely as the last of them; Fan et al. 2018, section 5.1
    top-p   leaves the fewest that together have probability p of what is left; Holtzman et al. 2020, section 3.1
    min-p   leaves those at least min_p times as likely as the likeliest; Nguyen et al. 2024, section 3
    token   = the first in the order at which the sum of what is left exceeds a random number

The filters are those of transformers' warpers, in their order, each on what the one before it left, renormalised; at
least the likeliest token stays. Everything after the logits is float64.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.choices import check_whole_numbers
from tfm_core.model.initialization import generator

TEMPERATURES = 0.05, 5.0  # below, nothing but the largest logit is ever drawn: that is what greedy is for


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the next token is chosen.

    Attributes:
        temperature: what logits are divided by, 0.05 to 5.
        top_k: how many of the likeliest tokens stay; 0 for all.
        top_p: the fewest tokens that have this probability together stay; 1 for all.
        min_p: tokens whose probability is at least this share of the likeliest's stay; 0 for all.
        greedy: take the largest logit, the lowest id of several; no filter and no random number acts then.
        seed: of the random numbers, with the position of the draw.

    Raises:
        ValueError: naming the field, what was expected and what came.

    Examples:
        >>> from tfm_core import Sampling
        >>> Sampling(temperature=0.8, top_p=0.9).top_k
        50
        >>> Sampling(top_p=0)
        Traceback (most recent call last):
            ...
        ValueError: top_p: expected a number above 0, up to 1; got 0
    """

    temperature: float = 1.0
    top_k: int = 50
    top_p: float = 1.0
    min_p: float = 0.0
    greedy: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        lowest, highest = TEMPERATURES
        if not _is_number(self.temperature) or not lowest <= self.temperature <= highest:
            hint = "; its limit at 0 is greedy=True" if self.temperature == 0 else ""
            raise ValueError(
                f"temperature: expected a number from {lowest:g} to {highest:g}{hint}; got {self.temperature!r}"
            )
        check_whole_numbers(self, {"top_k": 0, "seed": 0})
        if not _is_number(self.top_p) or not 0 < self.top_p <= 1:
            raise ValueError(f"top_p: expected a number above 0, up to 1; got {self.top_p!r}")
        if not _is_number(self.min_p) or not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p: expected a number from 0 to 1, got {self.min_p!r}")
        if type(self.greedy) is not bool:
            raise ValueError(f"greedy: expected True or False, got {self.greedy!r}")


@dataclass(frozen=True)
class Left:
    """How many tokens of the order, from its beginning, each filter left."""

    top_k: int
    top_p: int
    min_p: int


@dataclass(frozen=True, eq=False)
class Draw:
    """A token, and how it came about. `vocab` is the axis of token ids, `rank` that of the order.

    Attributes:
        sampling: how it was chosen.
        position: of the draw; with the seed, it decides the random number.
        logits: (vocab), as they came.
        scaled: float64 (vocab), logits / temperature.
        probabilities: float64 (vocab), their softmax, before anything is cut.
        order: int64 (rank), token ids by falling probability, ties by id.
        left: how many tokens of the order each filter left; greedy, all.
        final: float64 (vocab), the probabilities with which the token is drawn: those of what is left, renormalised,
            0 where cut. Greedy, 1 for the largest logit.
        cumulative: float64 (kept), the sum of `final` along the order, up to the last token that is left; ends in 1.
        number: the random number, 0 <= number < 1; greedy, 0.
        rank: the drawn token's place in the order.

    Examples:
        >>> import torch
        >>> from tfm_core import Sampling, draw
        >>> drawn = draw(torch.tensor([1.0, 3.0, 2.0]), Sampling(top_k=2))
        >>> drawn.order.tolist(), drawn.kept.tolist()
        ([1, 2, 0], [False, True, True])
        >>> drawn.token in (1, 2), drawn.after > drawn.before
        (True, True)
    """

    sampling: Sampling
    position: int
    logits: Tensor
    scaled: Tensor
    probabilities: Tensor
    order: Tensor
    left: Left
    final: Tensor
    cumulative: Tensor
    number: float
    rank: int

    @property
    def token(self) -> int:
        """The drawn token's id."""
        return int(self.order[self.rank])

    @property
    def before(self) -> float:
        """The drawn token's probability before the cuts."""
        return float(self.probabilities[self.token])

    @property
    def after(self) -> float:
        """The drawn token's probability after the cuts."""
        return float(self.final[self.token])

    @property
    def kept(self) -> Tensor:
        """Boolean (vocab), the tokens that could have been drawn."""
        return self._between(0, len(self.cumulative))

    @property
    def cut(self) -> dict[str, Tensor]:
        """Filter -> boolean (vocab), the tokens that it cut; each token is cut once."""
        left = self.left
        ends = {"top_k": (left.top_k, len(self.order)), "top_p": (left.top_p, left.top_k)}
        return {name: self._between(*end) for name, end in (ends | {"min_p": (left.min_p, left.top_p)}).items()}

    def _between(self, begin: int, end: int) -> Tensor:
        marked = torch.zeros(len(self.order), dtype=torch.bool)
        marked[self.order[begin:end]] = True
        return marked


def draw(logits: Tensor, sampling: Sampling, position: int = 0) -> Draw:
    """The next token, with everything on the way to it: a pure function of its arguments.

    Args:
        logits: (vocab) on the CPU; -inf where a token is impossible.
        sampling: how to choose.
        position: of the draw, at least 0: each has its own random number.

    Raises:
        ValueError: for logits of another shape, or of which none is finite, or with NaN or +inf among them.

    Examples:
        >>> import torch
        >>> from tfm_core import Sampling, draw
        >>> logits = torch.tensor([1.0, 3.0, 2.0])
        >>> draw(logits, Sampling(greedy=True)).token
        1
        >>> round(draw(logits, Sampling(seed=3)).final.sum().item(), 6)
        1.0
    """
    _check(logits)
    values, order = _sorted(logits)
    scaled = logits.double() / sampling.temperature
    probabilities = scaled.softmax(0)
    if sampling.greedy:
        left, number = Left(*[len(order)] * 3), 0.0
        rank, cumulative, shares = 0, torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    else:
        left, shares, cumulative = bar(values.double() / sampling.temperature, sampling)
        number = random_number(sampling.seed, position)
        rank = rank_at(cumulative, number)
    final = torch.zeros_like(probabilities)
    final[order[: len(shares)]] = shares
    return Draw(sampling, position, logits, scaled, probabilities, order, left, final, cumulative, number, rank)


def next_token(logits: Tensor, sampling: Sampling, position: int = 0) -> int:
    """`draw(...).token`, and no more than it needs: for a loop that writes.

    Args:
        logits: (vocab) on the CPU; -inf where a token is impossible.
        sampling: how to choose.
        position: of the draw, at least 0.

    Raises:
        ValueError: as `draw`.

    Examples:
        >>> import torch
        >>> from tfm_core import Sampling, draw, next_token
        >>> logits, sampling = torch.tensor([1.0, 3.0, 2.0]), Sampling(seed=3)
        >>> next_token(logits, sampling, 5) == draw(logits, sampling, 5).token
        True
    """
    _check(logits)
    if sampling.greedy:
        token = int(logits.argmax())  # the first of several
        _check_largest(logits[token])
        return token
    values, order = _likeliest(logits, sampling.top_k)
    _, _, cumulative = bar(values.double() / sampling.temperature, sampling)
    return int(order[rank_at(cumulative, random_number(sampling.seed, position))])


def bar(scaled: Tensor, sampling: Sampling) -> tuple[Left, Tensor, Tensor]:
    """What the filters leave of tokens by falling probability, and where each token that is left ends on a bar.

    Args:
        scaled: float64 (rank), falling: logits / temperature.
        sampling: its filters.

    Returns:
        How many tokens each filter left; their shares (kept), whose sum is 1; and the sums along the bar (kept),
        which end in 1 exactly.
    """
    count = top_k = len(scaled)
    if 0 < sampling.top_k < count:
        top_k = int((scaled >= scaled[sampling.top_k - 1]).sum())  # with those as likely as the k-th
    top_p = top_k
    if sampling.top_p < 1:
        # Summed from the unlikely end, as transformers does: what would not exceed 1 - p is cut.
        tail = scaled[:top_k].softmax(0).flip(0).cumsum(0)
        top_p = max(1, top_k - int((tail <= 1 - sampling.top_p).sum()))
    shares = scaled[:top_p].softmax(0)
    min_p = top_p
    if sampling.min_p > 0:
        min_p = int((shares >= sampling.min_p * shares[0]).sum())
        shares = scaled[:min_p].softmax(0)
    sums = shares.cumsum(0)
    return Left(top_k, top_p, min_p), shares, sums / sums[-1]


def rank_at(cumulative: Tensor, number: float) -> int:
    """The first place at which the sum exceeds the number, 0 <= number < 1: never a token without a share."""
    return int(torch.searchsorted(cumulative, number, right=True))


def random_number(seed: int, position: int) -> float:
    """A number from 0 to below 1 that depends on the seed and the position of the draw, and on nothing else."""
    return float(torch.rand((), generator=generator(seed, f"draw {position}"), dtype=torch.float64))


def _likeliest(logits: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """The beginning of the order that top-k leaves: falling logits and their ids, ties by id."""
    if 0 < top_k < len(logits):
        values, order = logits.topk(top_k + 1)
        if bool((values[1:] < values[:-1]).all()):  # no ties: so these are the order, and the last of them is cut
            _check_largest(values[0])
            return values[:-1], order[:-1]
    return _sorted(logits)


def _sorted(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Falling logits and their ids, ties by id: (rank) and int64 (rank)."""
    values, order = logits.sort(descending=True, stable=True)
    _check_largest(values[0])
    return values, order


def _check(logits: Tensor) -> None:
    if logits.dim() != 1 or not logits.numel() or not logits.is_floating_point():
        raise ValueError(
            f"expected floating logits of shape (vocab), not empty; got {tuple(logits.shape)}, {logits.dtype}"
        )


def _check_largest(largest: Tensor) -> None:
    """NaN where any logit is, as torch's argmax, sort and topk take NaN for the largest."""
    if not math.isfinite(largest):
        raise ValueError(f"expected logits of which the largest is finite, got {float(largest)}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
