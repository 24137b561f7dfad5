"""The pictures of Home, as functions of the link."""

from tfm_ui.lenses.heads import grid
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.pictures import bars
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState


def home_heads(model: ModelState, state: LensState) -> Content:
    """The grid of all heads, none of them locked."""
    heads = all_heads(model, HeadsState.kind)
    return grid.content(heads.attention, heads.sentences, top=heads.top(HeadsState.scale), picked=None)


def home_next(model: ModelState, state: LensState) -> Content:
    """The likeliest next tokens."""
    likely = next_token(model)
    return bars.content(likely.names, likely.shares, reference=likely.even, about=likely.sentence(), rows="next token")


PICTURES = {"home_heads": Picture(grid.GRID, home_heads), "home_next": Picture(CHART, home_next)}
