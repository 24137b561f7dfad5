"""Questions of the view "depth", and their answers, computed from what is on screen."""

import math

from tfm_ui.lenses.model.depth.live import DRAWS, StreamLengths, TrainingMode
from tfm_ui.lenses.model.depth.wirings import Alike, Wirings
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def which_carries_the_gradient(model: ModelState, state: ModelLensState) -> str:
    """What is measured, and what norms have to do with it."""
    return (
        f"{Wirings(model, state).gradients()} A norm gives each sub-layer vectors of one size to read; without it, "
        "longer vectors lead to still longer ones. “The gradient of pre-norm is bounded” (Xiong et al. 2020) is about "
        "the parameters near the output, and not about the vectors. Other seeds, other numbers."
    )


def how_alike(model: ModelState, state: ModelLensState) -> str:
    """The similarities, and what mixes tokens."""
    alike = Alike(model, state)
    if not alike.is_shown:
        return alike.sentence()
    ends = {wiring: float(mean[-1]) for wiring, mean in alike.means["similarity"].items()}
    least = min((end for end in ends.values() if math.isfinite(end)), default=math.nan)
    apart = formats.listed([wiring for wiring, end in ends.items() if end == least])
    return (
        f"{alike.sentence()} Attention averages over tokens in every layer, which makes them alike. A residual "
        "connection keeps each token’s own vector in the sum; how much that counts beside what is added depends on "
        f"the norm’s place. Here {apart} keeps them furthest apart."
    )


def what_is_added(model: ModelState, state: ModelLensState) -> str:
    """The stream's growth."""
    stream = StreamLengths(model, state)
    shares = [
        f"{place} {formats.percent(adds / before)}"
        for place, adds, before in zip(stream.places, stream.lengths("adds"), stream.lengths("before"), strict=True)
        if before
    ]
    added = formats.listed(shares)
    return f"What each sub-layer adds, beside the length of what was there: {added}. {stream.sentence()}"


QUESTIONS: tuple[Question, ...] = (
    Question(
        "Four wirings",
        "The same weights, 24 layers deep, wired in four ways. In which does the vectors’ gradient change most on its "
        "way down?",
        which_carries_the_gradient,
        Prediction(
            ask="Which one?",
            measured=lambda model, state: Wirings(model, state).most_changed(),
            options=("pre-norm", "post-norm", "no residuals", "no norm"),
            hides=("model_wirings",),
        ),
        controls={"view": "depth"},
        given=("depth",),
        because="gradients pass through all layers, and the wiring decides how they arrive.",
    ),
    Question(
        "All the same",
        "The text goes through 48 layers. How alike are its tokens at the end, with and without residuals?",
        how_alike,
        controls={"view": "depth", "depth": 48},
        because="the way up matters like the way down, as tokens can become alike with depth.",
    ),
    Question(
        "What is added",
        "8 layers: how much does each sub-layer add to the residual stream, beside what is already there?",
        what_is_added,
        model={"num_layers": 8},
        controls={"view": "depth", "depth": 8},
        because="residuals hand old vectors on, and here one sees how much each sub-layer adds.",
    ),
    Question(
        "Draws of dropout",
        "In training mode, dropout of 0.3 makes each pass different. In how many of 16 draws is another key strongest?",
        lambda model, state: TrainingMode(model, state).sentence(),
        Prediction(
            ask=f"In how many of {DRAWS} draws?",
            measured=lambda model, state: TrainingMode(model, state).changed,
            hides=("model_training_mode",),
        ),
        controls={"view": "depth", "layer": 2, "depth_dropout": 0.3},
        moves=("layer",),
        because="depth is not the only source of change, as dropout makes every pass differ.",
    ),
)
