"""The view "compare": configurations as rows, their costs beside each other."""

from functools import partial

from tfm_ui.lenses.profiling.compare.costs import Parameters, Table
from tfm_ui.lenses.profiling.compare.rounds import Ratios, Times
from tfm_ui.lenses.profiling.row_controls import of_rows, random_numbers
from tfm_ui.lenses.profiling.rows import NOTES, no_rows
from tfm_ui.page.lens import View

VIEW = View(
    title="Configurations",
    shows=[Parameters, *NOTES, Table, Times, Ratios],
    instead=partial(no_rows, icon=":material/edit:"),
    reads_instead=random_numbers,
    controls=of_rows,
)
