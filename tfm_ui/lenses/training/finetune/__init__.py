"""The view "finetune": Lab BERT learns labels from few sentences, in five ways, beside naive Bayes."""

from tfm_ui.lenses.training.finetune import tune_bar
from tfm_ui.lenses.training.finetune.compared import Finetune, FinetuneWays
from tfm_ui.lenses.training.finetune.heads import FinetuneCurve, FinetuneHeads, FinetuneMaps, not_there
from tfm_ui.lenses.training.finetune.questions import QUESTIONS
from tfm_ui.lenses.training.finetune.results import NOTHING, badge, tuning_of
from tfm_ui.lenses.training.panels import task_alone
from tfm_ui.lenses.training.state import PREFIX, TrainingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Note
from tfm_ui.state.model_state import ModelState


def _below(model: ModelState, state: TrainingState) -> list[Block | None]:
    """The run that is chosen: its curve, its heads, one head's maps; and how all of it was made."""
    curve, heads, maps = (panel(model, state) for panel in (FinetuneCurve, FinetuneHeads, FinetuneMaps))
    return [
        curve if curve.is_shown else None,
        heads if heads.is_shown else None,
        maps if maps.is_shown else not_there(model, state),
        Finetune.facts(model, state),
    ]


def _instead(model: ModelState, state: TrainingState) -> list[Block]:
    """Why nothing is shown: no grid is there."""
    return [] if Finetune(model, state).is_shown else [Note(NOTHING, icon=":material/terminal:")]


def _controls(model: ModelState) -> TrainingState:
    """What is learned, from how many examples and in which way; over what it is drawn, the seed, and the button."""
    line = controls_line.row("line_training_finetune")
    controls_line.draw(TrainingState, PREFIX, model, line, "tuned", "shots", "way")
    state = controls_line.draw_more(TrainingState, PREFIX, model, line, "against", "seed")
    with line:
        tune_bar.draw(tuning_of(state))
    return state


VIEW = View(
    title="Fine-tune",
    shows=[Finetune, FinetuneWays, _below],
    also=[FinetuneCurve, FinetuneHeads, FinetuneMaps],
    instead=_instead,
    reads_instead=task_alone,
    controls=_controls,
    uses_model=False,
    badge=badge,
    questions=QUESTIONS,
)
