"""The pictures of the view "see", and what stands above all views, as functions of the link."""

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.masks import batch, composer
from tfm_ui.lenses.masks.composer import Locked
from tfm_ui.lenses.masks.passes import LENGTHS
from tfm_ui.lenses.masks.see import cost as see_cost
from tfm_ui.lenses.masks.see import numbers as see
from tfm_ui.lenses.masks.see.terms import anyway, terms_of
from tfm_ui.lenses.masks.state import PREFIX, MasksState, item_of, sentences, setting
from tfm_ui.live import windows
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, around_zero
from tfm_ui.pictures.maps import MASKED, Axis, Map, Painting, Why
from tfm_ui.state.model_state import ModelState


def masks_see(model: ModelState, state: MasksState) -> Content:
    """Mask, scores and weights beside each other."""
    seen = see.view(model, state)
    mask, scores, weights = seen.found.mask, seen.found.scores, seen.found.weights
    part = windows.part_of(state.part, *mask.shape)

    def shown(values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Exact cells are told even where they are hidden; of pooled ones only what is not counts."""
        return windows.pooled(windows.matrix(values if part.exact else np.where(mask, values, MASKED)), part)

    inside = np.s_[part.top : part.top + part.rows, part.left : part.left + part.columns]
    rows, columns = seen.names
    paintable = seen.setting.paintable
    return maps.content(
        [
            Map(
                name="Mask",
                values=windows.pooled(windows.matrix(np.where(mask, 1, MASKED)), part),
                scale=SHARES,
                unit=seen.kept,
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
        about=f"Mask, masked scores and weights of {seen.where}. {seen.kept}.",
        read=-(-min(part.rows, max(0, len(seen.setting.queries.pieces) - part.top)) // part.block[0]),  # rounded up
        part=part,
        counted_from=1,
        zooms=PREFIX + "part",
        why=Why(seen.terms.reasons()[inside].astype(np.float32), seen.terms.names) if part.exact else None,
        painting=Painting(PREFIX + "paint", state.paint) if paintable else None,
    )


def masks_growth(model: ModelState, state: MasksState) -> Content:
    """Pairs kept over the length of the text."""
    found = see_cost.growth(setting(model, state))
    x = LENGTHS
    chart = Chart(
        "tokens of the text",
        "pairs kept",
        [
            Line("n²", x, [n * n for n in x], "muted", "dashed"),
            Line("n √n", x, [n**1.5 for n in x], "muted", "dashed"),
            Line(see_cost.STRIDED, x, found.strided, "head 1", "thin"),
            Line(see_cost.OWN, x, found.own, "ink"),
        ],
        "log2",
        "log2",
        marks={f"this text: {found.length}": found.length},
    )
    return lines.content([chart], about=found.sentence, gap="none kept")


def masks_composer(model: ModelState, state: MasksState) -> Content:
    """The masks that are combined, as they can be changed."""
    now = setting(model, state)
    terms, because = terms_of(now), anyway(now)
    lift = {"causal": "false"} if now.model.masks_the_future else None
    return composer.content(
        terms.terms,
        parameter=PREFIX + "mask",
        most=max(now.composed.shape),
        locked=Locked(f"causal, {because}", lift) if because else None,
        idle=terms.idle,
        notes=terms.notes(),
        offer=bool(lift and terms.ahead),
        title=terms.title,
    )


def masks_batch(model: ModelState, state: MasksState) -> Content:
    """The sentences, as they stand in the batch."""
    count = len(sentences(model, state))
    read = [setting(model, state, item).model.source_tokens for item in range(1, count + 1)]
    left = state.view == "padding" and state.pad_side == "left"
    return batch.content(read, chosen=item_of(model, state), parameter=PREFIX + "item", left=left)
