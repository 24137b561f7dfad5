"""Who looks at whom, as lines."""

from tfm_ui.lenses.attention.arcs import numbers as arcs_of
from tfm_ui.lenses.attention.arcs.recipe import recipe_of
from tfm_ui.lenses.attention.boxes import PREFIX, boxes
from tfm_ui.page import frame
from tfm_ui.page.controls_line import row
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """Who looks at whom, as lines."""
    with panel("arcs") as show:
        state = boxes(model, row("arcs"), "kind", "layer", "lines")
        seen = arcs_of.view(model, state)
        first = seen.chosen(state.heads)[0]
        show(
            title=seen.title,
            how_to_read=seen.how_to_read(state.lines),
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            picture=Drawing("arcs", ((model, ""), (state, PREFIX))),
            sentence=seen.sentence(state.heads),
            laws=seen.laws(),
            table=lambda: seen.table(first),
            sources=arcs_of.SOURCES[seen.lines],
            recipe=recipe_of(seen, model, first),
            mode=frame.mode(),
        )
