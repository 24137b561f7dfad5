"""The Heads lens: all heads of all layers as a grid, and one head large."""

from tfm_ui.lenses.heads.panels import blocks, layout
from tfm_ui.lenses.heads.pictures import PICTURES
from tfm_ui.lenses.heads.presets import PRESETS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.page.lens import Lens, View

LENS = Lens(
    name="heads",
    title="Heads",
    state=HeadsState,
    views={"heads": View(blocks=blocks, layout=layout)},
    presets=PRESETS,
    pictures=PICTURES,
)
