"""The Profiling lens: what a configuration costs, measured beside theory."""

from tfm_ui.lenses.profiling.compare import panels as compare
from tfm_ui.lenses.profiling.compare.configurations import layout
from tfm_ui.lenses.profiling.compare.pictures import PICTURES as OF_COMPARE
from tfm_ui.lenses.profiling.length import panels as length
from tfm_ui.lenses.profiling.length.pictures import PICTURES as OF_LENGTH
from tfm_ui.lenses.profiling.parts import panels as parts
from tfm_ui.lenses.profiling.parts.pictures import PICTURES as OF_PARTS
from tfm_ui.lenses.profiling.presets import PRESETS
from tfm_ui.lenses.profiling.roofline import panels as roofline
from tfm_ui.lenses.profiling.roofline.pictures import PICTURES as OF_ROOFLINE
from tfm_ui.lenses.profiling.row_controls import chosen_row, rows_of_compare
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import Lens, View

LENS = Lens(
    name="profiling",
    title="Profiling",
    state=ProfilingState,
    views={
        "compare": View(blocks=compare.blocks, layout=layout),
        "length": View(blocks=length.blocks, controls=length.draw_controls),
        "parts": View(blocks=parts.blocks, controls=chosen_row),
        "roofline": View(blocks=roofline.blocks, controls=rows_of_compare),
    },
    presets=PRESETS,
    pictures=OF_COMPARE | OF_LENGTH | OF_PARTS | OF_ROOFLINE,
    beside="Sidebar’s model",
)
