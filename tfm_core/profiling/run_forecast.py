"""How long a run will still take, from what its blocks took so far."""

from collections.abc import Mapping, Sequence

from tfm_core.profiling import clock
from tfm_core.profiling.plan import Plan
from tfm_core.profiling.report import Blocks

BACKWARD = 3.0  # forward + backward over forward
PREPARING = 9  # calls of each direction: warm-up, memory, parts
BUILDING = 0.02  # seconds of each row: module, profiler
LIMIT_SECONDS = 0.1  # a turn of one of the machine's limits, before it is known


class Forecast:
    """Turns that are left times what a turn takes, and what it takes to prepare the rows that are not yet.

    A row that has not run yet takes what was guessed, times what those that have run took of their guess.

    Attributes:
        plan: what is measured.
        guesses: seconds of a forward pass of each row, 0 for those that cannot run.
        turns: left of each row, in the plan's order, and after them of each of the machine's limits.
    """

    def __init__(self, plan: Plan, guesses: Sequence[float], limits: int) -> None:
        self.plan, self.guesses = plan, guesses
        self.turns = [plan.setup.rounds] * (len(plan.rows) + limits)
        self.took = self.foreseen = 0.0

    def turned(self, index: int, seconds: float, blocks: Sequence[Blocks]) -> None:
        """One turn is over, and took this long."""
        self.turns[index] -= 1
        self.took += seconds
        self.foreseen += sum(map(clock.expected, blocks))

    def seconds_left(self, rows: Mapping[int, Sequence[Blocks]], limits: Sequence[Blocks]) -> float:
        """An estimate.

        Args:
            rows: of those that were begun, by their number, the blocks of each direction that has not failed.
            limits: blocks of each of the machine's limits.
        """
        ran = [number for number, ways in rows.items() if ways and ways[0].warm_up]
        guessed = sum(self.guesses[number] for number in ran)
        off = sum(min(rows[number][0].warm_up) for number in ran) / guessed if guessed else 1.0
        prepared, turns = 0.0, 0.0
        for number, guess in enumerate(self.guesses):
            if number not in rows:
                calls = off * guess * (1 + BACKWARD * self.plan.setup.backward)
                prepared += PREPARING * calls + BUILDING
                turns += self.turns[number] * (2 * calls + clock.BLOCK_SECONDS)
            else:
                turns += self.turns[number] * sum(map(clock.expected, rows[number]))
        for number, left in enumerate(self.turns[len(self.guesses) :]):
            turns += left * (clock.expected(limits[number]) if limits else LIMIT_SECONDS)
        pace = max(1.0, self.took / self.foreseen) if self.foreseen else 1.0
        return prepared + turns * pace
