"""Questions of the Heads lens. tests/tfm_ui/lenses/heads/test_presets_heads.py checks what their questions say."""

from tfm_ui.page.questions import Question

QUESTIONS = (
    Question(
        "First look",
        "The first row of every head is 1.00 and nothing else. Why could no training change that?",
    ),
    Question(
        "Who saw whom?",
        "Positions are off: all four rows of “the” are alike to the last digit, in every head. "
        "How could this model ever tell who saw whom?",
        model={
            "text": "the dog saw the man and the man saw the dog",
            "seq_len": 11,
            "positional": "none",
            "causal": False,
        },
    ),
    Question(
        "Looking ahead",
        "Causal is off, and about half of all weight now goes to tokens that come later. "
        "In which tasks would that be cheating?",
        model={"causal": False},
    ),
    Question(
        "Many heads",
        "Sixteen heads share a width of 32: each compares tokens by 2 numbers. "
        "Are they alike? Find the sharpest and the bluntest.",
        model={"num_heads": 16},
    ),
    Question(
        "A long text",
        "ALiBi takes more from a score the further away its key is, at a rate of its own in each head. "
        "Which head is the most short-sighted, and which barely notices?",
        model={"text": "@alice", "seq_len": 512, "num_layers": 4, "num_heads": 8, "positional": "alibi"},
    ),
    Question(
        "Two texts",
        "Each German word looks at English ones, and no cell is masked. Why may it look ahead here?",
        model={"architecture": "encoder-decoder"},
        page={"kind": "cross"},
    ),
)
