"""Who looks at whom, as lines."""

from tfm_ui import frame
from tfm_ui.attention_lens import arcs as arcs_of
from tfm_ui.attention_lens.arcs_recipe import recipe_of
from tfm_ui.attention_views.boxes import PREFIX, boxes
from tfm_ui.controls_line import row
from tfm_ui.model_state import ModelState
from tfm_ui.panels import panel
from tfm_ui.pictures import Drawing


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
