"""Who looks at whom, as lines."""

from collections.abc import Mapping, Sequence

from tfm_core import attention_scores, attention_weights, mask_scores
from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_ui.lenses.attention.arcs.numbers import arcs
from tfm_ui.lenses.attention.arcs.pictures import PICTURES
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Box, Panel, Source
from tfm_ui.state.model_state import ModelState

SOURCES: Mapping[str, Sequence[Source]] = {
    "heads": (attention_scores, mask_scores, attention_weights),
    "mean": (mean_over_heads,),
    "max": (max_over_heads,),
    "rollout": (attention_rollout, mean_over_heads),
}


def blocks(model: ModelState, state: AttentionState) -> list[Panel]:
    """The lines of a layer's heads, or of an aggregate of them."""
    shown = arcs(model, state)
    return [
        Box(
            key="arcs",
            title=shown.title,
            how_to_read=shown.how_to_read(state.lines),
            shape=f"query × key = {len(shown.queries)} × {len(shown.keys)}",
            picture="arcs",
            result=shown,
            sources=SOURCES[shown.how],
        )
    ]


VIEW = View(
    title="Word to word",
    blocks=blocks,
    drawn=PICTURES,
    reads_pass=True,
    controls=("kind", "layer", "lines"),
    line="line_arcs",
)
