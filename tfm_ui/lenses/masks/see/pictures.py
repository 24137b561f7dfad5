"""The pictures of the view "see", as functions of the link."""

import numpy as np
from numpy.typing import NDArray

from tfm_core import Tokens
from tfm_ui.lenses.masks.masked_passes import LENGTHS
from tfm_ui.lenses.masks.see.growth import COMPOSED, STRIDED, growth
from tfm_ui.lenses.masks.see.numbers import head_under_mask
from tfm_ui.lenses.masks.state import PREFIX, MasksState, setting
from tfm_ui.live import passes, tables, windows
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.passes import and_scores
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map, Painting, Why
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import WEIGHTS, ModelState

EXACT, FEW = 64, 8  # places that are always shown; PADs that are shown beside as many as there are tokens


def masks_see(model: ModelState, state: MasksState) -> Content:
    """Mask, scores and weights beside each other."""
    result = head_under_mask(model, state)
    mask, scores, weights = result.obeyed.mask, result.obeyed.scores, result.obeyed.weights
    setting = result.setting
    part = windows.part_of(state.part, worth_showing(setting.queries), worth_showing(setting.keys))

    def shown(values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Exact cells are told even where they are hidden; of pooled ones only what is not counts."""
        return windows.pooled(tables.matrix(values if part.exact else np.where(mask, values, MASKED)), part)

    inside = np.s_[part.top : part.top + part.rows, part.left : part.left + part.columns]
    rows, columns = result.names
    paintable = result.setting.paintable
    return maps.content(
        [
            Map(
                name="Mask",
                values=windows.pooled(tables.matrix(np.where(mask, 1, MASKED)), part),
                scale=SHARES,
                unit=result.kept,
                ticks=True,
            ),
            Map(
                name="Scores, before the softmax",
                values=shown(scores),
                scale=around_zero(float(np.abs(scores).max())),
                unit="score",
            ),
            Map(name="Weights", values=shown(weights), scale=SHARES, unit="weight"),
        ],
        rows=Axis(part.row_names(rows), "query (row): looks", "query", "query"),
        columns=Axis(part.column_names(columns), "key (column): is looked at", "key", "key"),
        about=f"Mask, masked scores and weights of {result.where}. {result.kept}.",
        read=-(-min(part.rows, max(0, len(result.setting.queries.pieces) - part.top)) // part.block[0]),  # rounded up
        part=part,
        counted_from=1,
        zooms=PREFIX + "part",
        why=Why(result.terms.reasons()[inside].astype(np.float32), result.terms.names) if part.exact else None,
        painting=Painting(PREFIX + "paint", state.paint) if paintable else None,
    )


def worth_showing(tokens: Tokens) -> int:
    """How many places of a text the maps show: all, but of long padding only the beginning, as all of it is alike."""
    places, read = len(tokens.ids), len(tokens.pieces)
    return places if places <= EXACT or 3 * read >= places else min(places, 2 * read + FEW)


def masks_growth(model: ModelState, state: MasksState) -> Content:
    """Pairs kept over the length of the text."""
    result = growth(setting(model, state))
    x = LENGTHS
    chart = Chart(
        "tokens of the text",
        "pairs kept",
        [
            Line("n²", x, [n * n for n in x], "muted", "dashed"),
            Line("n √n", x, [n**1.5 for n in x], "muted", "dashed"),
            Line(STRIDED, x, result.strided, "head 1", "thin"),
            Line(COMPOSED, x, result.composed, "ink"),
        ],
        "log2",
        "log2",
        marks={f"this text: {result.length}": result.length},
    )
    return lines.content([chart], about=result.sentence(), gap="none kept")


def growth_needs(model: ModelState, state: MasksState) -> int:
    """A pass, and masks of the longest text, whatever the model reads."""
    return passes.needs(model) + 2 * LITTLE


PICTURES = {
    "masks_see": Picture(MAPS, masks_see, needs=and_scores(1)),
    "masks_growth": Picture(CHART, masks_growth, ignores=WEIGHTS, needs=growth_needs),
}
