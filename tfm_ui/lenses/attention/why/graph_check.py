"""What the edges of a graph foretell, beside what happens to the logit when each is cut."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from tfm_core.study.attribution.graph import Edge, Graph, logit_graph
from tfm_core.study.attribution.held_out import measured_edges
from tfm_core.study.attribution.sources import BIASES
from tfm_ui.lenses.attention.why.graph import GraphPanel, graph_of
from tfm_ui.lenses.attention.why.parts import tokens_by_rank
from tfm_ui.lenses.attention.why.streams import streams
from tfm_ui.live.cache import cached
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Source as Function
from tfm_ui.pictures.signed import signed
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MOST, FEWEST = 10, 3  # edges that are cut; edges over which a correlation is told


@cached()
def measured(model: ModelState, position: int, rank: int, against: int, share: int) -> list[float]:
    """How far the logit falls without each of the largest edges of a graph: a pass of the model for each."""
    graph = graph_of(model, position, rank, against, share)
    token, minus = tokens_by_rank(model, position, rank, against)
    recorded = streams(model, weights=True)
    return measured_edges(recorded, graph, cut_edges(graph), position=position, token=token, minus=minus)


def cut_edges(graph: Graph) -> list[Edge]:
    """The largest edges that can be cut: the model cannot do without its biases."""
    return [edge for edge in graph.edges if graph.nodes[edge.source].source.kind != BIASES][:MOST]


def _two_digits(correlation: float) -> str:
    """A correlation: 0.98, −0.20; no 1.00 that is not exactly 1."""
    size = abs(correlation)
    text = "over 0.99" if 0.995 <= size < 1 else f"{size:.2f}"
    if correlation < 0:
        return text.replace("over 0", "under −0") if text.startswith("over") else f"−{text}"
    return text


class GraphCheck(GraphPanel):
    """A dot for each edge: foretold across, measured upwards."""

    name = "attention_graph_check"
    canvas = CHART
    sources: Sequence[Function] = (measured_edges, logit_graph)
    title = "Foretold and measured, when an edge is cut"
    how_to_read = (
        "Each dot is one of the largest edges: across, how far it says the logit falls without it; upwards, how "
        "much it falls when the model runs without it. On the dashed line both are the same."
    )

    @property
    def shape(self) -> str:
        return formats.plural(len(self.edges), "edge")

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges that are cut."""
        return cut_edges(self.graph)

    @cached_property
    def falls(self) -> list[float]:
        """How far the logit falls without each."""
        state = self.state
        return measured(self.model, self.position, state.rank, state.against, state.share)

    @cached_property
    def correlation(self) -> float | None:
        """Pearson's, of what is foretold and what is measured; None over too few edges, or where one does not vary."""
        if len(self.edges) < FEWEST:
            return None
        foretold, falls = np.array([edge.weight for edge in self.edges]), np.array(self.falls)
        if not (foretold.std() and falls.std()):
            return None
        return float(np.corrcoef(foretold, falls)[0, 1])

    def sentence(self) -> str:
        """The correlation, the edge that is furthest from its forecast, and why they differ."""
        if not self.edges:
            return "No edge can be cut here: none is drawn, or all come from biases, without which no part can be."
        count = formats.plural(len(self.edges), "edge")
        apart = np.abs(np.array([edge.weight for edge in self.edges]) - np.array(self.falls))
        at = int(apart.argmax())
        edge, fall = self.edges[at], self.falls[at]
        first = f"Over {count} no correlation is told: they are too few."
        if self.correlation is not None:
            written = _two_digits(self.correlation)
            first = f"What is foretold and what is measured have the correlation {written} over {count}."
        elif len(self.edges) >= FEWEST:
            first = f"All {count} are alike, so no correlation is told."
        if signed(edge.weight) == signed(fall):
            return f"{first} Each forecast comes true."
        furthest = f"Furthest apart: {self.edge_name(edge)}, foretold {signed(edge.weight)}, measured {signed(fall)}."
        return f"{first} {furthest} {self._why()}"

    def _why(self) -> str:
        """Why a forecast does not come true."""
        why = "They differ because norms then divide by another number, and later layers answer."
        exact = "" if self.has_final_norm else " Edges into the logit are exact, as there is no norm before it."
        return f"{why}{exact}"

    @property
    def has_final_norm(self) -> bool:
        """Whether a norm stands between the last vectors and the logits."""
        return self.model.config.norm == "pre"

    def table(self) -> pd.DataFrame:
        """A row per edge that is cut."""
        names = pd.Index([self.edge_name(edge) for edge in self.edges], name="edge")
        columns = {"foretold": [edge.weight for edge in self.edges], "measured": self.falls if self.edges else []}
        return pd.DataFrame(columns, index=names, dtype=np.float64)

    def picture(self) -> Content:
        """The dots, and the line on which forecasts come true."""
        foretold, falls = [edge.weight for edge in self.edges], self.falls if self.edges else []
        ends = [min([0.0, *foretold, *falls]), max([0.0, *foretold, *falls])]
        says = [
            f"{self.edge_name(edge)}: foretold {signed(edge.weight)}, measured {signed(fall)}"
            for edge, fall in zip(self.edges, falls, strict=True)
        ]
        drawn = [
            Line("as foretold", ends, ends, "muted", style="dashed"),
            Line("edge", foretold, falls, "result", style="dots", says=says),
        ]
        chart = Chart(x="foretold, logits", y="measured: the logit falls by", lines=drawn if self.edges else [])
        return lines.content([chart] if self.edges else [])
