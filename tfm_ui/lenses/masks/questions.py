"""Questions of the Masks lens.

What their questions take for granted is computed in tests/tfm_ui/lenses/masks/test_presets_masks.py.
"""

from tfm_ui.page.questions import Question

QUESTIONS = (
    Question(
        "First look",
        "Five of these ten columns are grey from top to bottom. Who took them away, and who pays the weight back?",
    ),
    Question(
        "Sliding window",
        "Each word sees itself and the two before it. The tenth sees three words in layer 1: "
        "of how many has its vector heard after two layers?",
        page={"mask": "window 3", "item": 1},
    ),
    Question(
        "Longformer",
        "Every word sees two neighbours on either side; the first sees all, and all see it. "
        "How many layers does it take until every word has heard of every other?",
        model={"causal": False},
        page={"mask": "window 3 or global 1", "item": 1},
    ),
    Question(
        "Packed documents",
        "Three documents share one row, and none sees another. Paint one cell that lets a document look into the one "
        "before it: which weights move, and which stay?",
        page={"mask": "documents 4 3", "item": 1},
    ),
    Question(
        "Leaky by one",
        "The mask was shifted by one: a single diagonal too many. Through two layers, how far ahead can a token see?",
        model={"causal": False},
        page={"view": "leaks", "mask": "causal 1 and padding", "promise": "causal and padding", "item": 1},
    ),
    Question(
        "Through the window",
        "A window of 2 lets each token see itself and one neighbour on either side. Behind which layer has the first "
        "of eight words reached the last?",
        model={"causal": False, "seq_len": 8, "num_layers": 8},
        page={"view": "leaks", "mask": "window 2", "item": 1},
    ),
    Question(
        "One cell too many",
        "A causal mask, and one cell painted by hand: token 2 may look at token 9. Through two layers, how many pairs "
        "leak?",
        page={"view": "leaks", "mask": "", "paint": "2x9.TAAAACQ", "item": 1},
    ),
    Question(
        "Without the mask",
        "Five PADs that nobody hides take a quarter of a token’s weight, and every output moves. Hidden, they change "
        "nothing but the last digits. Which of the two would you notice, if the loss still went down?",
        model={"causal": False},
        page={"view": "padding"},
    ),
    Question(
        "One NaN",
        "Five rows of padding have no key, and no token may look at them. A layer later every token is NaN. "
        "What is 0 × NaN?",
        page={"view": "padding", "mask": "cross"},
    ),
    Question(
        "Which way round?",
        "The same booleans, and opposite meanings. Handed over the wrong way round, none of these calls complains. "
        "Whose outputs at least become NaN, and for which queries?",
        page={"view": "conventions", "convention": "MHA, attn_mask per head"},
    ),
)
