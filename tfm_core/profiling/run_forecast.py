"""How long a run will still take, from what its blocks took so far."""

from collections.abc import Mapping, Sequence

from tfm_core.profiling import clock, costs
from tfm_core.profiling.plan import Plan
from tfm_core.profiling.report import Blocks, Measured
from tfm_core.profiling.targets import TARGETS

GUESSED_FLOPS = 2e10  # a second, before anything is measured
BACKWARD = 3.0  # forward + backward over forward: each product has two in the backward pass
PREPARING = 10, 0.2  # calls of each direction for warm-up, memory and parts; and seconds that the profiler takes
LIMIT_SECONDS = 0.1  # a turn of one of the machine's limits, before it is known


class Forecast:
    """Turns that are left times what a turn takes, and what it takes to prepare the rows that are not yet.

    A row that has not run yet is guessed from its floating point operations, at the speed of those that have.

    Attributes:
        turns: left of each row, in the plan's order, and after them of each of the machine's limits.
    """

    def __init__(self, plan: Plan, limits: int) -> None:
        self.plan = plan
        self.flops = [sum(costs.flops(r).values()) if r.target in TARGETS else 0 for r in plan.rows]
        self.turns = [plan.setup.rounds] * (len(plan.rows) + limits)
        self.took = self.foreseen = 0.0

    def turned(self, index: int, seconds: float, blocks: Sequence[Blocks]) -> None:
        """One turn is over, and took this long."""
        self.turns[index] -= 1
        self.took += seconds
        self.foreseen += sum(map(clock.expected, blocks))

    def seconds_left(self, measured: Mapping[int, Measured], limits: Sequence[Blocks]) -> float:
        """An estimate.

        Args:
            measured: what there is by now, by a row's number.
            limits: blocks of each of the machine's limits.
        """
        ran = [number for number, one in measured.items() if one.forward.warm_up]
        seconds = sum(min(measured[number].forward.warm_up) for number in ran)
        speed = sum(self.flops[number] for number in ran) / seconds if seconds else GUESSED_FLOPS
        prepared, turns = 0.0, 0.0
        for number, flops in enumerate(self.flops):
            if number not in measured:
                calls = flops / (speed or GUESSED_FLOPS) * (1 + BACKWARD * self.plan.setup.backward)
                prepared += PREPARING[0] * calls + PREPARING[1]
                turns += self.turns[number] * (2 * calls + clock.BLOCK_SECONDS)
            elif not measured[number].problem:
                turns += self.turns[number] * sum(map(clock.expected, directions(measured[number])))
        for number, left in enumerate(self.turns[len(self.flops) :]):
            turns += left * (clock.expected(limits[number]) if limits else LIMIT_SECONDS)
        pace = max(1.0, self.took / self.foreseen) if self.foreseen else 1.0
        return prepared + turns * pace


def directions(one: Measured) -> list[Blocks]:
    """Its blocks, forward, and forward + backward if asked for."""
    return [one.forward, *([one.training] if one.training else [])]
