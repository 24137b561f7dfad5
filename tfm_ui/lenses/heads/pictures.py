"""The pictures of the Heads lens, as functions of the link."""

from tfm_ui.lenses.heads import grid, head_map
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import passes
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState


def every_head(model: ModelState, state: HeadsState) -> Content:
    """The grid of all heads, with a ring around the locked one."""
    heads = all_heads(model, state.kind)
    locked = (state.layer - 1, state.head - 1)
    return grid.content(heads.attention, heads.kept, heads.sentences, top=heads.top(state.scale), picked=locked)


def locked_head(model: ModelState, state: HeadsState) -> Content:
    """The exact weights of the locked head."""
    heads = all_heads(model, state.kind)
    layer, head = state.layer - 1, state.head - 1
    top = heads.top(state.scale)[layer, head].item()
    return head_map.content(heads.head(layer, head), top=top, about=heads.sentence_of(layer, head))


PICTURES = {
    "heads": Picture(grid.GRID, every_head, needs=passes.needs),
    "head": Picture(head_map.MAP, locked_head, needs=passes.needs),
}
