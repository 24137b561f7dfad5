"""Questions of the Attention lens.

What their questions take for granted is computed in tests/tfm_ui/lenses/attention/test_presets_attention.py.
"""

from tfm_ui.page.questions import Question

QUESTIONS = (
    Question(
        "Step by step",
        "Every number here has a history. Click one: which two vectors did it come from?",
    ),
    Question(
        "Not scaled",
        "One head as wide as the model, its scores not divided: half of the rows that have a choice give one token "
        "nearly all. What happens when you switch √dₖ on?",
        model={"d_model": 256, "num_heads": 1},
        page={"scaled": False},
    ),
    Question(
        "Half of the weight",
        "Less than a third of the lines carry half of each row's weight. Raise the share: from where on do more lines "
        "tell less?",
        page={"view": "arcs", "mass": 50},
    ),
    Question(
        "Rollout",
        "Multiplied through both layers, every row's strongest line still leads back to its own token. "
        "Which half of the formula sees to that?",
        page={"view": "arcs", "lines": "rollout", "layer": 2},
    ),
    Question(
        "Looks here, takes there",
        "“cat” looks most at “the”, and yet four fifths of what it gets come from itself. "
        "Which of the two maps says what this head does?",
        model={"num_heads": 16},
        page={"view": "contribution", "head": 6, "query": 2, "key": 1},
    ),
    Question(
        "A sink",
        "More than half of all weight goes to “cat”, whoever looks; a quarter of what is written comes from there. "
        "What could a head need such a token for?",
        model={"num_heads": 16, "seed": 2},
        page={"view": "contribution", "layer": 2, "head": 5},
    ),
    Question(
        "One weight",
        "A single weight of layer 1 is another one: “mat” looks at “cat” with 0.90. "
        "Why do tokens behind “mat” move too, and none before it?",
        page={"view": "change"},
    ),
    Question(
        "A leak",
        "“sat” was made to look at “it”, five tokens ahead. Drag the weight down to 0: when does the leak end?",
        page={"view": "change", "changes": "weight 1.1 3>8 0.5", "query": 3, "key": 8},
    ),
    Question(
        "Why √dₖ",
        "One head as wide as the model compares tokens by 256 numbers. Undivided, half of the draws leave the softmax "
        "less than a twentieth of the gradient that division by √dₖ leaves it. From which dₖ on does that hurt?",
        model={"d_model": 256, "num_heads": 1},
        page={"view": "scale"},
    ),
    Question(
        "Longer keys win",
        "The query lies exactly on key A, and yet key B gets more of the weight. "
        "What does a dot product measure that a distance does not?",
        page={"view": "dictionary", "entries": "0.8,0.3,10 1.8,0.1,20 -1,0.5,30 0,-1.2,40", "ask": "0.8,0.3"},
    ),
)
