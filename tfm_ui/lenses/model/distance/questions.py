"""Questions of the view "distance", and their answers, computed from what is on screen."""

import math
from dataclasses import replace

from tfm_ui.jobs.networks import NAMES, RECURRENT
from tfm_ui.lenses.model.distance.reach import WRITTEN_OUT, Distance, factor
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def what_arrives(model: ModelState, state: ModelLensState) -> str:
    """What arrives from the first token in each network, and why."""
    distance = Distance(model, state)
    parts = formats.listed([f"{name} {_arriving(distance, name)}" for name in NAMES])
    return (
        f"The median gradient at distance {distance.tokens - 1}, as a part of that at distance 1: {parts}. In a "
        "recurrent network it passes through every step in between, and each step multiplies it by a matrix and a "
        "slope; in a convolution it passes from layer to layer by a few tokens; attention joins any two tokens that "
        "its mask and its kind allow in one layer."
    )


def _arriving(distance: Distance, name: str) -> str:
    fall = distance.fall(name)
    if fall == math.inf:
        return "nothing"
    return formats.weight(1 / fall) if 1 / WRITTEN_OUT < fall < 100 else formats.tiny(1 / fall)


def how_far_convolution_sees(model: ModelState, state: ModelLensState) -> str:
    """What a convolution can see, and what its width costs."""
    distance = Distance(model, state)
    half, layers, far = state.reach_kernel // 2, distance.config.num_layers, distance.furthest("convolution")
    add = "adds" if layers == 1 else "add"
    draws = "the only draw" if distance.seeds == 1 else f"all {distance.seeds} draws"
    beyond = (
        f"further back the gradient is exactly 0 in {draws}"
        if far < distance.tokens - 1
        else "that is the first token, so here it sees all of them"
    )
    return (
        f"From {formats.plural(far, 'token')} back; {beyond}. A kernel over {state.reach_kernel} tokens looks {half} "
        f"to each side, and {formats.plural(layers, 'layer')} {add} up to {layers * half}. No weight can change that: "
        "it is how the network is built, trained or not."
    )


def does_torchs_start_forget_more(model: ModelState, state: ModelLensState) -> str:
    """Whether the RNN's gradient falls by more with torch's first weights than with this library's."""
    ours, torchs = (Distance(model, replace(state, reach_start=start)).fall("RNN") for start in ("ours", "torch"))
    return "more" if torchs > ours else "less" if torchs < ours else "as much"


def what_the_start_does(model: ModelState, state: ModelLensState) -> str:
    """The falls of the recurrent networks under both ways to draw the first weights."""
    ours, torchs = (Distance(model, replace(state, reach_start=start)) for start in ("ours", "torch"))
    parts = formats.listed([f"{name} {_falls(ours, name)} and {_falls(torchs, name)}" for name in RECURRENT])
    # What was computed in full is that of one start.
    draws = f" ({formats.plural(ours.seeds, 'draw')} and {torchs.seeds})" if ours.seeds != torchs.seeds else ""
    return (
        f"How many times as large the median gradient is at distance 1 as at distance {ours.tokens - 1}, first with "
        f"this library’s first weights, then with torch’s{draws}: {parts}. torch draws between −1/√n and 1/√n for n "
        "hidden units, which spreads the matrix from state to state 1/√3 as far as this library does. So how fast the "
        "gradient changes is a matter of the first weights; that it must pass through every step is not."
    )


def _falls(distance: Distance, name: str) -> str:
    return factor(distance.fall(name))


QUESTIONS: tuple[Question, ...] = (
    Question(
        "What still arrives",
        "Five untrained networks, as many parameters, 48 tokens. In which does the gradient change least with the "
        "distance?",
        what_arrives,
        Prediction(
            ask="In which does it change least?",
            measured=lambda model, state: Distance(model, state).flattest()[0],
            options=NAMES,
            hides=("model_distance", "model_distance_paths"),
        ),
        controls={"view": "distance"},
        given=("reach_length",),
        because="signals also have to cross the text, and networks differ in how far they carry.",
    ),
    Question(
        "A wide convolution",
        "Now each convolution sees 17 tokens instead of 3. From how many tokens back does anything reach the last "
        "output?",
        how_far_convolution_sees,
        Prediction(
            ask="From how many tokens back?",
            measured=lambda model, state: Distance(model, state).furthest("convolution"),
            hides=("model_distance", "model_distance_paths"),
        ),
        controls={"view": "distance", "reach_kernel": 17},
        given=("reach_length",),
        because="a convolution sees a fixed number of neighbours, which can be made larger.",
    ),
    Question(
        "torch’s first weights",
        "All five networks start as torch starts them. Do the recurrent ones now forget more of the first token, or "
        "less?",
        what_the_start_does,
        Prediction(
            ask="Does the RNN’s gradient fall more than before, or less?",
            measured=does_torchs_start_forget_more,
            options=("more", "less", "as much"),
        ),
        controls={"view": "distance", "reach_start": "torch"},
        because="how far a network remembers also depends on the weights it starts from.",
    ),
)
