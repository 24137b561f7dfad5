"""Questions of the view "decode", and what answers them."""

from itertools import pairwise

from tfm_ui.lenses.training.decode.held_out import DecodeExposure, DecodeMistakes
from tfm_ui.lenses.training.decode.source import NO_DECODER
from tfm_ui.lenses.training.decode.spans import DecodeSpan
from tfm_ui.lenses.training.decode.written import Decode
from tfm_ui.lenses.training.panels import NOT_YET, answered_from
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def _score(written: Decode) -> str:
    head, hits = written.best
    count, looking = len(written.answers), len(written.looking)
    trained = "" if written.run.is_complete else " These weights are not trained to their end."
    return (
        f"{written.right} of {count} tokens are right. {head.capitalize()} looks most at the right source token in "
        f"{hits} of {looking} steps.{trained}"
    )


def where_it_looks(model: ModelState, state: TrainingState) -> str:
    """How often the best head looks at the right token, and what shape that makes."""
    written = Decode(model, state)
    if not written.is_shown:
        return DecodeSpan(model, state).sentence()
    _, hits = written.best
    shape = ""
    if hits == len(written.source) == len(written.answers):
        is_mirror = written.names(written.answers)[::-1] == written.names(written.source)
        shape = (
            " The cells run from the top right to the bottom left: an anti-diagonal."
            if is_mirror
            else " The cells are a permutation of the source: the order that sorts it."
        )
    return _score(written) + shape


def how_sure(model: ModelState, state: TrainingState) -> str:
    """The least certain step."""
    written = Decode(model, state)
    if not written.is_shown:
        return DecodeSpan(model, state).sentence()
    certain = written.decoded.probabilities.amax(-1)
    step = int(certain.argmin())
    token = written.names(written.decoded.written)[step]
    share = formats.percent(float(certain[step]), 3)
    return f"Step {step + 1} is the least sure: “{token}” has a probability of {share}. {_score(written)}"


def rights(model: ModelState, state: TrainingState) -> float:
    """How many tokens are right; of a span, how many of its two ends."""
    written = Decode(model, state)
    if written.is_shown:
        return float(written.right)
    return float(DecodeSpan(model, state).right_ends)


def order_of_words(model: ModelState, state: TrainingState) -> str:
    """The order in which the decoder takes its tokens from the source, and where that turns back."""
    written = Decode(model, state)
    if not written.is_shown:
        return DecodeSpan(model, state).sentence()
    tokens, cells = written.names(written.answers), written.cells
    places = [(tokens[step], int(cells[step].argmax())) for step in written.looking if step < len(tokens)]
    back = [
        f"“{after}” comes from source token {there + 1}, before that of “{before}”, {here + 1}"
        for (before, here), (after, there) in pairwise(places)
        if there < here
    ]
    turns = f"The order turns back: {formats.listed(back)}." if back else "The order of the source stays."
    return f"{turns} {_score(written)}"


@answered_from(DecodeMistakes, NOT_YET)
def what_is_wrong(mistakes: DecodeMistakes) -> str:
    """How many held-out examples are right, and the first that is wrong."""
    return mistakes.sentence()


@answered_from(DecodeMistakes, 0.0)
def right_as_a_whole(mistakes: DecodeMistakes) -> float:
    """Held-out examples that are right as a whole, in percent; 0 where nothing is trained."""
    return formats.points(mistakes.exact)


@answered_from(DecodeExposure, NOT_YET)
def what_a_mistake_costs(told: DecodeExposure) -> str:
    """What follows mistakes; of a task without a decoder, that there is nothing to follow."""
    return told.sentence() if told.is_shown else NO_DECODER


@answered_from(DecodeExposure, 0.0)
def wrong_after_its_own(told: DecodeExposure) -> float:
    """Wrong tokens after the first mistake, in percent, when it goes on alone; 0 where nothing is trained, or wrong."""
    return formats.points(told.wrong_after_own) if told.is_shown else 0.0


# What they say is checked by tests/tfm_ui/lenses/training/test_decode.py.
QUESTIONS = (
    Question(
        "Reverse, written",
        "Drag “Tokens written” from 0 on: where in the source does the decoder look for its first token, and where for "
        "the second?",
        where_it_looks,
        controls={"view": "decode", "written": 0},
        moves=("written",),
        given=("pair", "source"),
        because="the answers so far were given at once, and a decoder writes them one by one.",
    ),
    Question(
        "Sort, written",
        "Now the numbers are written in order. Which shape do the largest weights have, and is every row right?",
        where_it_looks,
        Prediction(
            ask="How many of the ten tokens will be right?",
            measured=rights,
            hides=("training_decode*.words", "training_decode_next*"),
        ),
        controls={"view": "decode", "pair": "sort-decoder"},
        given=("source",),
        because="reversing depends on places alone, and sorting depends on the numbers.",
    ),
    Question(
        "The same number twice",
        "The source has 7 three times. At which step is the decoder least sure of what comes next?",
        how_sure,
        controls={"view": "decode", "pair": "sort-decoder", "source": "7 3 7 31 0 7 12 5 28 19", "written": 4},
        moves=("written",),
        because="equal numbers are the hard case of sorting, as the decoder has to count them.",
    ),
    Question(
        "Forty-two is two and forty",
        "German says the units before the tens. In which order do the German tokens come from the English words?",
        order_of_words,
        controls={"view": "decode", "pair": "translation", "source": "three hundred and forty two"},
        because="reversing turns every order alike, and a language turns only some of it.",
    ),
    Question(
        "Exposure bias",
        "In training the decoder read right tokens alone. What does it write after a mistake of its own?",
        what_a_mistake_costs,
        Prediction(
            ask="Which share of the tokens after an example’s first mistake will be wrong?",
            measured=wrong_after_its_own,
            unit="%",
            hides=("training_decode_exposure*", "notes"),
        ),
        controls={"view": "decode", "pair": "sort-decoder", "source": "4 17 9 9 22 30 6 9 0 9"},
        because="what a decoder has learned with right tokens, it must do with its own.",
    ),
    Question(
        "Where is the key?",
        "The answer is a span of the story. How many are right, and how many does the last sentence alone get right?",
        what_is_wrong,
        Prediction(
            ask="Which share of the held-out answers is right at both ends?",
            measured=right_as_a_whole,
            unit="%",
            hides=("training_decode_mistakes*",),
        ),
        controls={"view": "decode", "pair": "question-answering"},
        given=("source",),
        because="an answer need not be written where the text itself can show it.",
    ),
    Question(
        "The sentence after “note”",
        "A summary that copies one sentence. What does the network get wrong in texts that it never read?",
        what_is_wrong,
        Prediction(
            ask="Which share of the held-out texts is summed up without a mistake?",
            measured=right_as_a_whole,
            unit="%",
            hides=("training_decode_mistakes*",),
        ),
        controls={"view": "decode", "pair": "summary"},
        given=("source",),
        because="a span shows where an answer stands, and a summary has to write it anew.",
    ),
)
