"""Questions of the Heads lens. tests/tfm_ui/lenses/heads/test_questions_heads.py checks what they say."""

from tfm_ui.lenses.heads import answers, prose
from tfm_ui.live import lab_heads
from tfm_ui.page.questions import Computed, Prediction, Question
from tfm_ui.state import lab_gpt

QUESTIONS = (
    Question(
        "First row",
        "The first row of every head is 1.00 and nothing else. Why could no training change that?",
        answers.first_row,
        only=lambda model, page: model.looks_back_only and not model.is_encoder_decoder,
    ),
    Question(
        "Who saw whom?",
        "Positions are off: all four rows of “the” are alike to the last digit, in every head. How could this model "
        "ever tell who saw whom?",
        answers.order_is_lost,
        model={
            "text": "the dog saw the man and the man saw the dog",
            "seq_len": 11,
            "positional": "none",
            "causal": False,
        },
        given=("architecture", "tokenizer"),
    ),
    Question(
        "Looking ahead",
        "Causal is off. How much of all weight goes to tokens that come later, and in which tasks would that be "
        "cheating?",
        answers.ahead,
        Prediction(
            ask="What percentage of all weight goes to later tokens?",
            measured=lambda model, state: 100 * answers.weight_ahead(model, state),
            unit="%",
        ),
        model={"causal": False},
        given=("architecture",),
    ),
    Question(
        "Many heads",
        "Sixteen heads share a width of 32: each compares tokens by 2 numbers. Are they alike? Find the sharpest and "
        "the bluntest.",
        answers.sharpest_and_bluntest,
        model={"num_heads": 16},
        given=("d_model",),
    ),
    Question(
        "A long text",
        "ALiBi lowers a score the further away its key is, in each head at another rate. Which head is the most "
        "short-sighted, and which looks furthest?",
        answers.sight,
        model={"text": "@alice", "seq_len": 512, "num_layers": 4, "num_heads": 8, "positional": "alibi"},
        moves=("text", "seq_len", "num_layers", "num_heads"),
    ),
    Question(
        "Two texts",
        "Each German word looks at English ones, and no cell is masked. Why may it look ahead here?",
        answers.two_texts,
        model={"architecture": "encoder-decoder"},
        page={"kind": "cross"},
        given=("text", "target"),
    ),
    Question(
        "A head with a job",
        "Trained on letters that repeat. One head looks at what came after its own letter last time: in which layer "
        "is it, and what does the other do?",
        answers.looks_where_it_should,
        Prediction(ask="In which layer is it?", measured=answers.best_layer, options=("layer 1", "layer 2", "none")),
        model={"weights": "induction"},
        page={"layer": 2},
        moves=("layer",),
    ),
    Question(
        "The token before",
        "On random tokens, this head of Lab GPT looks most at the token before. How much of its weight goes there in a "
        "sentence?",
        prose.looks_at_previous,
        Prediction(ask="What percentage of its weight?", measured=prose.percent_on_previous, unit="%"),
        model=lab_gpt.ON_PROSE,
        page=Computed(
            layer=lambda: lab_heads.previous_token_head()[0], head=lambda: lab_heads.previous_token_head()[1]
        ),
        moves=("text",),
    ),
    Question(
        "The first token",
        "Lab GPT again. In how many heads do most rows look at the first token above all? What could a head gain by "
        "looking there?",
        prose.looks_at_first,
        Prediction(ask="In how many heads?", measured=prose.heads_on_first),
        model=lab_gpt.ON_PROSE,
        moves=("text",),
    ),
    Question(
        "What came last time",
        "Two invented names, each twice. Does this head of Lab GPT look at what came after its own token last time, as "
        "whoever copies must?",
        prose.looks_behind,
        model=lab_gpt.ON_NAMES,
        page=Computed(layer=lambda: lab_heads.copying_heads()[0][0], head=lambda: lab_heads.copying_heads()[0][1]),
    ),
)
