"""Questions of the view "compare".

What they say is checked by tests/tfm_ui/lenses/training/test_training_compare.py.
"""

from tfm_core import POSITIONAL, TASKS
from tfm_core.positional.schemes import PLAIN
from tfm_ui.lenses.training.compare.layers import Layers
from tfm_ui.lenses.training.compare.lengths import Lengths
from tfm_ui.lenses.training.compare.ranked import Compare
from tfm_ui.lenses.training.panels import NOTHING, answered_from
from tfm_ui.lenses.training.state import LONGER, TrainingState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState

VERDICTS = ("a transformer", "a recurrent network", "neither")


@answered_from(Compare, NOTHING)
def which_positions(ranked: Compare) -> str:
    """Recurrent networks beside transformers, and the positional schemes."""
    return f"{ranked.rivals()} {ranked.positions()}"


@answered_from(Compare, VERDICTS[-1])
def verdict(ranked: Compare) -> str:
    """One of `VERDICTS`."""
    return ranked.verdict or VERDICTS[-1]


who_is_ahead = answered_from(Compare, NOTHING)(Compare.sentence)
why_two_layers = answered_from(Layers, NOTHING)(Layers.sentence)


def beyond(model: ModelState, state: TrainingState) -> str:
    """Who keeps what it has learned on longer sequences."""
    if not TASKS[state.task].stretches:
        return "All examples of this task are equally long."
    return answered_from(Lengths, NOTHING)(Lengths.sentence)(model, state)


WHO_GOES_ON = Prediction(
    ask="Which positional scheme has most right answers at the greatest length?",
    measured=answered_from(Lengths, PLAIN)(Lengths.best),
    options=tuple(POSITIONAL),
    hides=("training_lengths",),
)

QUESTIONS = (
    Question(
        "Who can reverse?",
        "All networks have about as many parameters and see the same examples. Who learns to reverse, and which "
        "positions does it take?",
        which_positions,
        controls={"view": "compare"},
        given=("task", "tested"),
        because="recurrent networks read in order, so they are fairer rivals than a bag of words.",
    ),
    Question(
        "Is attention ahead?",
        "Transformers are not better at everything. Are twelve brackets balanced: who learns it best?",
        who_is_ahead,
        Prediction(ask="Who is ahead?", measured=verdict, options=VERDICTS, hides=("training_compare",)),
        controls={"view": "compare", "task": "brackets"},
        given=("tested",),
        because="one task says little, and this one needs counting rather than looking up.",
    ),
    Question(
        "One layer or two?",
        "Induction, with one layer and with two of the same size together. Look at the second picture: what does one "
        "layer lack?",
        why_two_layers,
        controls={"view": "compare", "task": "induction"},
        given=("tested",),
        because="besides the kind of network, the number of layers decides what it can do.",
    ),
    Question(
        "Four times as long",
        "Trained on strings of 32 letters. Which positional scheme still goes on with a string of 128, and which has "
        "no answer at all?",
        beyond,
        WHO_GOES_ON,
        controls={"view": "compare", "tested": LONGER, "task": "induction"},
        because="learning a task at one length is not knowing it at any length.",
    ),
    Question(
        "Counting further",
        "A majority of 21 letters is an average over all. Does the same network find that of 87? With CLS, these are "
        "22 and 88 tokens.",
        beyond,
        WHO_GOES_ON,
        controls={"view": "compare", "tested": LONGER, "task": "majority"},
        because="a majority needs an average instead of a certain place, which may carry over.",
    ),
    Question(
        "Reversing further",
        "Ten digits were reversed in training. Who can reverse sixteen, and why is that so hard?",
        beyond,
        controls={"view": "compare", "tested": LONGER, "task": "reverse"},
        because="reversing ties each answer to a place, and a longer string has new places.",
    ),
)
