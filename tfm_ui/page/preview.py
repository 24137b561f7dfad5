"""What a link shows to those who open it in no browser: a title, and the first picture of its view as a PNG."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import plotly.graph_objects as go

from tfm_ui.live.cache import cached
from tfm_ui.live.tables import SIDE
from tfm_ui.page import header
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.panel import Note, Panel, panels_in
from tfm_ui.pictures.registry import CannotBeShown, registered
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

APP = "Attention Lab"
DRAWING = 60_000_000  # bytes of Matplotlib, which is imported with the first preview, and of what it draws on
CELL = 65  # bytes of a map's cell in a figure, and while it is drawn


def name(lens: Lens) -> str:
    """The name by which the PNG of this lens is asked for."""
    return f"{lens.name}.preview"


def title(lens: Lens, state: LensState) -> str:
    """The view and its lens."""
    view = lens.view_of(state)
    return f"{view.title} · {lens.title}" if len(lens.views) > 1 else lens.title


def picture(lens: Lens, model: ModelState, state: LensState) -> bytes:
    """The PNG: the first picture of the view that has something to draw, with what its panel says of it.

    Where no picture has, it is what the first panel says, or the note in its place.

    Raises:
        CannotBeShown: if the model cannot be run.
    """
    if reason := lens.view_of(state).why_not_shown(model, state):
        raise CannotBeShown(reason)
    return _picture(_Asked(lens.name, model, state, lens))


def needs(lens: Lens, model: ModelState, state: LensState) -> int:
    """The bytes that it takes at most: those of the view, of Matplotlib, and of the cells of all heads' maps."""
    side = min(model.longest, SIDE)
    maps = model.num_layers * model.num_heads if lens.view_of(state).uses_model else 0
    return lens.needs(model, state) + DRAWING + CELL * maps * side**2


@dataclass(frozen=True)
class _Asked:
    """What the cache keeps a picture by: the lens's name and the two states."""

    name: str
    model: ModelState
    state: LensState
    lens: Lens = field(repr=False)

    @property
    def is_heavy(self) -> bool:
        """Whether the model's pass takes long."""
        return self.model.is_heavy


@cached()
def _picture(asked: _Asked) -> bytes:
    # Matplotlib takes half a second to import, and 40 MB; most servers are never asked for a preview.
    from tfm_ui.pictures.still import has_numbers, png

    lens, model, state = asked.lens, asked.model, asked.state
    weights = f"{header.label(model, lens.beside)} · " if lens.view_of(state).uses_model else ""
    blocks = lens.blocks(model, state)
    panels = panels_in(blocks)
    drawn = ((panel, figure) for panel, figure in _figures(panels, model, state) if has_numbers(figure))
    panel, figure = next(drawn, (panels[0] if panels else None, None))
    heading = ": ".join([title(lens, state), *([panel.title] if panel else [])])
    notes = [block.text for block in blocks if isinstance(block, Note)]  # say why there is no panel
    sentence = panel.sentence() if panel else " ".join(notes)
    return png(figure, title=heading, sentence=sentence, foot=f"{weights}{APP}")


def _figures(panels: Sequence[Panel], model: ModelState, state: LensState) -> Iterator[tuple[Panel, go.Figure]]:
    """The panels that have a picture with a figure, and these figures."""
    for panel in panels:
        drawn = registered(panel.picture_name) if panel.picture_name else None
        if drawn and drawn.canvas.figure:
            yield panel, drawn.canvas.figure(*drawn.content(model, state))
