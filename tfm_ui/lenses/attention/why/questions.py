"""Questions of the views on parts, and their answers: computed from what is on screen, and true of any model."""

import numpy as np

from tfm_ui.lenses.attention.graph import Graph, GraphCheck
from tfm_ui.lenses.attention.logit import Logit, LogitHeads
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.score import Why
from tfm_ui.lenses.attention.why.shared import why_no_logit
from tfm_ui.lenses.attention.why.without import WhyWithout
from tfm_ui.lenses.attention.written import Written
from tfm_ui.page.questions import MODEL, Prediction, Question
from tfm_ui.pictures.signed import signed
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

NAMES = "The captain met Mr Darnay and then Mr"
LAB_NAMES = {"weights": "lab-gpt", "text": NAMES}
AFTER_MR = {"layer": 4, "head": 3, "query": 12, "key": 6}  # the last “Mr” looks at what came after the first
AFTER_N = {"layer": 2, "head": 1, "query": 32, "key": 5}  # likewise the last “n” of the text of the run "induction"


def what_made_it_lead(model: ModelState, state: AttentionState) -> str:
    """Which source of the key made the difference to the key looked at second."""
    why = Why(model, state)
    return why.about_lead() or f"{why.about_score()} There is no other key to compare with."


def source_of_lead(model: ModelState, state: AttentionState) -> str:
    """The name of that source; "" if there is no other key."""
    why = Why(model, state)
    return why.parts.key_sources[why.source_of_lead] if why.rival is not None else ""


def layer_of_lead(model: ModelState, state: AttentionState) -> float:
    """The layer, from 1, in which that source wrote; 0 of embeddings, positions and biases."""
    why = Why(model, state)
    return why.parts.key_side[why.source_of_lead].layer + 1 if why.rival is not None else 0


def stands_out(model: ModelState, state: AttentionState) -> str:
    """Whether the largest source of the key stands out."""
    return "yes" if Why(model, state).stands_out else "no"


def without_a_source(model: ModelState, state: AttentionState) -> str:
    """What is left of the weight without the source that is held out, promised and measured."""
    without = WhyWithout(model, state)
    if not without.is_shown:
        return "No source is held out here. Hold one out below the matrix: its weights then stand beside those now."
    return without.sentence()


def weight_without(model: ModelState, state: AttentionState) -> float:
    """The weight of the locked key if the source that is held out is silenced; as it is, if none is held out."""
    without = WhyWithout(model, state)
    if not without.is_shown:
        return float(without.weights[without.column])
    return float([*without.rows.values()][-1][without.column])


def what_was_carried(model: ModelState, state: AttentionState) -> str:
    """What the head took of the tokens that it looked at."""
    written = Written(model, state)
    sums = written.matrix.sum(0)
    if not np.abs(sums).any():
        return written.sentence()
    most = int(np.abs(sums).argmax())
    share = formats.percent(float(abs(sums[most]) / np.abs(sums).sum()))
    return f"{written.sentence()} Over all tokens, {written.wrote.names[most]} is {share} of the sources by size."


def carried_source(model: ModelState, state: AttentionState) -> str:
    """The source from which most of what the head wrote comes, over all tokens."""
    written = Written(model, state)
    return written.wrote.names[int(np.abs(written.matrix.sum(0)).argmax())]


def taken_from(model: ModelState, state: AttentionState) -> str:
    """The token from which the head took most."""
    written = Written(model, state)
    return written.keys[int(np.abs(written.matrix.sum(1)).argmax())]


def what_makes_the_logit(model: ModelState, state: AttentionState) -> str:
    """What heads, networks and embeddings add to the logit."""
    if reason := why_no_logit(model):
        return f"{reason} So nothing is split here."
    return f"{Logit(model, state).sentence()} {LogitHeads(model, state).sentence()}"


def group_of_logit(model: ModelState, state: AttentionState) -> str:
    """Whether heads, networks or embeddings add most to the logit, by size."""
    if why_no_logit(model):
        return ""
    sums = LogitHeads(model, state).groups
    return max(sums, key=lambda name: abs(sums[name]))


def difference_of_logits(model: ModelState, state: AttentionState) -> float:
    """The logit, or the difference, in e-folds."""
    return 0.0 if why_no_logit(model) else float(Logit(model, state).values.sum())


def odds_of_logit(model: ModelState, state: AttentionState) -> str:
    """What the difference of two logits means for their tokens."""
    if reason := why_no_logit(model):
        return f"{reason} So nothing is split here."
    logit = Logit(model, state)
    total = float(logit.values.sum())
    if logit.tokens_asked[1] is None:
        return f"{logit.sentence()} Alone, a logit says nothing: the softmax sees differences. Subtract another."
    times = formats.count(round(np.exp(min(abs(total), 20.0)), 1)) if abs(total) < 20 else "over 400 million"
    return (
        f"{logit.sentence()} A difference of {signed(total)} makes one of the two {times} times as likely as the "
        "other, as the softmax makes e to the difference of it."
    )


def where_it_flows(model: ModelState, state: AttentionState) -> str:
    """The graph in words."""
    if reason := why_no_logit(model):
        return f"{reason} So there is no graph."
    return Graph(model, state).sentence()


def nodes_drawn(model: ModelState, state: AttentionState) -> float:
    """How many nodes the graph has."""
    return 0 if why_no_logit(model) else len(Graph(model, state).graph.nodes)


def promises_kept(model: ModelState, state: AttentionState) -> str:
    """How well the largest edges tell what cutting them does."""
    if reason := why_no_logit(model):
        return f"{reason} So there is no graph."
    return GraphCheck(model, state).sentence()


def promised_to_measured(model: ModelState, state: AttentionState) -> float:
    """The correlation of what edges promise and what cutting them does; 0 of fewer than three."""
    return 0.0 if why_no_logit(model) else GraphCheck(model, state).correlation or 0.0


WHY = (
    Question(
        "No reason at random",
        "Random weights: all that “mat” and “cat” are made of gives something to this score. Does one source of the "
        "key stand out?",
        what_made_it_lead,
        Prediction(ask="Does one stand out?", measured=stands_out, options=("yes", "no"), hides=("why*",)),
        controls={"view": "why", "layer": 2},
        given=MODEL | {"query", "key", "head"},
    ),
    Question(
        "The token before",
        "Trained on letters that repeat, the last “n” looks at “g”, which came after the first “n”. Which source of "
        "“g” tells it?",
        what_made_it_lead,
        Prediction(
            ask="Which source of the key?",
            measured=source_of_lead,
            options=("token embedding", "position", "layer 1, head 1"),
            hides=("why*",),
        ),
        model={"weights": "induction"},
        controls={"view": "why", **AFTER_N},
    ),
    Question(
        "A name goes on",
        "Lab GPT reads “Mr” again, and this head of layer 4 looks at what came after the first. In which layer was "
        "that prepared?",
        what_made_it_lead,
        Prediction(ask="In which layer, 1 to 3?", measured=layer_of_lead, hides=("why*",)),
        model=LAB_NAMES,
        controls={"view": "why", **AFTER_MR},
    ),
    Question(
        "Held out",
        "Silence layer 1, head 1 at “g”, and nothing tells “g” what came before it. How much weight does the last “n” "
        "still give it?",
        without_a_source,
        Prediction(ask="Which weight is left?", measured=weight_without, hides=("why_without",)),
        model={"weights": "induction"},
        controls={"view": "why", **AFTER_N, "from_key": "1.1", "out": "key"},
    ),
)
WRITTEN = (
    Question(
        "What it carries on",
        "The head of layer 4 looks at “D”, to write it after “Mr”. What of “D” does it take: its embedding, or what "
        "others wrote there?",
        what_was_carried,
        Prediction(
            ask="Which source is the largest?",
            measured=carried_source,
            options=("token embedding", "position", "layer 1, network", "layer 3, network"),
            hides=("written*",),
        ),
        model=LAB_NAMES,
        controls={"view": "written", **AFTER_MR},
    ),
    Question(
        "One step back",
        "Opened: layer 1, head 3 wrote at “D” what made “Mr” look there. From which token had it taken it?",
        what_was_carried,
        Prediction(
            ask="From which token?",
            measured=taken_from,
            options=("·Mr", "·D", "·met", "The"),
            hides=("written*", "why*"),
        ),
        model=LAB_NAMES,
        controls={"view": "written", "layer": 1, "head": 3, "query": 6, "key": 5, "trail": "4.3 12>6 k"},
    ),
)
LOGIT = (
    Question(
        "Who says it",
        "After the second “Mr”, Lab GPT’s likeliest token leads the second. Do heads, networks or embeddings add most "
        "to that?",
        what_makes_the_logit,
        Prediction(
            ask="Which adds most?",
            measured=group_of_logit,
            options=("heads", "networks", "embeddings"),
            hides=("logit*",),
        ),
        model=LAB_NAMES,
        controls={"view": "logit", **AFTER_MR},
    ),
    Question(
        "A difference of logits",
        "Random weights: the likeliest next token leads the second by a little. How large is the difference of their "
        "logits?",
        odds_of_logit,
        Prediction(ask="How large is it?", measured=difference_of_logits, hides=("logit*",)),
        controls={"view": "logit"},
        given=MODEL | {"query", "rank", "against"},
    ),
)
GRAPH = (
    Question(
        "The whole pass",
        "From the tokens to the logit after “Mr”: how many heads, networks and tokens carry at least 5% of what goes "
        "into it?",
        where_it_flows,
        Prediction(ask="How many nodes?", measured=nodes_drawn, hides=("attention_graph", "graph*")),
        model=LAB_NAMES,
        controls={"view": "graph", **AFTER_MR},
    ),
    Question(
        "Promised and measured",
        "Each edge says what the logit loses without it. Cut the ten largest: how well do promise and measurement "
        "agree, from −1 to 1?",
        promises_kept,
        Prediction(ask="Which correlation?", measured=promised_to_measured, hides=("graph_check",)),
        model=LAB_NAMES,
        controls={"view": "graph", **AFTER_MR, "share": 3},
    ),
)
