"""Questions of the Positions lens.

What their questions take for granted is computed in tests/tfm_ui/lenses/positions/test_presets_positions.py.
"""

from tfm_ui.page.questions import Question

QUESTIONS = (
    Question(
        "First look",
        "Both sides are made of the same 32 wavelengths. What is added on the left, and what is turned on the right?",
    ),
    Question(
        "One clock",
        "Two dimensions, one wave: positions 0 and 44 are hardly 0.02 apart. "
        "How wide must the vectors be until no two of 64 positions come closer than 1?",
        page={"view": "why", "width": 2, "b": "nothing"},
    ),
    Question(
        "Distance alone",
        "Turned, a query and a key have one score per distance; with positions added, a cloud of them. "
        "Which of the two could a head learn “three words back” from more easily?",
        page={"view": "why"},
    ),
    Question(
        "Slopes and buckets",
        "ALiBi’s slopes are fixed, T5’s numbers are noise until they are trained. "
        "From which distance on are all tokens the same to T5, and to ALiBi?",
        page={"a": "alibi", "b": "t5", "length": 160},
    ),
    Question(
        "Without an order",
        "Neither positions nor a mask: the words are shuffled, and every output moves along with its word. "
        "What could such a model never tell apart?",
        model={"positional": "none", "causal": False},
        page={"view": "model", "a": "none", "b": "sinusoidal"},
    ),
    Question(
        "Past the end",
        "Made for 64 positions, asked for 128. One of the two has no 65th row. "
        "What has the other, and would a training on 64 have met it?",
        page={"view": "beyond", "a": "learned", "b": "rope", "length": 128, "max_len": 64},
    ),
    Question(
        "The wrong axis",
        "No error, no warning, and all words of a sentence stand at the same place. Which test would have found it?",
        page={"view": "fault"},
    ),
    Question(
        "The largest",
        "4,096 positions of 512 dimensions, each cell the value furthest from 0 of its block. "
        "From which dimension on is a wave longer than the text, and what are those dimensions good for?",
        page={"width": 512, "length": 4096, "b": "nothing", "dims": "200 256 320 384 448 510"},
    ),
)
