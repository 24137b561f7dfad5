"""Questions of the view "compare". tests/tfm_ui/lenses/training/test_questions_compare.py checks what they say."""

from tfm_ui.lenses.training.compare.layers import Layers
from tfm_ui.lenses.training.compare.measures import MEASURES
from tfm_ui.lenses.training.compare.numbers import Ranked
from tfm_ui.lenses.training.outcomes import comparison_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState

NOTHING = "Nothing of this is computed yet: press Compare, and ask again."
VERDICTS = ("a transformer", "a recurrent network", "neither")


def ranked(state: TrainingState) -> Ranked | None:
    """What is on screen."""
    comparison = comparison_of(state.task)
    return Ranked(comparison, MEASURES[state.measure]) if comparison else None


def which_positions(model: ModelState, state: TrainingState) -> str:
    """Recurrent networks beside transformers, and the positional schemes."""
    result = ranked(state)
    return f"{result.rivals()} {result.positions()}" if result else NOTHING


def who_is_ahead(model: ModelState, state: TrainingState) -> str:
    """All of the sentence."""
    result = ranked(state)
    return result.sentence() if result else NOTHING


def verdict(model: ModelState, state: TrainingState) -> str:
    """One of `VERDICTS`."""
    result = ranked(state)
    return (result.verdict if result else "") or VERDICTS[-1]


def why_two_layers(model: ModelState, state: TrainingState) -> str:
    """One layer beside two."""
    comparison = comparison_of(state.task)
    layers = Layers(comparison) if comparison else None
    return layers.sentence() if layers and layers.entries else NOTHING


QUESTIONS = (
    Question(
        "Who can reverse?",
        "All networks have about as many parameters and see the same examples. Who learns to reverse, and which "
        "positions does it take?",
        which_positions,
        page={"view": "compare"},
        given=("task",),
    ),
    Question(
        "Is attention ahead?",
        "Transformers are not better at everything. Are twelve brackets balanced: who learns it best?",
        who_is_ahead,
        Prediction(ask="Who is ahead?", measured=verdict, options=VERDICTS, hides=("training_compare",)),
        page={"view": "compare", "task": "brackets"},
    ),
    Question(
        "One layer or two?",
        "Induction, with one layer and with two of the same size together. Look at the second picture: what does one "
        "layer lack?",
        why_two_layers,
        page={"view": "compare", "task": "induction"},
    ),
)
