"""The picture of the view "lengths": a line for each positional scheme."""

import math

from tfm_ui.lenses.training.lengths.numbers import NOT_DEFINED, ByLength, Stretched
from tfm_ui.lenses.training.outcomes import comparison_of, is_recurrent
from tfm_ui.lenses.training.picture import picture
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState

NOTHING = lines.content([], about="Nothing of it is computed yet.")


def lengths(model: ModelState, state: TrainingState) -> Content:
    """The share of right answers over the length."""
    comparison = comparison_of(state.task)
    return by_length(ByLength(comparison)) if comparison else NOTHING


def by_length(result: ByLength) -> Content:
    """A line for each network, with the trained length marked."""
    told = result.table()
    drawn = [_line(result, network, number, list(told[network.name])) for number, network in enumerate(result.networks)]
    guessing = Line("always the same answer", result.lengths, result.comparison.guessing, "muted", "thin")
    chart = Chart(
        "length of the sequence, tokens",
        "share of right answers, median of the seeds",
        [*drawn, guessing],
        reach=(-0.03, 1),  # otherwise the first length’s name would lie over the 0
        marks={"trained": result.lengths[0]},
    )
    return lines.content([chart], about=result.sentence(), gap=NOT_DEFINED)


def _line(result: ByLength, network: Stretched, number: int, says: list[str]) -> Line:
    values = [math.nan if share is None else share for share in network.middle]
    recurrent = is_recurrent(network.entry)
    colour = "ink" if recurrent else f"head {number % 8 + 1}"
    return Line(network.name, result.lengths, values, colour, "dashed" if recurrent else "solid", says=says)


PICTURES = {"training_lengths": picture(CHART, lengths)}
