"""The view "graph": all of a pass for one logit as a graph, and whether what its edges foretell comes true."""

from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.graph import Graph
from tfm_ui.lenses.attention.why.graph_check import GraphCheck
from tfm_ui.lenses.attention.why.panel import AFTER_MR, NAMES, instead_of_a_logit
from tfm_ui.lenses.attention.why.parts import why_no_logit
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Prediction, Question
from tfm_ui.state.model_state import ModelState


def where_it_flows(model: ModelState, state: AttentionState) -> str:
    """The graph in words."""
    if reason := why_no_logit(model):
        return f"{reason} So there is no graph."
    return Graph(model, state).sentence()


def nodes_drawn(model: ModelState, state: AttentionState) -> float:
    """How many nodes the graph has."""
    return 0 if why_no_logit(model) else len(Graph(model, state).graph.nodes)


def edges_measured(model: ModelState, state: AttentionState) -> str:
    """How well the largest edges tell what cutting them does."""
    if reason := why_no_logit(model):
        return f"{reason} So there is no graph."
    return GraphCheck(model, state).sentence()


def correlation(model: ModelState, state: AttentionState) -> float:
    """The correlation of what edges foretell and what cutting them does; 0 of fewer than three."""
    return 0.0 if why_no_logit(model) else GraphCheck(model, state).correlation or 0.0


QUESTIONS = (
    Question(
        "The whole pass",
        "From the tokens to the logit after “Mr”: how many heads, networks and tokens carry at least 5% of what goes "
        "into it?",
        where_it_flows,
        Prediction(ask="How many nodes?", measured=nodes_drawn, hides=("attention_graph",)),
        model=NAMES,
        controls={"view": "graph", "query": AFTER_MR["query"]},
        because="single parts are known now, and a graph shows them together, from token to logit.",
    ),
    Question(
        "Foretold and measured",
        "Each edge says what the logit loses without it. Cut the ten largest: how well do forecast and measurement "
        "agree, from −1 to 1?",
        edges_measured,
        Prediction(ask="Which correlation?", measured=correlation, hides=("attention_graph_check",)),
        model=NAMES,
        controls={"view": "graph", "query": AFTER_MR["query"], "share": 3},
        because="each edge of the graph is a forecast, and only cutting it shows whether it holds.",
    ),
)


VIEW: View[AttentionState] = View(
    title="Whole pass",
    tab="why",
    choice="Whole pass",
    exercise="rollout",
    shows=[Graph, GraphCheck],
    controls=("rank", "against", "share"),
    line="line_graph",
    reads_pass=True,
    questions=QUESTIONS,
    instead=instead_of_a_logit,
)
