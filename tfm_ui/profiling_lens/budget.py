"""What one measurement may take of this server, and what a plan will."""

from functools import lru_cache

from tfm_core.profiling import Plan
from tfm_core.profiling.estimate import Budget, Estimate, estimate, refusal

# A minute is what a class will wait for one press of a button; with two of memory, and as much again for what an
# estimate overlooks, a server of 8 GB keeps the rest for its visitors.
BUDGET = Budget(seconds=60, bytes=2e9)
LIMIT = 3 * BUDGET.seconds  # blocks that were contended are measured again; what takes longer is stopped


@lru_cache(maxsize=64)
def needs(plan: Plan) -> Estimate:
    """What it will take: cautious, as this machine is not known yet."""
    return estimate(plan)


@lru_cache(maxsize=64)
def refused(plan: Plan) -> str:
    """Why it is not measured here, with the estimate and what would fit; "" if it is."""
    return refusal(plan, BUDGET)
