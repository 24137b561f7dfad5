"""Questions of the view "block"."""

from tfm_ui.lenses.model.block import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS: tuple[Question, ...] = (
    Question(
        "What norms take",
        "The norm treats each token alone. What do all rows have in common after it, and what has it taken away?",
        answers.what_the_norm_takes,
        Prediction(ask="How long is a vector after the norm, on average?", measured=answers.length_of_normalised),
        page={"view": "block"},
    ),
    Question(
        "Old and new",
        "Compare x with what self-attention adds to it. How much of the sum is old, and how much is new?",
        answers.how_much_is_added,
        page={"view": "block", "step": "sum"},
    ),
    Question(
        "Training mode",
        "Dropout of 0.3 makes random numbers 0, here the grey ones. Why does it make all others larger?",
        answers.why_larger,
        page={"view": "block", "step": "sub-layer", "dropout": 0.3},
    ),
    Question(
        "Norm before or behind",
        "The same weights in layer 2, with the norm before the sub-layer or behind the sum. Under which are vectors "
        "longer when they leave?",
        answers.which_grows,
        model={"norm": "post"},
        page={"view": "block", "layer": 2},
    ),
)
