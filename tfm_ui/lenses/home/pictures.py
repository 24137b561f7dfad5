"""The pictures of Home, as functions of the link: one for each card, all but one of the sidebar's model."""

import numpy as np

from tfm_core.training.examples import EVALUATED, FINAL
from tfm_ui.lenses.heads import grid, head_map
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.lenses.home.glances import LEARNED, learned, parameters_by_part, positions
from tfm_ui.lenses.home.next_token import next_token
from tfm_ui.live import passes, tables, windows
from tfm_ui.live.memory import little
from tfm_ui.pictures import bars, lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def home_heads(model: ModelState, state: LensState) -> Content:
    """The grid of all heads, none of them locked."""
    heads = all_heads(model, HeadsState.kind)
    return grid.content(heads.attention, heads.kept, heads.sentences, top=heads.top(HeadsState.scale), picked=None)


def home_attention(model: ModelState, state: LensState) -> Content:
    """The first head, exact."""
    heads = all_heads(model, HeadsState.kind)
    top = heads.top(HeadsState.scale)[0, 0].item()
    return head_map.content(heads.head(0, 0), top=top, about=heads.sentence_of(0, 0))


def home_positions(model: ModelState, state: LensState) -> Content:
    """What the model's positional scheme adds or turns, at each position."""
    shown = positions(model)
    part = windows.part_of(windows.WHOLE, *shown.values.shape)
    return maps.content(
        [
            Map(
                name=shown.name,
                values=windows.pooled(tables.matrix(shown.values), part),
                scale=around_zero(float(np.abs(shown.values).max())),
                unit="value",
            )
        ],
        rows=Axis(part.row_names(), "position", "position", counted=True),
        columns=Axis(part.column_names(), shown.columns, shown.columns, counted=True),
        about=shown.name,
        square=False,
        part=part,
        counted_from=0,
    )


def home_masks(model: ModelState, state: LensState) -> Content:
    """Who may see whom in the model's first attention."""
    heads = all_heads(model, HeadsState.kind)
    visible = heads.attention.visible
    kept = f"{formats.count(int(visible.sum()))} of {formats.count(visible.size)} pairs kept"
    part = windows.part_of(windows.WHOLE, *visible.shape)
    values = np.where(visible, np.float32(1), MASKED)
    exact = part.exact
    return maps.content(
        [Map(name="Mask", values=windows.pooled(tables.matrix(values), part), scale=SHARES, unit=kept, ticks=True)],
        rows=Axis(heads.queries if exact else part.row_names(), "query (row): looks", "query", "query"),
        columns=Axis(heads.keys if exact else part.column_names(), "key (column): is looked at", "key", "key"),
        about=kept,
        part=None if exact else part,
    )


def home_profiling(model: ModelState, state: LensState) -> Content:
    """Where the parameters are."""
    counts = parameters_by_part(model)
    total = sum(counts.values())
    values = [formats.count(count) for count in counts.values()]
    about = f"{formats.count(total)} parameters."
    return bars.content(
        list(counts), [count / total for count in counts.values()], values=values, about=about, rows="part"
    )


def home_training(model: ModelState, state: LensState) -> Content:
    """How the answers became right of a model that comes with the app, whatever the sidebar's model is."""
    points = learned().points
    shares = Line("right answers", [point.step for point in points], [point.accuracy for point in points], "ink")
    first, last = points[0], points[-1]
    about = (
        f"Trained on “{LEARNED.task}”, not the model in the sidebar: before training "
        f"{formats.percent(first.accuracy)} of the answers to {formats.count(EVALUATED)} held-out examples are right, "
        f"after {formats.count(last.step)} steps {formats.percent(last.accuracy)} of those to {formats.count(FINAL)}."
    )
    return lines.content(
        [Chart("step of training", f"right answers, trained on “{LEARNED.task}”", [shares], reach=(0, 1))], about=about
    )


def home_next(model: ModelState, state: LensState) -> Content:
    """The likeliest next tokens."""
    likely = next_token(model)
    return bars.content(likely.names, likely.shares, reference=likely.even, about=likely.sentence(), rows="next token")


PICTURES = {
    "home_heads": Picture(grid.GRID, home_heads, needs=passes.needs),
    "home_attention": Picture(head_map.MAP, home_attention, needs=passes.needs),
    "home_positions": Picture(MAPS, home_positions, needs=passes.needs),
    "home_masks": Picture(MAPS, home_masks, needs=passes.needs),
    "home_profiling": Picture(CHART, home_profiling, needs=passes.needs),
    "home_training": Picture(CHART, home_training, uses_model=False, needs=little),
    "home_next": Picture(CHART, home_next, needs=passes.needs),
}
