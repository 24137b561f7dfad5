"""Questions of the view "learn". tests/tfm_ui/lenses/training/test_learn.py checks what they say."""

from tfm_ui.lenses.training.learn import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS = (
    Question(
        "Reverse",
        "Drag the slider from the left: at which step does the head find the anti-diagonal, and do answers become "
        "right then?",
        answers.when_it_formed,
        Prediction(
            ask="At which step does the head’s weight rise most?",
            measured=answers.step_of_the_rise,
            hides=("training_learn.words",),
        ),
        given=("task",),
    ),
    Question(
        "Majority",
        "Which is more frequent, A or B? Where does CLS have to look to know it, and what does its row look like?",
        answers.how_evenly,
        page={"task": "majority"},
    ),
    Question(
        "Induction",
        "Two layers learn to go on with a string that repeats. Which head appears first, and why does it have to?",
        answers.which_came_first,
        page={"task": "induction"},
    ),
    Question(
        "Brackets",
        "Nearly all answers become right. Can you read in the maps how it is done?",
        answers.is_it_readable,
        page={"task": "brackets"},
        given=(
            "layers",
            "heads",
            "width",
            "positional",
            "norm",
            "rate",
            "warmup",
            "batch",
            "dropout",
            "decay",
            "steps",
            "seed",
        ),
    ),
    Question(
        "Too fast",
        "A learning rate of 10: press Train and watch the loss. What went wrong, and what would help?",
        answers.did_it_diverge,
        page={"rate": 10},
    ),
)
