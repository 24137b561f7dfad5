"""Who is ahead: said only where neither chance nor the spread of the seeds can explain what lies between two.

All verdicts on trained networks come from `ahead`.
"""

import math
from collections.abc import Sequence


def ahead(first: Sequence[float], second: Sequence[float], chance: float = 0.0) -> int:
    """1 where the first is ahead, -1 where the second is, 0 where that cannot be told.

    Ahead is who is better with each seed than the other with any, by more than chance.

    Args:
        first: how good the one is, a number for each seed; the more the better.
        second: how good the other is.
        chance: how far two measurements of equals may lie apart, by `chance_between`.
    """
    if not len(first) or not len(second):
        return 0
    if min(first) > max(second) + chance:
        return 1
    return -1 if min(second) > max(first) + chance else 0


def chance_between(share: float, examples: int, other: float, others: int) -> float:
    """How far apart two shares of right answers may lie by chance, in 95 of 100 cases: two standard deviations.

    Each counts as measured on examples of its own. Several answers to one example depend on each other, so they count
    as one.
    """
    return 2 * math.sqrt(share * (1 - share) / examples + other * (1 - other) / others)
