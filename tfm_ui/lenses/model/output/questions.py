"""Questions of the view "output"."""

from tfm_ui.lenses.model.output import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS: tuple[Question, ...] = (
    Question(
        "The likeliest token",
        "Random weights rate all 4,096 tokens. How many times an even share has the first, and is it a prediction?",
        answers.how_sure,
        Prediction(ask="How many even shares has the likeliest?", measured=answers.times_even, unit="×"),
        page={"view": "output"},
    ),
    Question(
        "A low temperature",
        "The logits are divided by 0.3. Which tokens gain and which lose, and does their order change?",
        answers.what_temperature_does,
        Prediction(ask="Does the order change?", measured=answers.order_changes, options=("yes", "no")),
        page={"view": "output", "temperature": 0.3},
    ),
    Question(
        "The same word again",
        "One matrix for embedding and logits, d_model 128. Why does a model that has learned nothing repeat the word "
        "just read?",
        answers.why_it_repeats,
        Prediction(ask="At how many positions is it the likeliest?", measured=answers.repeats_tied),
        model={"d_model": 128},
        page={"view": "output", "token": 4},
    ),
    Question(
        "After each layer",
        "The same read-out after each of 6 layers, untied. From which layer on is the final token the likeliest?",
        answers.which_layer_decides,
        model={"num_layers": 6},
        page={"view": "output", "tied": False},
    ),
)
