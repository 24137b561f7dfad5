"""Attention as a look-up that blends."""

from tfm_core import attention_scores, attention_weights, scaled_dot_product_attention
from tfm_ui.lenses.attention.dictionary.numbers import look_up
from tfm_ui.lenses.attention.dictionary.pictures import PICTURES
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Box, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: AttentionState) -> list[Panel]:
    """A few keys with their values, a query, and the answer; it needs no model."""
    return [
        Box(
            key="dictionary",
            title="A soft dictionary",
            how_to_read="Drag the query or a key, change a value: the answer is the sum of weight × value. Dotted: how "
            "far each key reaches along the query, which is what q·k measures.",
            shape="softmax(q·k / (√2 · temperature)) · value",
            picture="dictionary",
            result=look_up(state),
            sources=[look_up, scaled_dot_product_attention, attention_scores, attention_weights],
        )
    ]


def _reads_instead(model: ModelState, state: AttentionState) -> str:
    return "No text is read here: the query, the keys and the values are those that you set in the picture."


VIEW = View(
    title="Soft dictionary",
    blocks=blocks,
    drawn=PICTURES,
    uses_model=False,
    reads_instead=_reads_instead,
)
