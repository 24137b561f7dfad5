"""Questions of the view "deep", and their answers, computed from the runs."""

from tfm_ui.lenses.training.deep.claims import near_output, needs_warmup
from tfm_ui.lenses.training.deep.curves import DeepCurves
from tfm_ui.lenses.training.deep.gradients import DeepGradients
from tfm_ui.lenses.training.deep.reached import DeepReached
from tfm_ui.lenses.training.panels import NOTHING, answered_from
from tfm_ui.lenses.training.state import DEEP
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.text import formats

NEVER = "none"
WIRINGS = ("pre-norm", "post-norm", "no residuals", "no norm")


@answered_from(DeepReached, NOTHING)
def which_fail(reached: DeepReached) -> str:
    """Where training fails, and which wirings never do."""
    table = reached.kept
    never = [w for w in table.wirings if all(table.fails_at(w, warmup) is None for warmup in table.warmups)]
    return f"{reached.sentence()} At no depth here, with or without a warm-up, fails: {formats.listed(never)}."


@answered_from(DeepReached, NEVER)
def first_to_fail(reached: DeepReached) -> str:
    """The wiring that fails at the smallest depth without a warm-up; the first in order of several, or none."""
    table = reached.kept
    depths = {wiring: depth for wiring in table.wirings if (depth := table.fails_at(wiring, 0))}
    return min(depths, key=lambda wiring: depths[wiring]) if depths else NEVER


@answered_from(DeepCurves, NOTHING)
def does_warmup_help(curves: DeepCurves) -> str:
    """What a warm-up does to post-norm, at each depth."""
    claim = needs_warmup(curves.kept)
    return f"{curves.sentence()} {claim.shows}. “{claim.claim}” ({claim.source}): {claim.verdict}."


@answered_from(DeepGradients, NOTHING)
def where_gradients_are(gradients: DeepGradients) -> str:
    """The first and the last layer's gradients, and what was claimed of them."""
    claim = near_output(gradients.kept)
    return f"{gradients.sentence()} “{claim.claim}” ({claim.source}): {claim.verdict}. {claim.shows}."


@answered_from(DeepGradients, NEVER)
def largest_gradient(gradients: DeepGradients) -> str:
    """The wiring whose first layer has the largest gradient without a warm-up."""
    rows = {wiring: row for wiring in gradients.kept.wirings if (row := gradients.row(wiring, 0))}
    return max(rows, key=lambda wiring: rows[wiring][0]) if rows else NEVER


QUESTIONS = (
    Question(
        "How deep can it train?",
        "Four wirings at 2, 6, 12 and 24 layers, three seeds each. Which can no longer be told from guessing, and from "
        "which depth on?",
        which_fail,
        Prediction(
            ask="Which fails at the smallest depth without a warm-up?",
            measured=first_to_fail,
            options=(*WIRINGS, NEVER),
            hides=("training_deep_reached", "training_deep_claims", "notes"),
        ),
        controls={"view": "deep"},
        given=("drawn", "warm"),
        because="all networks so far were shallow, and what stands around a sub-layer did not matter.",
    ),
    Question(
        "A warm-up for 24 layers",
        "Look at post-norm with 24 layers, without and with 100 steps of warm-up. Does the warm-up rescue it?",
        does_warmup_help,
        controls={"view": "deep", "drawn": DEEP[1]},
        given=("warm", "deep"),
        because="a wiring may fail at first steps that are too large, and not for good.",
    ),
    Question(
        "Gradients before the first step",
        "The gradient at each layer’s parameters before anything is learned, 24 layers. In which wiring is the first "
        "layer’s largest?",
        where_gradients_are,
        Prediction(ask="Which one?", measured=largest_gradient, options=WIRINGS, hides=("training_deep_gradients",)),
        controls={"view": "deep", "drawn": DEEP[2]},
        given=("warm", "deep", "at"),
        because="the reason for what fails should be seen in what arrives at the weights.",
    ),
)
