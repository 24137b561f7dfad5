"""The pictures of the view "conventions", as functions of the link."""

import numpy as np

from tfm_ui.lenses.masks.conventions import pasted
from tfm_ui.lenses.masks.conventions.numbers import view
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.live.windows import WHOLE, matrix, part_of, pooled
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES, holding
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.state.model_state import ModelState


def ours(model: ModelState, state: MasksState) -> Content:
    """The chosen sentence's mask as we have it, and where the convention cannot say it, what it says instead."""
    seen = view(model, state)
    mask = seen.mask[seen.own].numpy().astype(np.float32)
    lost = seen.lost[seen.own]
    shown = {"ours": mask}
    if lost.any():
        shown["what it can say"] = np.where(lost, maps.MASKED, mask)
    rows, columns = seen.names
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
        about=seen.about_ours(),
        blank="cannot be said",
        part=part,
        zooms=PREFIX + "part",
    )


def handed(model: ModelState, state: MasksState) -> Content:
    """What the call gets, number by number."""
    seen = view(model, state)
    values, name = seen.slice()
    rows, columns = seen.slice_names()
    drawn = values.astype(np.float32)
    words = ("False", "True") if seen.dtype == "bool" else ("0", "1")
    unit = "= may attend" if seen.convention.keeps == words[1] else "= hidden"
    if seen.convention.hides == "−∞":  # 0 is the one value that is drawn
        drawn, words, unit = np.where(values < 0, np.nan, 1).astype(np.float32), ("", "0"), "= may attend"
    about_rows = ("query (row)", "query", "query") if seen.per_query else ("sentence", "sentence")
    part = part_of(state.part if seen.per_query else WHOLE, *drawn.shape)
    return maps.content(
        [Map(name=name, values=pooled(matrix(drawn), part), scale=SHARES, unit=unit, words=words)],
        rows=Axis(part.row_names(rows), *about_rows),
        columns=Axis(part.column_names(columns), "key (column)", "key", "key"),
        about=seen.about_handed(),
        blank="−∞",
        part=part,
        zooms=PREFIX + "part" if seen.per_query else "",
    )


def foreign(model: ModelState, state: MasksState) -> Content:
    """What was pasted or uploaded, beside what it means."""
    seen, problem = pasted.view(model, state)
    if not seen:
        return maps.content(
            [Map(name="no mask", values=np.full((1, 1), maps.ABSENT, np.float32), scale=SHARES)],
            rows=Axis([""], "", "row"),
            columns=Axis([""], "", "column"),
            about=problem,
        )
    values = pasted.drawn(seen)
    part = part_of(state.part_pasted, *values.shape)
    finite = values[np.isfinite(values)]
    rows, columns = seen.names()
    plain = np.isin(values, (0, 1)).all()
    scale = holding(float(finite.min(initial=0)), float(finite.max(initial=0)))
    said = ("False", "True") if seen.table.kind == "booleans" else ("0", "1")
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
                values=pooled(matrix(seen.mask), part),
                scale=SHARES,
                unit="= may attend",
                words=("0", "1"),
            ),
        ],
        rows=Axis(part.row_names(rows), "sentence" if seen.facts.per_key else "query (row)", "row", "query"),
        columns=Axis(part.column_names(columns), "key (column)", "column", "key"),
        about=seen.sentence(),
        blank="−∞ or as good",
        part=part,
        zooms=PREFIX + "part_pasted",
    )
