"""When training does what: how large its steps are, after which of them it is looked at, and when it has diverged.

All of it depends on the configuration and the step's number, not on how many steps there will be: a run that is
stopped and continued comes out as an unbroken one.
"""

import math
from collections.abc import Sequence

from tfm_core.training.config import TrainingConfig

EARLY = 8  # before this step little is learned, and fewer snapshots are enough
PER_OCTAVE = 3  # snapshots between a step and the one at twice its number
FLAT = 200  # steps after which the rate falls with 1 / sqrt(step), as in Vaswani et al. 2017, equation 3
APART = 10  # steps between two points of the curve, at most
RISE = 0.05  # of the share of right answers: attention is kept at each new best that is so much better
WORSE = 1.5  # times the loss of guessing, for `LONG` steps: then the run has diverged
LONG = 50
HELPS = "A lower learning rate or a longer warm-up usually helps: the steps were too large for the slope they follow."


def rate(config: TrainingConfig, step: int) -> float:
    """The learning rate of a step, from 1: a warm-up, a flat part unless the warm-up is long, and maybe a fall."""
    begin_of_fall = max(FLAT, config.warmup)
    fall = math.sqrt(begin_of_fall / step) if config.schedule == "falling" else 1.0
    return config.learning_rate * min(1.0, step / max(1, config.warmup), fall)


def is_snapshot(step: int) -> bool:
    """Whether attention is kept after this step: 0, 1, 2, 4, 8, 10, 13, 16, 20, 25, 32, ..."""
    if step < EARLY:
        return step in (0, 1, 2, 4)
    nearest = round(PER_OCTAVE * math.log2(step))
    return any(round(2 ** (octave / PER_OCTAVE)) == step for octave in (nearest - 1, nearest, nearest + 1))


def is_rise(accuracy: float, kept: Sequence[float]) -> bool:
    """Whether enough was learned since attention was last kept to keep it again: 1 / `RISE` times at most.

    Args:
        accuracy: the share of right answers now.
        kept: those at the snapshots so far.
    """
    return bool(kept) and accuracy >= max(kept) + RISE


def is_point(step: int) -> bool:
    """Whether the curve has a point after this step."""
    return is_snapshot(step) or step % APART == 0


def divergence(config: TrainingConfig, losses: Sequence[float]) -> str:
    """A sentence that the run has diverged by the last of these steps, and what helps; "" if it has not."""
    step, guessing = len(losses), math.log(config.about.outcomes)
    if not math.isfinite(losses[-1]):
        return f"It diverged: the loss of step {step} is not a finite number. {HELPS}"
    if step >= 2 * LONG and min(losses[-LONG:]) > WORSE * guessing:
        return (
            f"It diverged: for {LONG} steps the loss was above {WORSE * guessing:.2f}, "
            f"and guessing alone would give {guessing:.2f}. {HELPS}"
        )
    return ""
