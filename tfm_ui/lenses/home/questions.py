"""Questions of Home. tests/tfm_ui/lenses/home/test_questions_home.py checks what they say."""

from tfm_ui.lenses.home import answers
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.state import lab_gpt

OPENS_WITH = lab_gpt.ON_PROSE

QUESTIONS = (
    Question(
        "A language model",
        "Lab GPT has read novels and presidents’ addresses. Which token will it say next, and how sure is it? Then "
        "type another sentence.",
        answers.what_it_has_read,
        Prediction(ask="How sure is it, in percent?", measured=answers.percent_of_likeliest, unit="%", hides=("next",)),
        model=OPENS_WITH,
        moves=("text",),
    ),
    Question(
        "A trained model",
        "This model has learned letters that repeat. Which letter will it say next, and where in the text could it "
        "know that from?",
        answers.what_came_last_time,
        model={"weights": "induction"},
    ),
    Question(
        "First look",
        "A model that nobody has trained. Type another sentence: will it say the last word again, and where could that "
        "come from?",
        answers.what_it_says,
        Prediction(
            ask="Will it say the last word again?",
            measured=answers.says_it_again,
            options=("yes", "no"),
            hides=("next",),
        ),
        given=("weights",),
    ),
    Question(
        "Much larger",
        "This one has forty-seven times the parameters, and it repeats “tired” all the more. What do parameters alone "
        "not bring?",
        answers.where_parameters_are,
        model={"num_layers": 8, "num_heads": 16, "d_model": 256},
        given=MODEL,
    ),
    Question(
        "Another seed",
        "The same sentence, other random weights: another head is the sharpest now. What in these pictures has stayed, "
        "and what kept it?",
        answers.what_a_seed_changes,
        model={"seed": 2},
        given=MODEL,
    ),
)
