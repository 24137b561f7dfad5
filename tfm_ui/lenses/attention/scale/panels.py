"""Why the scores are divided by the root of d_k: an experiment."""

from tfm_core import attention_scores, attention_weights
from tfm_core.study import experiments
from tfm_core.study.analysis import entropy
from tfm_ui.lenses.attention.scale.numbers import effect_of_scaling, score_variances
from tfm_ui.lenses.attention.scale.pictures import PICTURES
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Box, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: AttentionState) -> list[Panel]:
    """The experiment, and the model's own heads beside it."""
    return [
        Box(
            key="scale",
            title="Why √dₖ",
            how_to_read="Queries and keys of independent standard normal numbers, drawn anew at each dₖ. "
            "Gradient: the largest |∂ weight / ∂ score|. Circles: your model’s heads.",
            shape=f"{state.draws} draws × {state.draw_keys} keys",
            picture="scale",
            result=effect_of_scaling(model, state),
            sources=[
                experiments.scale_experiment,
                experiments.measure_width,
                experiments.largest_gradient,
                entropy,
                attention_scores,
                attention_weights,
                score_variances,
            ],
        )
    ]


def draw_controls(model: ModelState) -> AttentionState:
    """What is drawn at random, and which layer of the model stands beside it."""
    line = controls_line.row("line_scale")
    controls_line.draw(AttentionState, PREFIX, model, line, "draws", "draw_keys", "draw_seed")
    return controls_line.draw_more(AttentionState, PREFIX, model, line, "kind", "layer")


VIEW = View(
    title="Why √dₖ",
    blocks=blocks,
    drawn=PICTURES,
    reads_pass=True,
    controls=draw_controls,
)
