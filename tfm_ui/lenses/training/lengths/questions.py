"""Questions of the view "lengths". tests/tfm_ui/lenses/training/test_questions_compare.py checks what they say."""

from tfm_core import TASKS
from tfm_ui.lenses.training.compare.questions import NOTHING
from tfm_ui.lenses.training.lengths.numbers import ByLength
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.questions import Question
from tfm_ui.state.model_state import ModelState


def beyond(model: ModelState, state: TrainingState) -> str:
    """Who keeps what it has learned on longer sequences."""
    if not TASKS[state.task].stretches:
        return "All examples of this task are equally long."
    comparison = comparison_of(state.task)
    return ByLength(comparison).sentence() if comparison else NOTHING


QUESTIONS = (
    Question(
        "Four times as long",
        "Trained on strings of 32 letters. Which positional scheme still goes on with a string of 128, and which has "
        "no answer at all?",
        beyond,
        page={"view": "lengths", "task": "induction"},
    ),
    Question(
        "Counting further",
        "A majority of 21 letters is an average over all. Does the same network find that of 87? With CLS, these are "
        "22 and 88 tokens.",
        beyond,
        page={"view": "lengths", "task": "majority"},
    ),
    Question(
        "Reversing further",
        "Ten digits were reversed in training. Who can reverse sixteen, and why is that so hard?",
        beyond,
        page={"view": "lengths", "task": "reverse"},
    ),
)
