"""Questions of the view "feed_forward", and their answers, computed from what is on screen."""

from tfm_ui.lenses.model.feed_forward.activations import Activations, FfnSizes
from tfm_ui.lenses.model.feed_forward.hidden import Hidden, OneUnit
from tfm_ui.lenses.model.state import FFN_SIZES, ModelLensState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def zeros_of_relu(model: ModelState, state: ModelLensState) -> float:
    """The share of units that ReLU makes 0, in percent."""
    return formats.points(Hidden(model, state).zeros("relu"))


def what_relu_drops(model: ModelState, state: ModelLensState) -> str:
    """ReLU's zeros, and why that many."""
    hidden = Hidden(model, state)
    return (
        f"{formats.percent(hidden.zeros('relu'))}: a unit is 0 wherever its number before the activation is not above "
        f"0. {model.if_random('With random weights either sign is about as likely in a wide network. ')}"
        "A unit that is 0 gets no gradient "
        f"at that token; GELU, with {formats.percent(hidden.zeros('gelu'))} exact zeros, lets negative numbers "
        "through, made small."
    )


def what_a_gate_costs(model: ModelState, state: ModelLensState) -> str:
    """The sizes' sentence."""
    counted = FfnSizes(model, state).sentence()
    return f"{counted} So SwiGLU is usually given two thirds of the width, to compare networks of one size."


def which_slope(model: ModelState, state: ModelLensState) -> str:
    """What the derivatives are in the region that is used."""
    curves = Activations(model, state)
    least = {name: formats.number(float(slopes.min())) for name, slopes in curves.slopes.items()}
    most = {name: formats.number(float(slopes.max())) for name, slopes in curves.slopes.items()}
    return (
        f"{curves.sentence()} From −4 to 4 the derivative goes from {least['relu']} to {most['relu']} with ReLU, from "
        f"{least['gelu']} to {most['gelu']} with GELU and from {least['silu']} to {most['silu']} with SiLU: both "
        "smooth curves fall a little before they rise, and are steeper than 1 for a while."
    )


QUESTIONS: tuple[Question, ...] = (
    Question(
        "How many zeros",
        "Every token has d_ff hidden units in each layer. What share of them does ReLU make exactly 0?",
        what_relu_drops,
        Prediction(
            ask="What share of the hidden units is 0 with ReLU?",
            measured=zeros_of_relu,
            unit="%",
            hides=("model_hidden", "model_activations"),
        ),
        controls={"view": "feed_forward"},
        because="the other sub-layer is a network of hidden units, many of which may be silent.",
    ),
    Question(
        "Smooth or not",
        "In layer 2 with SiLU: where do the three derivatives differ, and does the model read numbers there?",
        which_slope,
        model={"activation": "silu"},
        controls={"view": "feed_forward", "layer": 2},
        because="ReLU has a corner at 0, and other activations are smooth there.",
    ),
    Question(
        "The price of a gate",
        "512 wide, d_ff 2,048: how many parameters does SwiGLU add, and at which width does it have as many as ReLU?",
        what_a_gate_costs,
        model={"activation": "swiglu"},
        controls={"view": "feed_forward", "ffn_size": FFN_SIZES[1]},
        because="SwiGLU adds a gate to such a curve, and a gate has parameters of its own.",
    ),
    Question(
        "One unit",
        "Follow hidden unit 2 with ReLU: which tokens make it fire, and what does it write towards?",
        lambda model, state: OneUnit(model, state).sentence(),
        model={"activation": "relu"},
        controls={"view": "feed_forward", "unit": 2},
        because="counting units is not knowing one, so follow a single unit from token to output.",
    ),
)
