"""Questions of the Positions lens.

What they take for granted, and their answers, are checked in tests/tfm_ui/lenses/positions/test_questions_positions.py.
"""

from tfm_ui.lenses.positions import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS = (
    Question(
        "Two ways",
        "Both sides are made of the same 32 wavelengths. What is added on one side, and what is turned on the other?",
        answers.what_they_do,
        given=("a", "b", "width"),
    ),
    Question(
        "Slopes and buckets",
        "ALiBi’s slopes are fixed, T5’s numbers are noise until they are trained. From which distance on are all keys "
        "the same to T5, and to ALiBi?",
        answers.far_away,
        page={"a": "alibi", "b": "t5", "length": 160},
        moves=("length",),
    ),
    Question(
        "The largest",
        "4,096 positions of 512 dimensions, each cell the value furthest from 0 of its block. From which dimension on "
        "is a wave longer than the text?",
        answers.longer_than_the_text,
        page={"width": 512, "length": 4096, "b": "nothing", "dims": "200 256 320 384 448 510"},
        moves=("dims",),
        given=("a",),
    ),
    Question(
        "Diagonals",
        "Each cell compares two positions. Where do you see equal colours along a diagonal, and what does that say?",
        answers.alike,
        page={"view": "why"},
        given=("claim",),
    ),
    Question(
        "One clock",
        "Two dimensions are one wave, so some positions nearly coincide. How wide must vectors be until any two of 64 "
        "positions lie 1 or more apart?",
        answers.nearest_positions,
        Prediction(
            ask="How far apart are the two nearest positions?",
            measured=answers.smallest_distance,
            hides=("positions_unique",),
        ),
        page={"view": "why", "claim": "told apart", "width": 2, "b": "nothing"},
        moves=("width",),
        given=("a", "base", "length"),
    ),
    Question(
        "Distance alone",
        "Turned, a query and a key have one score per distance; with positions added, many. With which is “three "
        "words back” easier to learn?",
        answers.one_score,
        page={"view": "why", "claim": "turned scores"},
        given=("a", "b"),
    ),
    Question(
        "Same head, other positions",
        "One head of your model under A and under B, all other weights the same. Which tokens does it look at "
        "differently?",
        answers.two_schemes,
        page={"view": "model"},
    ),
    Question(
        "Without an order",
        "Random weights, no positions, no mask: the words are shuffled, and each output moves along with its word. "
        "What could it never tell apart?",
        answers.order_matters,
        model={"positional": "none", "causal": False},
        page={"view": "model", "a": "none", "b": "sinusoidal"},
        moves=("b",),
        given=("weights",),
    ),
    Question(
        "Learned by place",
        "Trained to reverse ten digits: each looks at its mirror place. The same weights without positions: how much "
        "of the weight still lies there?",
        answers.where_it_should,
        Prediction(ask="How many percent, without positions?", measured=answers.on_the_right_place, unit="%"),
        model={"weights": "reverse"},
        page={"view": "model", "a": "learned", "b": "none"},
    ),
    Question(
        "Unseen angles",
        "Trained on 48 positions and asked for 64. Which waves have not completed a turn by then, and what do they do "
        "past the end?",
        answers.unseen,
        page={"view": "beyond"},
        given=("max_len", "length"),
    ),
    Question(
        "Past the end",
        "Made for 64 positions, asked for 128. One of the two has no 65th row. What has the other, and would a "
        "training on 64 have met it?",
        answers.past_the_end,
        page={"view": "beyond", "a": "learned", "b": "rope", "length": 128, "max_len": 64},
    ),
    Question(
        "The wrong axis",
        "No error, no warning, and all words of a sentence stand at the same place. Which test would have found it?",
        answers.wrong_axis,
        page={"view": "fault"},
    ),
    Question(
        "What becomes of it",
        "The model runs either way. In the first sentence of the batch every word gets position 0: where does the "
        "attention differ?",
        answers.consequences,
        page={"view": "fault", "item": 1},
    ),
    Question(
        "Which kind?",
        "Some schemes say where a token stands, others how far two tokens are apart. Which are which?",
        answers.kinds,
        page={"view": "table"},
    ),
    Question(
        "A table or a formula",
        "Two of the schemes have parameters of their own. How many numbers would a training have to find for the "
        "learned table?",
        answers.own_parameters,
        Prediction(
            ask="How many parameters has the learned table?",
            measured=answers.learned_parameters,
            hides=("positions_table",),
        ),
        page={"view": "table", "a": "learned", "b": "t5"},
        moves=("a", "b"),
    ),
)
