"""What lessons measure on the pages of the Profiling lens: all of it by formula, whatever was measured."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from tfm_ui.lenses.profiling.compare import Table
from tfm_ui.lenses.profiling.length import LengthTime
from tfm_ui.lenses.profiling.length_costs import PRODUCTS, LengthMemory
from tfm_ui.lenses.profiling.parts import PartsFlops
from tfm_ui.lenses.profiling.rows import FORWARD
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

PROJECTIONS = "projections"


def fewest_parameters(model: ModelState, state: ProfilingState) -> int:
    """How many parameters the row has that has the fewest."""
    return min(_parameters(model, state), default=0)


def flops_at_same_parameters(model: ModelState, state: ProfilingState) -> float:
    """The most operations over the fewest, among the rows with equally many parameters: the largest such group."""
    rows = Table(model, state)
    groups: dict[int, list[int]] = defaultdict(list)
    for number in rows.numbers if rows.asked else ():
        groups[rows.parameters_of(number)].append(rows.flops_of(number))
    flops: list[int] = max(groups.values(), key=len, default=[])
    fewest = min(flops, default=0)
    return max(flops) / fewest if fewest else 0.0


def flops_over_quarter(model: ModelState, state: ProfilingState) -> float:
    """The operations of a forward pass at the longest length over those at a quarter of it, or at the shortest."""
    times = LengthTime(model, state)
    lengths = times.lengths if times.asked else []
    if not lengths:
        return 0.0
    quarter = max((length for length in lengths if 4 * length <= lengths[-1]), default=lengths[0])
    return times.flops_over(lengths[-1], quarter)


def memory_when_doubled(model: ModelState, state: ProfilingState) -> float:
    """The memory of a forward pass at the longest length over that at the one before it."""
    memory = LengthMemory(model, state)
    predicted = memory.predicted(FORWARD) if memory.asked else []
    return predicted[-1] / predicted[-2] if len(predicted) > 1 and predicted[-2] else 0.0


def most_parameters(model: ModelState, state: ProfilingState) -> int:
    """How many parameters the row has that has most of them."""
    return max(_parameters(model, state), default=0)


def products(model: ModelState, state: ProfilingState) -> int:
    """The operations of the row that is looked at that multiply pairs of tokens: scores, and weights with values."""
    return _flops(model, state, PRODUCTS)


def projections(model: ModelState, state: ProfilingState) -> int:
    """The operations of the row that is looked at that project to queries, keys and values, and the output back."""
    return _flops(model, state, PROJECTIONS)


def _parameters(model: ModelState, state: ProfilingState) -> list[int]:
    """The parameters of each row."""
    rows = Table(model, state)
    return [rows.parameters_of(number) for number in rows.numbers] if rows.asked else []


def _flops(model: ModelState, state: ProfilingState, part: str) -> int:
    parts = PartsFlops(model, state)
    return parts.flops.get(part, 0) if parts.asked else 0


MEASURES: Mapping[str, Callable[[ModelState, ProfilingState], float | str]] = {
    measure.__name__: measure
    for measure in (
        fewest_parameters,
        flops_at_same_parameters,
        flops_over_quarter,
        memory_when_doubled,
        most_parameters,
        products,
        projections,
    )
}
