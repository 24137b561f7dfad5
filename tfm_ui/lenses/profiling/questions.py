"""Questions of the Profiling lens.

What their questions take for granted is computed in tests/tfm_ui/lenses/profiling/test_presets_profiling.py.
"""

from tfm_ui.page.questions import Question

QUESTIONS = (
    Question(
        "First look",
        "Rows 2, 4 and 5 have the same parameters, only longer texts. What does their time follow, if not parameters?",
    ),
    Question(
        "With or without weights",
        "One model three times: every weight kept, none kept, torch’s fused kernel. What do weights cost in memory, "
        "and can the times be told apart at all?",
        page={"sizes": "128, 8, 4, 200", "targets": "with weights,without weights,fused"},
    ),
    Question(
        "Not only transformers",
        "As many parameters each, at 50 tokens and at 200. Whose time grows 4 times with 4 times the tokens, and whose "
        "more?",
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 200", "targets": "with weights,LSTM,GRU,convolution"},
    ),
    Question(
        "A textbook’s sizes",
        "1,000 token ids, post-norm, ReLU, one matrix for embedding and output: 163,968, 921,088 and 4,994,560 "
        "parameters. From row to row, does the time grow as much as they do?",
        model={"norm": "post", "activation": "relu", "causal": False},
        page={
            "sizes": "64, 4, 2, 50\n128, 8, 4, 50\n256, 8, 6, 50",
            "embedding": True,
            "vocabulary": 1000,
        },
    ),
    Question(
        "The same twice",
        "One configuration as two rows. How far apart are their medians, and what says the interval of their ratio?",
        page={"sizes": "128, 8, 4, 50\n128, 8, 4, 50"},
    ),
    Question(
        "Four times the length",
        "Four times the tokens are 16 times the FLOPs of scores and weights × values, and 4 times those of all else. "
        "What is it in time: nearer 4, or nearer 16?",
        page={"view": "length"},
    ),
    Question(
        "Never written down",
        "A fused kernel never holds all n² weights at once. By how much does its memory grow with twice the length, "
        "and by how much its time?",
        page={"view": "length", "target": "fused"},
    ),
    Question(
        "Overtaken",
        "From 257 tokens on, products with scores have more FLOPs than this feed-forward network. "
        "At which length does the clock say so, and what does it count that FLOPs do not?",
        model={"d_model": 64, "d_ff": 256},
        page={"view": "length", "longest": 1024},
    ),
    Question(
        "Free in FLOPs",
        "Softmax and norms count no FLOPs at all. Which share of the time do they take at 200 tokens?",
        page={"view": "parts", "row": 5},
    ),
    Question(
        "Under one roof",
        "Row 5 does the fewest operations for each byte that it must move, row 3 the most. "
        "Which of them comes closer to what this machine can do?",
        page={"view": "roofline"},
    ),
)
