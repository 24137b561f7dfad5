"""What a picture and a sentence need of each step: small, so that it is kept in place of all probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tfm_core import Draw, Sampling, Step, draw
from tfm_ui.lenses.generate.courses import Settings, course_of
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState

ROWS = 12  # candidates of a step; the token itself is the last of them if it is less likely
OF_STEP = 9  # numbers of a step before its candidates, see `Steps`
OF_ROW = 5


@dataclass(frozen=True, eq=False)
class Steps:
    """How the token of each step was chosen; where one was put, how it would have been."""

    numbers: NDArray[np.float64]
    """A row per step: the random number, where the token begins and ends on the cumulative bar, its rank from 0; how
    many tokens top-k, top-p and min-p left; its probability before and after the cuts; then of each candidate its id,
    logit, probability, final probability, and which filter cut it (0: none). Candidates that there are not have the id
    -1."""

    totals: NDArray[np.float64]
    """The sum of the final probabilities of all tokens at each step."""

    @property
    def ranks(self) -> NDArray[np.float64]:
        """The rank of each token among all, from 0."""
        return self.numbers[:, 3]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probability of each token before the cuts."""
        return self.numbers[:, 7]

    @property
    def finals(self) -> NDArray[np.float64]:
        """The probability of each token after the cuts."""
        return self.numbers[:, 8]

    def candidates(self, step: int) -> NDArray[np.float64]:
        """A row per candidate of a step: id, logit, probability, final probability, and which filter cut it."""
        rows = self.numbers[step, OF_STEP:].reshape(ROWS, OF_ROW)
        return rows[rows[:, 0] >= 0]


def draw_of(step: Step, sampling: Sampling) -> Draw:
    """How the token of a step was chosen, or would have been if none had been put there."""
    return draw(step.logits, sampling, step.number)


@cached()
def steps_of(model: ModelState, settings: Settings) -> Steps:
    """How the token of each step was chosen."""
    rows, totals = [], []
    for step in course_of(model, settings).steps:
        drawn = draw_of(step, settings.sampling)
        rows.append(_of_step(drawn, step.token))
        totals.append(float(drawn.final.sum()))
    return Steps(np.array(rows).reshape(len(rows), OF_STEP + ROWS * OF_ROW), np.array(totals))


def _of_step(drawn: Draw, token: int) -> NDArray[np.float64]:
    order = drawn.order.numpy()
    rank = int((order == token).nonzero()[0][0])
    end = float(drawn.cumulative[rank]) if rank < len(drawn.cumulative) else 1.0
    begin = float(drawn.cumulative[rank - 1]) if 0 < rank <= len(drawn.cumulative) else float(rank > 0)
    left = drawn.left.top_k, drawn.left.top_p, drawn.left.min_p
    ranks = np.arange(min(ROWS, len(order)))
    if rank not in ranks:
        ranks[-1] = rank
    ids = order[ranks]
    candidates = np.zeros((ROWS, OF_ROW))
    candidates[:, 0] = -1
    candidates[: len(ids), 0] = ids
    for column, values in enumerate((drawn.logits, drawn.probabilities, drawn.final), 1):
        candidates[: len(ids), column] = values.numpy()[ids]
    is_cut = ranks >= np.array(left)[:, None]  # (filter, candidate)
    candidates[: len(ids), 4] = np.where(is_cut.any(0), is_cut.argmax(0) + 1, 0)
    about = [drawn.number, begin, end, rank, *left, float(drawn.probabilities[token]), float(drawn.final[token])]
    return np.concatenate([about, candidates.ravel()])
