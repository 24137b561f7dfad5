"""The view "graph": all of a pass for one logit as a graph, and whether its edges keep what they promise."""

from collections.abc import Sequence

from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.why.graph import Graph
from tfm_ui.lenses.attention.why.graph_check import GraphCheck
from tfm_ui.lenses.attention.why.shared import why_no_logit
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState


def _instead(model: ModelState, state: AttentionState) -> Sequence[Note]:
    reason = why_no_logit(model)
    return [Note(reason)] if reason else []


VIEW: View[AttentionState] = View(
    title="Whole pass",
    tab="why",
    choice="Whole pass",
    shows=[Graph, GraphCheck],
    controls=("rank", "against", "share"),
    line="line_graph",
    reads_pass=True,
    instead=_instead,
)
