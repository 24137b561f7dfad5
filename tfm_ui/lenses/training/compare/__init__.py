"""The view "compare": networks of one size on one task, with three seeds each."""

from tfm_ui.lenses.training import row_controls
from tfm_ui.lenses.training.compare.layers import Layers
from tfm_ui.lenses.training.compare.ranked import Compare
from tfm_ui.lenses.training.outcomes import badge
from tfm_ui.lenses.training.panels import NOTHING, answered_from, task_alone
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Prediction, Question

VERDICTS = ("a transformer", "a recurrent network", "neither")


VIEW = View(
    title="Compare",
    shows=[Compare, Compare.conditions, Layers],
    instead=row_controls.nothing_yet,
    reads_instead=task_alone,
    controls=row_controls.of_comparison("line_training_compare", "task", "measure"),
    uses_model=False,
    badge=badge,
)


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

# What they say is checked by tests/tfm_ui/lenses/training/test_training_compare.py.
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
