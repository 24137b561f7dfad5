"""Power laws of a loss: fitted as Kaplan et al. 2020 and Hoffmann et al. 2022 do, with intervals.

    L(N) = (c / N)^alpha                          a straight line on log axes
    L(N, D) = E + A / N^alpha + B / D^beta        Hoffmann et al. 2022, section 3.3, equation 2

The second is fitted as there: a Huber loss of log L, whose kink is at 0.001, from many beginnings. Intervals are those
of the Bayesian bootstrap (Rubin 1981): each run counts with a random weight, and the fit is made anew.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.initialization import generator

HUBER = 1e-3  # where the Huber loss turns from squares to absolute values: Hoffmann et al. 2022, section 3.3
DRAWS = 300  # of the bootstrap
LEVEL = 0.9  # the share of the draws that an interval holds
LEAST = 3  # points of a power law that is told
LEAST_OF_BOTH = 6  # runs of the law with five constants
ROUNDS = 200  # of Levenberg and Marquardt's method
POWERS, FLOORS = (0.1, 0.3, 0.8), (0.1, 0.4, 0.8)  # where it begins: powers, and shares of the loss that are E
TOLERANCE, MOST_DAMPED = 1e-7, 1e6  # it ends when no cost falls by a larger share, or no step is small enough
STEEPEST = 5.0  # a power beyond it is none; the search stays within

# Kaplan et al. 2020, equations 1.1 and 1.2; Hoffmann et al. 2022, section 3.3.
KAPLAN = {"alpha": 0.076, "beta": 0.095}
HOFFMANN = {"alpha": 0.34, "beta": 0.28, "E": 1.69, "A": 406.4, "B": 410.7}


@dataclass(frozen=True)
class Power:
    """A straight line on log axes: log y = height - power (log x - middle).

    Attributes:
        power: how steeply y falls.
        height: log y at `middle`.
        middle: the mean of log x.
        draws: (draw, 2), power and height with random weights.
    """

    power: float
    height: float
    middle: float
    draws: Tensor

    def interval(self) -> tuple[float, float]:
        """The interval of the power."""
        return interval(self.draws[:, 0])

    def at(self, x: Tensor) -> Tensor:
        """The line at these x."""
        return torch.exp(self.height - self.power * (x.log() - self.middle))

    def band(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The interval of the line at each x: low, high."""
        y = torch.exp(self.draws[:, 1:] - self.draws[:, :1] * (x.log() - self.middle))
        return _ends(y)


@dataclass(frozen=True)
class Law:
    """The law of both: `constants` and `draws` have E, A, B, alpha and beta, in that order.

    Attributes:
        constants: (5,).
        draws: (draw, 5), with random weights.
    """

    constants: Tensor
    draws: Tensor

    names = ("E", "A", "B", "alpha", "beta")

    def __getitem__(self, name: str) -> float:
        """A constant by its name."""
        return float(self.constants[self.names.index(name)])

    def interval(self, name: str) -> tuple[float, float]:
        """The interval of a constant."""
        return interval(self.draws[:, self.names.index(name)])

    def at(self, parameters: Tensor, tokens: Tensor) -> Tensor:
        """The loss at these sizes and amounts."""
        return of_constants(self.constants, parameters, tokens)

    def band(self, parameters: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The interval of the loss at each size and amount: low, high."""
        y = of_constants(self.draws[:, None], parameters, tokens)
        return _ends(y)


def of_constants(constants: Tensor, parameters: Tensor, tokens: Tensor) -> Tensor:
    """E + A / N^alpha + B / D^beta; constants (..., 5)."""
    floor, of_size, of_data, alpha, beta = constants.unbind(-1)
    return floor + of_size * parameters**-alpha + of_data * tokens**-beta


def interval(draws: Tensor) -> tuple[float, float]:
    """The middle `LEVEL` of these numbers: low, high."""
    low, high = _ends(draws)
    return float(low), float(high)


def power_law(x: Tensor, y: Tensor, *, seed: int = 0) -> Power | None:
    """The straight line through log x and log y by least squares; None of fewer than `LEAST` different x.

    Args:
        x: positive, float64 (run).
        y: likewise.
        seed: of the random weights.
    """
    if len(set(x.tolist())) < LEAST:
        return None
    middle = float(x.log().mean())
    weights = torch.cat([torch.ones_like(x)[None], _weights(len(x), seed)])
    across, height = x.log() - middle, y.log()
    total = weights.sum(1)
    mean_x, mean_y = weights @ across / total, weights @ height / total
    spread = (weights * (across - mean_x[:, None]) ** 2).sum(1)
    slope = (weights * (across - mean_x[:, None]) * (height - mean_y[:, None])).sum(1) / spread
    lines = torch.stack([-slope, mean_y - slope * mean_x], 1)
    return Power(float(lines[0, 0]), float(lines[0, 1]), middle, lines[1:])


def law(parameters: Tensor, tokens: Tensor, losses: Tensor, *, seed: int = 0) -> Law | None:
    """The law of both through these runs; None of fewer than `LEAST_OF_BOTH` runs, or `LEAST` sizes or amounts.

    Args:
        parameters: positive, float64 (run).
        tokens: likewise.
        losses: likewise.
        seed: of the random weights.
    """
    few = min(len(set(parameters.tolist())), len(set(tokens.tolist())))
    if len(losses) < LEAST_OF_BOTH or few < LEAST:
        return None
    starts = torch.tensor(
        [
            [math.log(floor), *[math.log((1 - floor) / 2)] * 2, alpha, beta]
            for floor in FLOORS
            for alpha in POWERS
            for beta in POWERS
        ],
        dtype=torch.float64,
    )
    every, costs = _fitted(starts, losses.new_ones((len(starts), len(losses))), parameters, tokens, losses)
    best = every[costs.argmin()]
    weights = _weights(len(losses), seed)
    drawn, _ = _fitted(best.repeat(len(weights), 1), weights, parameters, tokens, losses)
    constants = _constants(torch.cat([best[None], drawn]), parameters, tokens, losses)
    return Law(constants[0], constants[1:])


def _ends(draws: Tensor) -> tuple[Tensor, Tensor]:
    """The ends of the middle `LEVEL` of the draws, over the first axis."""
    shares = torch.tensor([(1 - LEVEL) / 2, (1 + LEVEL) / 2], dtype=draws.dtype)
    low, high = torch.quantile(draws, shares, dim=0)
    return low, high


def _weights(count: int, seed: int) -> Tensor:
    """(draw, run): weights of mean 1, evenly distributed among all that add up to the same."""
    uniform = torch.rand((DRAWS, count), generator=generator(seed, "weights of runs"), dtype=torch.float64)
    drawn = -torch.log1p(-uniform)  # exponentially distributed
    return drawn / drawn.mean(1, keepdim=True)


def _constants(fitted: Tensor, parameters: Tensor, tokens: Tensor, losses: Tensor) -> Tensor:
    """What the search looks for -> E, A, B, alpha, beta."""
    floor, size, data, alpha, beta = fitted.unbind(-1)
    scale = losses.mean()
    of_size = torch.exp(size + alpha * parameters.log().mean()) * scale
    of_data = torch.exp(data + beta * tokens.log().mean()) * scale
    return torch.stack([floor.exp() * scale, of_size, of_data, alpha, beta], 1)


def _fitted(
    starts: Tensor, weights: Tensor, parameters: Tensor, tokens: Tensor, losses: Tensor
) -> tuple[Tensor, Tensor]:
    """Levenberg and Marquardt's method for all beginnings at once; the Huber loss by weights that follow the errors.

    What is looked for: the logarithms of E and of both other terms in the middle of the runs, as shares of the mean
    loss; and both powers.
    """
    across = parameters.log() - parameters.log().mean()
    along = tokens.log() - tokens.log().mean()
    target = (losses / losses.mean()).log()

    def terms(now: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        floor = now[:, :1].exp().expand(len(now), len(losses))
        size = torch.exp(now[:, 1, None] - now[:, 3, None] * across)
        data = torch.exp(now[:, 2, None] - now[:, 4, None] * along)
        return floor, size, data, floor + size + data

    def cost(errors: Tensor) -> Tensor:
        far = errors.abs()
        each = torch.where(far <= HUBER, errors**2 / 2, HUBER * (far - HUBER / 2))
        return (weights * each).sum(1)

    now, damping = starts.clone(), starts.new_full((len(starts),), 1e-2)
    errors = terms(now)[3].log() - target
    costs = cost(errors)
    for _ in range(ROUNDS):
        floor, size, data, whole = terms(now)
        slopes = torch.stack([floor, size, data, -across * size, -along * data], 2) / whole[:, :, None]
        robust = weights * (HUBER / errors.abs().clamp(min=1e-12)).clamp(max=1.0)
        curved = torch.einsum("bri,br,brj->bij", slopes, robust, slopes)
        down = torch.einsum("bri,br->bi", slopes, robust * errors)
        scale = damping[:, None] * (curved.diagonal(dim1=1, dim2=2) + 1e-9)
        step = torch.linalg.solve(curved + torch.diag_embed(scale), down[:, :, None])[:, :, 0]
        tried = now - step
        tried[:, :3].clamp_(-30, 3)
        tried[:, 3:].clamp_(-STEEPEST, STEEPEST)
        new_errors = terms(tried)[3].log() - target
        new_costs = cost(new_errors)
        better = new_costs < costs
        now, errors = torch.where(better[:, None], tried, now), torch.where(better[:, None], new_errors, errors)
        gained = torch.where(better, costs - new_costs, 0.0)
        costs = torch.where(better, new_costs, costs)
        damping = torch.where(better, damping / 3, damping * 4).clamp(1e-9, 1e9)
        if (gained <= TOLERANCE * costs).all() and (better | (damping >= MOST_DAMPED)).all():
            break
    return now, costs
