"""Questions of the Attention lens.

What they take for granted, and their answers, are checked in tests/tfm_ui/lenses/attention/test_questions_attention.py.
"""

from tfm_ui.lenses.attention import answers
from tfm_ui.live import lab_heads
from tfm_ui.page.questions import MODEL, Computed, Prediction, Question
from tfm_ui.state import lab_gpt

QUESTIONS = (
    Question(
        "Step by step",
        "Every number here has a history. Click one: which two vectors did it come from?",
        answers.history_of_a_weight,
    ),
    Question(
        "Not scaled",
        "Random weights show scale best. One head as wide as the model, not divided: two thirds of the rows give one "
        "token nearly all. And with √dₖ?",
        answers.without_division,
        model={"d_model": 256, "num_heads": 1},
        page={"scaled": False},
        given=MODEL,
    ),
    Question(
        "Half of the weight",
        "Less than a third of the lines carry half of each row’s weight. Raise the share to 90%: how many does that "
        "take?",
        answers.lines_of_a_share,
        Prediction(ask="Which share of all lines carries 90%, in percent?", measured=answers.share_for_most, unit="%"),
        page={"view": "arcs", "mass": 50},
        moves=("mass",),
        given=MODEL | {"layer", "hide"},
    ),
    Question(
        "Rollout",
        "Multiplied through both layers, every row’s strongest line still leads back to its own token. Which half of "
        "the formula makes it so?",
        answers.rollout,
        page={"view": "arcs", "lines": "rollout", "layer": 2},
        given=MODEL,
    ),
    Question(
        "Lines on prose",
        "Lab GPT on a sentence, layer 2. How few of the lines carry half of each row’s weight, and to which tokens do "
        "they lead?",
        answers.lines_of_a_share,
        Prediction(
            ask="Which share of all lines do you expect, in percent?",
            measured=answers.share_of_lines,
            unit="%",
            hides=("arcs",),
        ),
        model=lab_gpt.ON_PROSE,
        page={"view": "arcs", "layer": 2, "mass": 50},
        moves=("text",),
    ),
    Question(
        "Looks here, contributes there",
        "“was” looks most at “it”, and yet “was” itself contributes most. Which of the two maps says what this head "
        "does?",
        answers.looks_and_takes,
        page={"view": "contribution", "layer": 2, "head": 1, "query": 9, "key": 8},
        moves=("query", "key"),
        given=MODEL,
        link="looks-here-takes-there",  # of its first title
    ),
    Question(
        "A sink",
        "More than half of all weight goes to “cat”, whoever looks; a quarter of what is written comes from there. "
        "What could a head need such a token for?",
        answers.a_sink,
        model={"num_heads": 16, "seed": 2},
        page={"view": "contribution", "layer": 2, "head": 5},
        given=MODEL,
    ),
    Question(
        "Looking and contributing, trained",
        "Lab GPT on a sentence. In how many rows is the token that this head looks at most not the one that "
        "contributes most?",
        answers.looks_and_takes,
        model=lab_gpt.ON_PROSE,
        page={"view": "contribution", "layer": 3, "query": 10, "key": 1},
        moves=("text", "layer", "query", "key"),
        link="looks-and-takes-trained",  # of its first title
    ),
    Question(
        "One weight",
        "One weight of layer 1 was changed: “mat” looks at “cat” with 0.90. Why do tokens after “mat” move too, and "
        "none before it?",
        answers.after_a_change,
        Prediction(
            ask="How many of the tokens have moved at the end?", measured=answers.tokens_moved, hides=("change_stream",)
        ),
        page={"view": "change"},
        given=MODEL | {"changes"},
    ),
    Question(
        "A leak",
        "“sat” was made to look at “it”, five tokens ahead. Drag the weight down to 0: when does the leak end?",
        answers.a_leak,
        page={"view": "change", "changes": "weight 1.1 3>8 0.5", "query": 3, "key": 8},
        moves=("changes", "query", "key"),
        given=MODEL,
        only=lambda model, page: page.changes.startswith("weight 1.1 3>8"),
    ),
    Question(
        "Silence what was learned",
        "Trained on letters that repeat, and in B the head of layer 2 is silenced. How many of the answers are still "
        "right?",
        answers.answers_lost,
        Prediction(ask="How many are right in B?", measured=answers.right_in_b, hides=("change_output",)),
        model={"weights": "induction"},
        page={"view": "change", "layer": 2, "changes": "silence 2.1"},
        moves=("layer",),
    ),
    Question(
        "Silence the copy",
        "Two invented names, each twice, the last broken off. In B the heads of Lab GPT that copy best are silent: "
        "does it still know how the name goes on?",
        answers.what_is_copied,
        Prediction(
            ask="How likely is the name’s next token in B, in percent?",
            measured=answers.percent_in_b,
            unit="%",
            hides=("change_output",),
        ),
        model=lab_gpt.ON_NAMES,
        page=Computed(
            view="change",
            layer=lambda: lab_heads.copying_heads()[0][0],
            head=lambda: lab_heads.copying_heads()[0][1],
            changes=lab_heads.silenced,
        ),
        moves=("layer", "head"),
    ),
    Question(
        "Why √dₖ",
        "Wider vectors have larger dot products. Without √dₖ, at which width has the median largest gradient fallen "
        "below 0.025, a tenth of 1/4?",
        answers.vanishing_gradient,
        Prediction(ask="At which dₖ?", measured=answers.first_width, hides=("scale",)),
        page={"view": "scale"},
    ),
    Question(
        "Your own heads",
        "The circle is the head of your model: random weights, as wide as the model. Do its scores spread as those of "
        "random vectors do?",
        answers.own_scores,
        model={"d_model": 256, "num_heads": 1},
        page={"view": "scale"},
        moves=("d_model",),
        given=("weights",),
    ),
    Question(
        "A blend",
        "The query asks four keys at once. Which part of the answer comes from which of them? Drag the query and see.",
        answers.blend,
        page={"view": "dictionary"},
        only=lambda model, page: len(page.entries.split()) == 4,
    ),
    Question(
        "Longer keys win",
        "The query lies exactly on key A, and yet key B gets more of the weight. What does a dot product measure that "
        "a distance does not?",
        answers.longer_keys,
        page={"view": "dictionary", "entries": "0.8,0.3,10 1.8,0.1,20 -1,0.5,30 0,-1.2,40", "ask": "0.8,0.3"},
    ),
    Question(
        "Nearly a look-up",
        "At temperature 0.1 the best key gets nearly all. How far is the answer from that key’s own value, and what "
        "becomes of it at temperature 1?",
        answers.near_a_look_up,
        page={"view": "dictionary", "temperature": 0.1},
        moves=("temperature",),
        given=("entries", "ask"),
    ),
)
