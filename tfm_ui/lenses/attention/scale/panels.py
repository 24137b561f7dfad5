"""Why the scores are divided by the root of d_k: an experiment."""

from tfm_core import attention_scores, attention_weights
from tfm_core.study import experiments
from tfm_core.study.analysis import entropy
from tfm_ui.lenses.attention.boxes import PREFIX, boxes
from tfm_ui.lenses.attention.scale.numbers import scale_view, score_variances
from tfm_ui.page import frame
from tfm_ui.page.controls_line import row
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """Why the scores are divided by the root of d_k: an experiment."""
    with panel("scale") as show:
        state = boxes(model, row("scale"), "draws", "draw_keys", "draw_seed", "kind", "layer")
        view = scale_view(model, state)
        show(
            title="Why √dₖ",
            how_to_read="Queries and keys of independent standard normal numbers, drawn anew at each dₖ. "
            "Gradient: the largest |∂ weight / ∂ score|. Circles: your model’s heads.",
            shape=f"{state.draws} draws × {state.draw_keys} keys",
            picture=Drawing("scale", ((model, ""), (state, PREFIX))),
            sentence=view.sentence,
            laws=view.laws(),
            table=view.table,
            sources=[
                experiments.scale_experiment,
                experiments.measure_width,
                experiments.largest_gradient,
                entropy,
                attention_scores,
                attention_weights,
                score_variances,
            ],
            recipe=view.recipe,
            mode=frame.mode(),
        )
