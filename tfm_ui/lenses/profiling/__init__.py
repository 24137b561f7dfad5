"""The Profiling lens: what a configuration costs, measured beside theory."""

from functools import partial

from tfm_ui.lenses.profiling.compare_costs import Parameters, Table
from tfm_ui.lenses.profiling.compare_rounds import Ratios, Times
from tfm_ui.lenses.profiling.length_costs import LengthMemory, LengthParts, lengths_left_out, no_lengths
from tfm_ui.lenses.profiling.length_times import LengthTime
from tfm_ui.lenses.profiling.parts import PartsFlops, PartsParameters, PartsTime, which_row
from tfm_ui.lenses.profiling.questions import QUESTIONS
from tfm_ui.lenses.profiling.roofline import Roofline
from tfm_ui.lenses.profiling.row_controls import of_lengths, of_rows, random_numbers
from tfm_ui.lenses.profiling.rows import NOTES, how_measured, in_common, no_rows
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import Lens, View
from tfm_ui.pictures.panel import Columns

VIEWS = {
    "compare": View(
        title="Configurations",
        choice="Costs",
        shows=[Parameters, *NOTES, Table, Times, Ratios],
        instead=partial(no_rows, icon=":material/edit:"),
        reads_instead=random_numbers,
        controls=partial(of_rows, more=("baseline",)),
    ),
    "parts": View(
        title="By part",
        tab="compare",
        shows=[Columns([[PartsParameters], [PartsFlops], [PartsTime]]), which_row, *NOTES],
        instead=no_rows,
        reads_instead=random_numbers,
        controls=partial(of_rows, first=("row",)),
    ),
    "roofline": View(
        title="Roofline",
        tab="compare",
        shows=[Roofline, *NOTES],
        instead=no_rows,
        reads_instead=random_numbers,
        controls=of_rows,
    ),
    "length": View(
        title="By length",
        shows=[LengthTime, lengths_left_out, in_common, how_measured, LengthMemory, LengthParts],
        instead=no_lengths,
        reads_instead=random_numbers,
        controls=of_lengths,
    ),
}
LENS = Lens(
    name="profiling",
    title="Profiling",
    state=ProfilingState,
    views=VIEWS,
    questions=QUESTIONS,
    beside="In the sidebar",
)
