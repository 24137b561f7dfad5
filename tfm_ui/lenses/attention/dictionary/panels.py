"""Attention as a look-up that blends."""

from tfm_core import attention_scores, attention_weights, scaled_dot_product_attention
from tfm_ui.lenses.attention.boxes import PREFIX
from tfm_ui.lenses.attention.dictionary.numbers import look_up
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page import controls, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """Attention as a look-up that blends."""
    state = controls.current(AttentionState, PREFIX)
    lookup = look_up(state)
    with panel("dictionary") as show:
        show(
            title="A soft dictionary",
            how_to_read="Drag the query or a key, change a value: the answer is the sum of weight × value. Dotted: how "
            "far each key reaches along the query, which is what q·k measures.",
            shape="softmax(q·k / (√2 · temperature)) · value",
            picture=Drawing("dictionary", ((model, ""), (state, PREFIX))),
            sentence=lookup.sentence,
            laws=lookup.laws(),
            table=lookup.table,
            sources=[look_up, scaled_dot_product_attention, attention_scores, attention_weights],
            recipe=lookup.recipe,
            mode=frame.mode(),
        )
