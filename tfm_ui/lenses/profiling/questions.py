"""Questions of the Profiling lens, in the order of its views.

What they take for granted is computed in tests/tfm_ui/lenses/profiling/test_questions_profiling.py, and their answers
are tested in test_answers_profiling.py beside it.
"""

from tfm_ui.lenses.profiling import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS = (
    Question(
        "First look",
        "Rows 2, 4 and 5 have the same parameters, only longer texts. Measure: what does their time follow, if not "
        "parameters?",
        answers.same_parameters,
        Prediction(
            ask="How many times as much does the one of them that costs most cost as the one that costs least?",
            measured=answers.growth_of_cost,
            unit="×",
            hides=("profiling_parameters", "profiling_table"),
        ),
        given=("sizes", "targets"),
    ),
    Question(
        "With or without weights",
        "One model three times: every weight kept, none kept, torch’s fused kernel. What do weights cost in memory, "
        "and can the times be told apart at all?",
        answers.price_of_weights,
        page={"sizes": "128, 8, 4, 200", "targets": "with weights,without weights,fused"},
    ),
    Question(
        "Not only transformers",
        "As many parameters each, at 50 tokens and at 200. Whose time grows 4 times with 4 times the tokens, and whose "
        "more?",
        answers.growth_with_length,
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 200", "targets": "with weights,LSTM,GRU,convolution"},
    ),
    Question(
        "A textbook’s sizes",
        "A textbook’s three sizes have 163,968, 921,088 and 4,994,560 parameters. From row to row, does the time grow "
        "as much as they do?",
        answers.parameters_and_time,
        model={"norm": "post", "activation": "relu", "causal": False},
        page={
            "sizes": "64, 4, 2, 50\n128, 8, 4, 50\n256, 8, 6, 50",
            "count_embedding": True,
            "vocabulary": 1000,
        },
        given=("targets", "d_ff", "positional", "architecture"),
    ),
    Question(
        "The same twice",
        "One configuration as two rows. How far apart are their medians, and what does the interval of their ratio "
        "say?",
        answers.the_same_twice,
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 50"},
        given=("targets",),
    ),
    Question(
        "Four times the length",
        "Four times the tokens need 16 times the FLOPs of products with scores, and 4 times those of all else. What is "
        "it in time: nearer 4, or nearer 16?",
        answers.four_times_the_length,
        Prediction(
            ask="With 4 times the tokens at the end, how many times the cost?",
            measured=answers.growth_of_time,
            unit="×",
        ),
        page={"view": "length"},
    ),
    Question(
        "Never written down",
        "A fused kernel never holds all n² weights at once. By how much does its memory grow with twice the length, "
        "and by how much its time?",
        answers.never_written_down,
        page={"view": "length", "target": "fused"},
    ),
    Question(
        "Overtaken",
        "From 257 tokens on, products with scores have more FLOPs than this feed-forward network. At which length "
        "does the clock say so?",
        answers.overtaken,
        model={"d_model": 64, "d_ff": 256},
        page={"view": "length", "longest": 1024},
        moves=("longest",),
        given=("target",),
    ),
    Question(
        "Where most of it is",
        "Which part of this model has most parameters, and which has operations without a single parameter? Predict, "
        "then compare the charts.",
        answers.where_most_is,
        Prediction(
            ask="Which part has most parameters?",
            measured=answers.largest_part,
            options=answers.NAMED_PARTS,
            hides=("profiling_parts_parameters",),
        ),
        page={"view": "parts"},
    ),
    Question(
        "Free in FLOPs",
        "Softmax and norms count no FLOPs at all. Which share of the time do they take at 200 tokens?",
        answers.free_in_flops,
        page={"view": "parts", "row": 5},
        given=("sizes", "targets"),
    ),
    Question(
        "Under one roof",
        "Row 5 does the fewest operations for each byte that it must move, row 3 the most. "
        "Which of them comes closer to what this machine can do?",
        answers.under_one_roof,
        Prediction(
            ask="How many operations does the row with the fewest do for each byte?",
            measured=answers.fewest_per_byte,
            hides=("profiling_roofline",),
        ),
        page={"view": "roofline"},
        given=("sizes", "targets", "batch", "d_ff", "norm", "activation", "architecture"),
    ),
    Question(
        "One sequence",
        "With batch 1 each weight that is read serves one sequence, with batch 16 sixteen of them. Which row’s "
        "operations for each byte change most?",
        answers.one_sequence,
        page={"view": "roofline", "batch": 1},
        given=("sizes",),
    ),
)
