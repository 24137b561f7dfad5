"""What a link shows, for paper: the main picture of its view as an SVG, or its table where it has no picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from tfm_ui.live.cache import cached
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.panel import Block, Columns, Note, Panel, panels_in
from tfm_ui.pictures.registry import CannotBeShown, registered
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

KINDS = WIDE, SMALL = "wide", "small"  # pictures as wide as the page, and beside an answer
SIDE_BY_SIDE = 2  # pictures
DIAGRAM = "diagram"  # the canvas that shows the machine block by block


def name(lens: Lens, kind: str) -> str:
    """The name by which the SVG of this lens is asked for."""
    return f"{lens.name}.on_paper_{kind}"


def picture(lens: Lens, kind: str, model: ModelState, state: LensState, *without: str) -> bytes:
    """The SVG: the first picture of the view, or two that stand side by side on the page.

    Where no picture has a figure, it is the numbers of the first panel as a table, or the note in its place.

    Args:
        lens: whose view it is.
        kind: WIDE or SMALL.
        model: the model.
        state: the lens's controls.
        without: keys of panels that are left out, as `Prediction.hides` names them.

    Raises:
        CannotBeShown: if the model cannot be run, or everything is left out.
    """
    if reason := lens.view_of(state).why_not_shown(model, state):
        raise CannotBeShown(reason)
    return _picture(_Asked(lens.name, kind, model, state, without, lens))


@dataclass(frozen=True)
class _Asked:
    """What the cache keeps a picture by: the lens's name, the kind, the two states, and what is left out."""

    name: str
    kind: str
    model: ModelState
    state: LensState
    without: tuple[str, ...]
    lens: Lens = field(repr=False, compare=False)

    @property
    def is_heavy(self) -> bool:
        """Whether the model's pass takes long."""
        return self.model.is_heavy


@cached()
def _picture(asked: _Asked) -> bytes:
    # Matplotlib takes half a second to import, and 40 MB; most servers are never asked for a sheet.
    from tfm_ui.pictures import paper, paper_table

    width = paper.WIDE if asked.kind == WIDE else paper.SMALL
    blocks = asked.lens.blocks(asked.model, asked.state)
    for block in blocks:
        if stacks := _stacks(asked, block):
            return stacks
        if isinstance(block, Panel) and not is_hidden(block.key, asked.without):
            instead = block.on_paper()
            if isinstance(instead, pd.DataFrame):
                return paper_table.svg(block.title, [paper_table.of_frame(instead)], width)
        if drawn := [*_drawn(asked, block)][:SIDE_BY_SIDE]:
            if asked.kind == SMALL and not drawn[0].is_grid:  # too narrow for two: the one with more room on the page
                drawn = [max(drawn, key=lambda each: each.share)]
            if asked.kind == SMALL and drawn[0].is_grid and drawn[-1].is_small:  # its numbers need all of the width
                drawn = drawn[-1:]
            return paper.svg(drawn, width)
    panels = [panel for panel in panels_in(blocks) if not is_hidden(panel.key, asked.without)]
    if panels:
        return paper_table.svg(panels[0].title, [paper_table.of_frame(panels[0].table())], width)
    notes = " ".join(block.text for block in blocks if isinstance(block, Note))
    raise CannotBeShown(notes or "The picture would give the answer away: it is on the sheet of answers.")


def _stacks(asked: _Asked, block: Block | None) -> bytes:
    """The machine block by block, if this is its diagram: on paper a table, with all that stands beside a block."""
    from tfm_ui.pictures import paper, paper_table

    if not isinstance(block, Panel) or not block.picture_name or is_hidden(block.key, asked.without):
        return b""
    entry = registered(block.picture_name)
    if entry.canvas.name != DIAGRAM:
        return b""
    header, _ = entry.content(asked.model, asked.state)
    width = paper.WIDE if asked.kind == WIDE else paper.SMALL
    tables = paper_table.of_stacks(header)
    if not paper_table.have_room(tables, width):
        tables = paper_table.of_stacks(header, short=True)
    return paper_table.svg(block.title, tables, width)


def _drawn(asked: _Asked, block: Block | None) -> Iterator[Any]:
    """The pictures of a block: of columns one each."""
    from tfm_ui.pictures import paper
    from tfm_ui.pictures.still import has_numbers

    if isinstance(block, Columns):
        shares = block.widths or [1] * len(block.columns)
        for column, share in zip(block.columns, shares, strict=True):
            inside = (drawn for part in column for drawn in _drawn(asked, part))
            if first := next(inside, None):
                yield paper.OnPaper(first.title, first.figure, first.header, float(share))
    elif isinstance(block, Panel) and block.picture_name and not is_hidden(block.key, asked.without):
        entry = registered(block.picture_name)
        if entry.canvas.figure:
            header, numbers = entry.content(asked.model, asked.state)
            instead = block.on_paper()
            figure = instead if isinstance(instead, go.Figure) else entry.canvas.figure(header, numbers)
            if has_numbers(figure):
                yield paper.OnPaper(block.title, figure, header)


def is_hidden(key: str, without: Sequence[str]) -> bool:
    """Whether the picture of the panel with this key is among those that are left out."""
    return any(fnmatchcase(key, hidden) for hidden in without if "." not in hidden)
