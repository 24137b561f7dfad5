"""Questions of the view "classify". tests/tfm_ui/lenses/training/test_classify.py checks what they say."""

from tfm_ui.lenses.training.classify import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS = (
    Question(
        "Who wrote it?",
        "Three authors: is the transformer ahead of a bag of words, which knows no order?",
        answers.who_is_ahead,
        page={"view": "classify"},
        given=("labelled",),
    ),
    Question(
        "For longer",
        "Twice the steps: press Train. Does the held-out loss fall with the training loss?",
        answers.does_it_overfit,
        page={"view": "classify", "steps": 400},
        given=("labelled",),
    ),
    Question(
        "Textbook",
        "Which letter is the most frequent? Who is ahead of whom here, and why?",
        answers.linear_rule,
        page={"view": "classify", "labelled": "textbook"},
    ),
    Question(
        "Random labels",
        "The labels are drawn at random. Where do loss and right answers end, and why?",
        answers.ends_at_chance,
        Prediction(
            ask="How many held-out labels are right?",
            measured=answers.share_at_the_end,
            unit="%",
            hides=("training_classify_*", "notes"),
        ),
        page={"view": "classify", "labelled": "textbook-random"},
    ),
    Question(
        "A bag of brackets",
        "All sequences have six of both brackets. What is left for a bag of words to know?",
        answers.who_is_ahead,
        page={"view": "classify", "labelled": "brackets"},
    ),
)
