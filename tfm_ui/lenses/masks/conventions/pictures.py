"""The pictures of the view "conventions", as functions of the link."""

import numpy as np

from tfm_ui.lenses.masks.conventions.calls import conventions, conventions_needs
from tfm_ui.lenses.masks.conventions.handed import HandedMask, OurMask
from tfm_ui.lenses.masks.conventions.pasted import drawn, pasted_mask
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.live.tables import matrix
from tfm_ui.live.windows import WHOLE, part_of, pooled
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES, holding
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import WEIGHTS, ModelState


def ours(model: ModelState, state: MasksState) -> Content:
    """The chosen sentence's mask as we have it, and where the convention cannot say it, what it says instead."""
    all_conventions = conventions(model, state)
    mask = all_conventions.mask[all_conventions.at].numpy().astype(np.float32)
    lost = all_conventions.lost[all_conventions.at]
    shown = {"ours": mask}
    if lost.any():
        shown["what it can say"] = np.where(lost, maps.MASKED, mask)
    rows, columns = all_conventions.names
    part = part_of(state.part, *mask.shape)
    return maps.content(
        [
            Map(
                name=name,
                values=pooled(matrix(values), part),
                scale=SHARES,
                unit="= may attend",
                words=("0", "1"),
            )
            for name, values in shown.items()
        ],
        rows=Axis(part.row_names(rows), "query (row): looks", "query", "query"),
        columns=Axis(part.column_names(columns), "key (column): is looked at", "key", "key"),
        about=OurMask(all_conventions).sentence(),
        blank="cannot be said",
        part=part,
        zooms=PREFIX + "part",
    )


def handed(model: ModelState, state: MasksState) -> Content:
    """What the call gets, number by number."""
    result = HandedMask(conventions(model, state))
    values, name = result.slice()
    rows, columns = result.slice_names()
    cells = values.astype(np.float32)
    words = ("False", "True") if result.conventions.dtype == "bool" else ("0", "1")
    unit = "= may attend" if result.conventions.convention.keeps == words[1] else "= hidden"
    if result.conventions.convention.hides == "−∞":  # 0 is the one value that is drawn
        cells, words, unit = np.where(values < 0, np.nan, 1).astype(np.float32), ("", "0"), "= may attend"
    about_rows = ("query (row)", "query", "query") if result.conventions.per_query else ("sentence", "sentence")
    part = part_of(state.part if result.conventions.per_query else WHOLE, *cells.shape)
    return maps.content(
        [Map(name=name, values=pooled(matrix(cells), part), scale=SHARES, unit=unit, words=words)],
        rows=Axis(part.row_names(rows), *about_rows),
        columns=Axis(part.column_names(columns), "key (column)", "key", "key"),
        about=result.sentence(),
        blank="−∞",
        part=part,
        zooms=PREFIX + "part" if result.conventions.per_query else "",
        square=result.conventions.per_query,  # a row for each sentence would be a strip
    )


def foreign(model: ModelState, state: MasksState) -> Content:
    """What was pasted or uploaded, beside what it means."""
    result, problem = pasted_mask(model, state)
    if not result:
        return maps.content(
            [Map(name="no mask", values=np.full((1, 1), maps.ABSENT, np.float32), scale=SHARES)],
            rows=Axis([""], "", "row"),
            columns=Axis([""], "", "column"),
            about=problem,
        )
    values = drawn(result)
    part = part_of(state.part_pasted, *values.shape)
    finite = values[np.isfinite(values)]
    rows, columns = result.names()
    plain = np.isin(values, (0, 1)).all()
    scale = holding(float(finite.min(initial=0)), float(finite.max(initial=0)))
    said = ("False", "True") if result.read.kind == "booleans" else ("0", "1")
    return maps.content(
        [
            Map(
                name="as it came",
                values=pooled(matrix(values), part),
                scale=scale,
                words=said if plain else None,
            ),
            Map(
                name="as a mask",
                values=pooled(matrix(result.mask), part),
                scale=SHARES,
                unit="= may attend",
                words=("0", "1"),
            ),
        ],
        rows=Axis(part.row_names(rows), "sentence" if result.facts.per_key else "query (row)", "row", "query"),
        columns=Axis(part.column_names(columns), "key (column)", "column", "key"),
        about=result.sentence(),
        blank="−∞ or as good",
        part=part,
        zooms=PREFIX + "part_pasted",
    )


PICTURES = {
    "masks_ours": Picture(MAPS, ours, ignores=WEIGHTS, needs=conventions_needs),
    "masks_handed": Picture(MAPS, handed, ignores=WEIGHTS, needs=conventions_needs),
    "masks_pasted": Picture(MAPS, foreign, ignores=WEIGHTS, needs=conventions_needs),
}
