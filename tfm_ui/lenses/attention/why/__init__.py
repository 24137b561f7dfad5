"""The view "why": the score of the locked cell in parts, and the weights without a source."""

from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.panel import AFTER_MR, NAMES, HeadMap
from tfm_ui.lenses.attention.why.score import Why, WhyKey, WhyLead, WhyQuery
from tfm_ui.lenses.attention.why.without import WithoutKey, WithoutQuery, held_out_in
from tfm_ui.page.lens import View
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState

CHOICES = ("token embedding", "position", "layer 1, head 1", "another")
AFTER_N = {"layer": 2, "head": 1, "query": 32, "key": 5}  # in the run "induction": what came after an earlier “n”


def what_made_it_lead(model: ModelState, state: AttentionState) -> str:
    """Which source of the key made the difference to the key looked at second."""
    why = Why(model, state)
    return why.about_lead() or f"{why.about_score()} There is no other key to compare with."


def stands_out(model: ModelState, state: AttentionState) -> str:
    """Whether the largest source of the key stands out."""
    return "yes" if Why(model, state).stands_out else "no"


def lead_source(model: ModelState, state: AttentionState) -> str:
    """The source of the key that makes most of its lead, if it is one of those to choose from."""
    source = Why(model, state).lead_source
    return source if source in CHOICES else CHOICES[-1]


def lead_layer(model: ModelState, state: AttentionState) -> float:
    """The layer in which that source wrote."""
    return Why(model, state).lead_layer


def without_a_source(model: ModelState, state: AttentionState) -> str:
    """What is left of the weight without the source that is held out, expected and measured."""
    return held_out_in(model, state).sentence()


def weight_left(model: ModelState, state: AttentionState) -> float:
    """What is left of the weight, measured."""
    return held_out_in(model, state).weight_left


QUESTIONS = (
    Question(
        "No reason at random",
        "Random weights: all that “mat” and “cat” are made of gives something to this score. Does one source of the "
        "key stand out?",
        what_made_it_lead,
        Prediction(ask="Does one stand out?", measured=stands_out, options=("yes", "no"), hides=("why*",)),
        controls={"view": "why", "layer": 2},
        given=MODEL | {"query", "key", "head"},
        because="both maps say what a head does, and none says why it looks there.",
    ),
    Question(
        "The token before",
        "Trained on letters that repeat, the last “n” looks at “g”, which came after the first “n”. Which source of "
        "“g” tells it?",
        what_made_it_lead,
        Prediction(
            ask="Which source of the key?",
            measured=lead_source,
            options=CHOICES,
            hides=("why*",),
        ),
        model={"weights": "induction"},
        controls={"view": "why", **AFTER_N},
        because="training can give a score one clear reason, where random weights had none.",
    ),
    Question(
        "A name goes on",
        "Lab GPT reads “Mr” again, and this head of layer 4 looks at what came after the first. In which layer was "
        "that prepared?",
        what_made_it_lead,
        Prediction(ask="In which layer, 1 to 3?", measured=lead_layer, hides=("why*",)),
        model=NAMES,
        controls={"view": "why", **AFTER_MR},
        because="the same search works in a language model, where earlier layers prepare the match.",
    ),
    Question(
        "Held out",
        "Silence layer 1, head 1 at “g”, and nothing tells “g” what came before it. How much weight does the last “n” "
        "still give it?",
        without_a_source,
        Prediction(ask="Which weight is left?", measured=weight_left, hides=("why_without_key",)),
        model={"weights": "induction"},
        controls={"view": "why", **AFTER_N, "from_key": "1.1", "out": "key"},
        because="a source that looks like the reason is proved only by taking it away.",
    ),
)

VIEW: View[AttentionState] = View(
    title="Why",
    choice="Score",
    exercise="score-parts",
    shows=[
        Columns([[WhyQuery, WithoutQuery], [Why], [WhyKey, WithoutKey]], widths=(3, 5, 3)),
        Columns([[HeadMap], [WhyLead]], widths=(4, 5)),
    ],
    controls=("kind", "layer", "head"),
    line="line_why",
    reads_pass=True,
    questions=QUESTIONS,
)
