"""Questions of the Profiling lens.

What they take for granted, and their answers, are checked in tests/tfm_ui/lenses/profiling/test_questions_profiling.py.
"""

from tfm_ui.lenses.profiling import answers
from tfm_ui.page.questions import Prediction, Question

QUESTIONS = (
    Question(
        "Same parameters",
        "Rows 2, 4 and 5 have the same parameters, only longer texts. What does their time follow, if not parameters?",
        answers.costs_of_rows,
        Prediction(
            ask="How many times the fewest FLOPs of a row are the most?", measured=answers.flops_ratio, unit="×"
        ),
    ),
    Question(
        "With or without weights",
        "One model three times: every weight kept, none kept, torch’s fused kernel. What do weights cost in memory, "
        "and can the times be told apart at all?",
        answers.ratios,
        page={"sizes": "128, 8, 4, 200", "targets": "with weights,without weights,fused"},
    ),
    Question(
        "Not only transformers",
        "As many parameters each, at 50 tokens and at 200. Whose time grows 4 times with 4 times the tokens, and whose "
        "more?",
        answers.ratios,
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 200", "targets": "with weights,LSTM,GRU,convolution"},
    ),
    Question(
        "A textbook’s sizes",
        "With embedding and output: 163,968, 921,088 and 4,994,560 parameters. From row to row, does the time grow as "
        "much as they do?",
        answers.costs_of_rows,
        model={"norm": "post", "activation": "relu", "causal": False},
        page={
            "sizes": "64, 4, 2, 50\n128, 8, 4, 50\n256, 8, 6, 50",
            "embedding": True,
            "vocabulary": 1000,
        },
    ),
    Question(
        "The same twice",
        "One configuration as two rows. How far apart are the medians, and what does the interval of the ratio say?",
        answers.same_twice,
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 50"},
    ),
    Question(
        "Four times the length",
        "Four times the tokens are 16 times the FLOPs of scores and weights × values, and 4 times those of all else. "
        "What is it in time: nearer 4, or nearer 16?",
        answers.time_by_length,
        page={"view": "length"},
    ),
    Question(
        "Never written down",
        "A fused kernel never holds all n² weights at once. By how much does its memory grow with twice the length?",
        answers.memory_by_length,
        page={"view": "length", "target": "fused"},
    ),
    Question(
        "Overtaken",
        "From 257 tokens on, products with scores have more FLOPs than this feed-forward network. At which length does "
        "the clock say so?",
        answers.parts_by_length,
        model={"d_model": 64, "d_ff": 256},
        page={"view": "length", "longest": 1024},
    ),
    Question(
        "Which part?",
        "Three bars for each part of one model: parameters, FLOPs, time. Which part is the largest, and is it the same "
        "one in all three?",
        answers.where_parameters_are,
        Prediction(
            ask="How many percent of the FLOPs are products with scores?", measured=answers.share_of_attention, unit="%"
        ),
        page={"view": "parts"},
    ),
    Question(
        "Free in FLOPs",
        "Softmax and norms count no FLOPs at all. Which share of the time do they take at 200 tokens?",
        answers.where_time_goes,
        page={"view": "parts", "row": 5},
    ),
    Question(
        "Under one roof",
        "Row 5 does the fewest operations for each byte that it must move, row 3 the most. Which of them comes closer "
        "to what this machine can do?",
        answers.under_the_roof,
        page={"view": "roofline"},
    ),
    Question(
        "One at a time",
        "With a batch of 1 each weight that is read serves few tokens. How far do the rows move towards the limit that "
        "memory sets?",
        answers.intensity,
        page={"view": "roofline", "batch": 1},
    ),
)
