"""Questions of the Masks lens.

What they take for granted, and their answers, are checked in tests/tfm_ui/lenses/masks/test_questions_masks.py.
"""

from tfm_ui.lenses.masks import answers
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.state import lab_gpt

QUESTIONS = (
    Question(
        "Hidden columns",
        "Some of these columns are grey from top to bottom. Which mask hides them, and where does the weight go that "
        "they would have got?",
        answers.hidden_columns,
        Prediction(ask="How many columns does no row see?", measured=answers.columns_hidden),
        given=MODEL | {"texts", "item", "mask", "paint"},
    ),
    Question(
        "Sliding window",
        "Each word sees itself and the two before it. The tenth sees three words in layer 1: of how many can its "
        "vector hold something after two layers?",
        answers.heard_of,
        Prediction(ask="Of how many words?", measured=answers.heard_of_after_all_layers),
        page={"mask": "window 3", "item": 1},
        given=("text", "seq_len", "num_layers", "causal", "tokenizer", "paint"),
    ),
    Question(
        "Longformer",
        "Every word sees two neighbours on each side; the first sees all, and all see it. How many layers until every "
        "word has heard of every other?",
        answers.layers_needed,
        model={"causal": False},
        page={"mask": "window 3 or global 1", "item": 1},
        given=("text", "tokenizer", "paint"),
    ),
    Question(
        "Packed documents",
        "Three documents share one row, and none sees another. Paint one cell that lets a document look into the one "
        "before it: which weights move?",
        answers.one_cell,
        page={"mask": "documents 4 3", "item": 1},
        given=("text", "seq_len", "tokenizer", "causal"),
    ),
    Question(
        "Trained to see all",
        "Trained to reverse ten digits, each looking wherever it wants. Now nobody may look ahead: which answers are "
        "lost?",
        answers.answers_under_mask,
        Prediction(ask="How many of the ten are still right?", measured=answers.right_under_mask),
        model={"weights": "reverse"},
        page={"mask": "causal and padding", "item": 1},
        given=("paint",),
    ),
    Question(
        "A window on prose",
        "Lab GPT was trained to see all that came before. Here each token sees itself and one before it: does it still "
        "say the same next?",
        answers.said_under_mask,
        Prediction(ask="Is the likeliest token the same?", measured=answers.says_the_same, options=("yes", "no")),
        model=lab_gpt.ON_PROSE,
        page={"mask": "window 2", "item": 1},
        moves=("text",),
        given=("paint",),
    ),
    Question(
        "A window on names",
        "Two invented names, each twice, the last broken off. Here no token sees further back than three: does Lab GPT "
        "say the same next?",
        answers.said_under_mask,
        Prediction(ask="Is the likeliest token the same?", measured=answers.says_the_same, options=("yes", "no")),
        model=lab_gpt.ON_NAMES,
        page={"mask": "window 4", "item": 1},
        given=("paint",),
    ),
    Question(
        "No leak",
        "Each row changes one token and measures which outputs move. Is there a cell that moved though the masks "
        "forbid it?",
        answers.leaks,
        Prediction(
            ask="How many pairs leak?",
            measured=answers.count_of_leaks,
            hides=("masks_leaks", "masks_leaks_distance", "masks_leaks_layers"),
        ),
        page={"view": "leaks", "item": 1},
        moves=("item",),
    ),
    Question(
        "Leaky by one",
        "The causal mask was shifted by one: a single diagonal too many. Through two layers, how far ahead can a token "
        "see?",
        answers.how_far_ahead,
        model={"causal": False},
        page={"view": "leaks", "mask": "causal 1 and padding", "promise": "causal and padding", "item": 1},
        given=("num_layers", "paint"),
    ),
    Question(
        "Through the window",
        "A window of 2 lets each token see itself and one neighbour on each side. After which layer has the first of "
        "eight words reached the last?",
        answers.first_to_last,
        Prediction(
            ask="After which layer?",
            measured=answers.layer_of_arrival,
            hides=("masks_leaks_distance", "masks_leaks_layers"),
        ),
        model={"causal": False, "seq_len": 8, "num_layers": 8},
        page={"view": "leaks", "mask": "window 2", "item": 1},
        given=("paint",),
    ),
    Question(
        "One cell too many",
        "A causal mask, and one cell painted by hand: token 2 may look at token 9. Through two layers, how many pairs "
        "leak?",
        answers.leaks,
        Prediction(
            ask="How many pairs leak?",
            measured=answers.count_of_leaks,
            hides=("masks_leaks", "masks_leaks_distance", "masks_leaks_layers"),
        ),
        page={"view": "leaks", "mask": "", "paint": "2x9.TAAAACQ", "item": 1},
        given=("causal", "num_layers"),
    ),
    Question(
        "Padding on the right",
        "The sentence runs alone, and in a batch beside five PADs, hidden and not hidden. Why do its outputs stay the "
        "same in all three runs?",
        answers.pads_unhidden,
        page={"view": "padding"},
        given=("text", "seq_len", "texts", "causal", "mask", "pad_side", "paint"),
    ),
    Question(
        "Without the mask",
        "Nothing hides five PADs, and they take a quarter of a token’s weight. Which of the outputs move? Would you "
        "notice it if the loss still went down?",
        answers.pads_unhidden,
        model={"causal": False},
        page={"view": "padding"},
        given=MODEL | {"texts", "mask", "pad_side", "paint"},
    ),
    Question(
        "One NaN",
        "Five rows of padding have no key, and no token may look at them. A layer later every token is NaN. What is "
        "0 × NaN?",
        answers.nan,
        page={"view": "padding", "mask": "cross"},
        given=("text", "seq_len", "texts", "pad_side"),
    ),
    Question(
        "One row per sentence",
        "This call takes one row for each sentence. Which cells of our mask can it not say?",
        answers.can_it_be_said,
        Prediction(
            ask="How many cells of the whole batch can it not say?",
            measured=answers.cells_lost,
            hides=("conventions", "masks_handed", "masks_code", "masks_ours.words", "masks_foreign.words"),
        ),
        page={"view": "conventions"},
        given=("convention",),
    ),
    Question(
        "Which way round?",
        "The same booleans can mean the opposite elsewhere, and no call complains. Which calls give NaN, and for "
        "how many queries?",
        answers.slip,
        page={"view": "conventions", "convention": "MHA, attn_mask per head"},
    ),
)
