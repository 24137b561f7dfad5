"""Questions of the view "decode". tests/tfm_ui/lenses/training/test_decode.py checks what they say."""

from tfm_ui.lenses.training.decode.numbers import Written, written
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def _score(shown: Written) -> str:
    right = int((shown.decoded.written == shown.right).sum())
    head, hits = shown.best
    count = len(shown.source)
    trained = "" if shown.run.is_complete else " These weights are not trained to their end."
    return (
        f"{right} of {count} tokens are right. {head.capitalize()} looks most at the right source token in {hits} of "
        f"{count} steps.{trained}"
    )


def where_it_looks(model: ModelState, state: TrainingState) -> str:
    """How often the best head looks at the right token, and what shape that makes."""
    shown = written(state)
    _, hits = shown.best
    shape = ""
    if hits == len(shown.source):
        is_mirror = shown.names(shown.right)[::-1] == shown.names(shown.source)
        shape = (
            " The cells run from the top right to the bottom left: an anti-diagonal."
            if is_mirror
            else " The cells are a permutation of the source: the order that sorts it."
        )
    return _score(shown) + shape


def how_sure(model: ModelState, state: TrainingState) -> str:
    """The least certain step."""
    shown = written(state)
    certain = shown.decoded.probabilities.amax(-1)
    step = int(certain.argmin())
    token = shown.names(shown.decoded.written)[step]
    share = formats.percent(float(certain[step]), 3)
    return f"Step {step + 1} is the least sure: “{token}” has a probability of {share}. {_score(shown)}"


def rights(model: ModelState, state: TrainingState) -> float:
    """How many tokens are right."""
    shown = written(state)
    return float((shown.decoded.written == shown.right).sum())


QUESTIONS = (
    Question(
        "Reverse, written",
        "Drag “Tokens written” from 0 on: where in the source does the decoder look for its first token, and where for "
        "the second?",
        where_it_looks,
        page={"view": "decode", "written": 0},
        moves=("written",),
        given=("pair", "source"),
    ),
    Question(
        "Sort, written",
        "Now the numbers are written in order. Which shape do the largest weights have, and is every row right?",
        where_it_looks,
        Prediction(
            ask="How many of the ten tokens will be right?",
            measured=rights,
            hides=("training_decode.words", "training_decode_next"),
        ),
        page={"view": "decode", "pair": "sort-decoder"},
        given=("source",),
    ),
    Question(
        "The same number twice",
        "The source has 7 three times. At which step is the decoder least sure of what comes next?",
        how_sure,
        page={"view": "decode", "pair": "sort-decoder", "source": "7 3 7 31 0 7 12 5 28 19", "written": 4},
        moves=("written",),
    ),
)
