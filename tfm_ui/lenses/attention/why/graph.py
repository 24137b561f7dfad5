"""The graph of a pass for one logit: which sources at which tokens it goes through, and what each gives each other."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.study.attribution.flow import flow_to
from tfm_core.study.attribution.graph import Edge, Node, logit_graph
from tfm_core.study.attribution.graph import Graph as PassGraph
from tfm_core.study.attribution.graph_file import graph_json
from tfm_core.study.attribution.sources import BIASES, CROSS, EMBEDDING, NETWORK, POSITION, TYPES
from tfm_core.study.attribution.streams import record
from tfm_ui.lenses.attention.why.graph_picture import GRAPH, Stack, content
from tfm_ui.lenses.attention.why.panel import LogitPanel
from tfm_ui.lenses.attention.why.parts import tokens_by_rank
from tfm_ui.lenses.attention.why.streams import logits_at, needs_all, ranked, streams, token_name, token_piece
from tfm_ui.live.cache import cached
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.step import Step
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.heatmaps import numbered
from tfm_ui.pictures.panel import NO_FILES, Files
from tfm_ui.pictures.panel import Source as Function
from tfm_ui.pictures.signed import signed
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels
from tfm_ui.text.ties import one_of_ties, places_of_largest

LETTERS = {EMBEDDING: "E", TYPES: "T", POSITION: "P", NETWORK: "N", BIASES: "b"}  # in the circles of what is no head
LOGIT, NO_TOKEN = "the logit", "–"
TOLERANCE = 1e-3  # of the size of a graph, by which its logit may differ from the model's
BY_CHANCE = "These weights are random: the graph shows how numbers flow, and nothing about language."


def edge_weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    position: int,
    token: int,
    minus: int | None,
    share: float,
) -> Tensor:
    """The weights of the edges, the largest first by size, (edge)."""
    model = Transformer(config).eval()
    recorded = record(model, *inputs, mask=mask, weights=True)
    graph = logit_graph(recorded, position=position, token=token, minus=minus, share=share)
    weights = torch.tensor([edge.weight for edge in graph.edges], dtype=torch.float64)  # (edge)
    return weights


@cached()
def graph_of(model: ModelState, position: int, rank: int, against: int, share: int) -> PassGraph:
    """The graph for a logit by rank, minus that of another; the share of a node in percent. Shared: never change it."""
    token, minus = tokens_by_rank(model, position, rank, against)
    return logit_graph(streams(model, weights=True), position=position, token=token, minus=minus, share=share / 100)


def code_of(node: Node) -> str:
    """A node as a link names it: "1.4@5", "e1n@2", "biases@0"."""
    stack = "e" if node.source.stack == "encoder" else ""
    return f"{stack}{node.source.code}@{node.position + 1}"


class GraphPanel(LogitPanel):
    """A panel on the graph of the pass for the logit that the controls name."""

    needs = needs_all

    @property
    def slow(self) -> bool:
        """A way down and a way up through all layers, beside the pass."""
        return self.model.is_heavy

    @cached_property
    def graph(self) -> PassGraph:
        """The nodes and edges that are drawn."""
        state = self.state
        return graph_of(self.model, self.position, state.rank, state.against, state.share)

    @property
    def tensors(self) -> Step:
        kind = "decoder" if self.model.is_encoder_decoder else "self"
        note = "The graph holds these weights fixed. Its nodes and edges are in the file graph.json."
        step = live_steps.heads(self.model, kind)
        return step.also(note="" if self.model.is_encoder_decoder else note)

    @cached_property
    def node_names(self) -> list[str]:
        """Each node in words, with its token: "layer 1, head 4 at “mat”"."""
        names = []
        for node in self.graph.nodes:
            at = "" if node.source.kind == BIASES else f" at “{self._labels(node)[node.position]}”"
            names.append(f"{node.source.name}{at}")
        return names

    def _labels(self, node: Node) -> list[str]:
        return self.labels_by_stack[node.source.stack]

    @cached_property
    def labels_by_stack(self) -> dict[str, list[str]]:
        """The labels of the tokens that each stack reads."""
        if not self.model.is_encoder_decoder:
            return {"": token_labels.labels(self.model.source_tokens)}
        source, target = self.model.source_tokens, self.model.target_tokens
        return {"encoder": token_labels.labels(source), "decoder": token_labels.labels(target)}

    def edge_name(self, edge: Edge) -> str:
        """Where an edge leads from and to."""
        to = LOGIT if edge.target < 0 else self.node_names[edge.target]
        return f"{self.node_names[edge.source]} → {to}"


class Graph(GraphPanel):
    """The graph from the tokens up to the logit."""

    name = "attention_graph"
    canvas = GRAPH
    sources: Sequence[Function] = (logit_graph, flow_to)
    locked = True

    @property
    def title(self) -> str:
        token, minus = self.tokens_asked
        less = "" if minus is None else f" − {token_name(self.model, minus)}"
        return f"What leads to {token_name(self.model, token)}{less} after {self.at}"

    @property
    def shape(self) -> str:
        nodes, edges = len(self.graph.nodes), len(self.graph.edges)
        return f"{formats.plural(nodes, 'node')}, {formats.plural(edges, 'edge')}"

    @property
    def how_to_read(self) -> str:
        return (
            "A node is what a head (its number), a network (N) or a token’s embedding (E) or position (P) wrote there; "
            "its area is what this adds to the logit through all paths. An edge is the part of it that another node "
            "reads directly. Ochre adds, teal takes away. Held fixed, as in this pass: attention weights, what norms "
            "divide by, and networks’ ratios of what their units give to what they get."
        )

    def sentence(self) -> str:
        """The logit, what is drawn and what is not, and the largest edge."""
        graph, whose = self.graph, f"After {self.at} {self.whose} is {signed(self.graph.total)}."
        chance = self.model.if_random(BY_CHANCE)
        if not graph.nodes:
            return " ".join(filter(None, [whose, self._nothing(), chance]))
        nodes, edges = formats.plural(len(graph.nodes), "node"), formats.plural(len(graph.edges), "edge")
        are = "is" if len(graph.nodes) + len(graph.edges) == 1 else "are"
        drawn = f"{nodes} and {edges} {are} drawn.{self._apart()}"
        left_out = f"What is left out: {formats.percent(graph.left_out)} of all that goes into these nodes and the "
        return " ".join(filter(None, [whose, drawn, f"{left_out}logit, by size.", self._largest(), chance]))

    def _apart(self) -> str:
        """What is said of nodes from which no drawn edges lead to the logit."""
        reached, edges = {-1}, self.graph.edges
        while more := {edge.source for edge in edges if edge.target in reached} - reached:
            reached |= more
        apart = len(self.graph.nodes) - len(reached - {-1})
        if not apart:
            return ""
        has = "has" if apart == 1 else "have"
        return f" {apart} of them {has} no drawn way to the logit: its edges are smaller. A smaller share shows more."

    def _nothing(self) -> str:
        """What to do where no node is large enough."""
        share = f"{self.state.share}%"
        nothing = (
            f"Nothing is drawn: no head, network, token or bias reaches {share} of all that goes into the logit, "
            f"{formats.weight(self.graph.size)} by size."
        )
        return f"{nothing} {'Choose a smaller share.' if self.state.share > 1 else 'Choose another token by its rank.'}"

    def _largest(self) -> str:
        """The largest edge in words."""
        if not self.graph.edges:
            return "No edge between them is large enough."
        weights = np.array([edge.weight for edge in self.graph.edges])
        alike = one_of_ties(len(places_of_largest(np.abs(weights))), "edges")
        return f"The largest edge{alike}: {self.edge_name(self.graph.edges[0])}, {signed(float(weights[0]))}."

    def laws(self) -> dict[str, bool]:
        """The logit of the graph is the model's."""
        logits = logits_at(self.model, self.position).astype(np.float64)
        token, minus = self.tokens_asked
        error = abs(float(logits[token] - (0.0 if minus is None else logits[minus])) - self.graph.total)
        whose = "logit" if minus is None else "difference of logits"
        least = TOLERANCE * max(1.0, self.graph.size)
        sums = self.graph.error
        return {
            f"the graph’s logit is the model’s own {whose} (error {formats.tiny(error)})": error <= least,
            f"all that goes into a node sums to its value (largest error {formats.tiny(sums)})": sums <= least,
        }

    def table(self) -> pd.DataFrame:
        """A row per edge, the largest first by size."""
        rows = [
            [*self._ends(edge.source), *(self._ends(edge.target) if edge.target >= 0 else (LOGIT, self._asked_at))]
            for edge in self.graph.edges
        ]
        names = ["from", "at token", "to", "to token"]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        index = pd.MultiIndex.from_arrays([list(column) for column in columns], names=names)
        return pd.DataFrame({"weight": np.array([edge.weight for edge in self.graph.edges], np.float64)}, index=index)

    @property
    def _asked_at(self) -> str:
        return numbered(token_labels.labels(self._text))[self.position]

    def _ends(self, number: int) -> tuple[str, str]:
        node = self.graph.nodes[number]
        if node.source.kind == BIASES:
            return node.source.name, NO_TOKEN
        return node.source.name, self._numbered[node.source.stack][node.position]

    @cached_property
    def _numbered(self) -> dict[str, list[str]]:
        return {stack: numbered(labels) for stack, labels in self.labels_by_stack.items()}

    @cached_property
    def stacks(self) -> list[Stack]:
        """The stacks from the lower to the upper one, whose last token's logit is read."""
        parts = {"decoder": ("heads", "cross", "network")}
        return [
            Stack(name, labels, parts.get(name, ("heads", "network"))) for name, labels in self.labels_by_stack.items()
        ]

    def _node(self, number: int) -> dict[str, Any]:
        """A node as the script gets it."""
        node = self.graph.nodes[number]
        source, stack = node.source, [stack.name for stack in self.stacks].index(node.source.stack)
        if source.kind == BIASES:
            stack = 0
        part = {NETWORK: "network", CROSS: "cross"}.get(source.kind, "heads")
        parts = self.stacks[stack].parts
        return {
            "code": code_of(node),
            "name": self.node_names[number],
            "letter": str(source.head + 1) if source.is_head else LETTERS[source.kind],
            "stack": stack,
            "row": 1 + source.layer * len(parts) + parts.index(part) if source.part else 0,
            "at": node.position,
        }

    def picture(self) -> Content:
        """The nodes and edges."""
        token, minus = self.tokens_asked
        names = [token_name(self.model, each) for each in (token, minus) if each is not None]
        codes = [code_of(node) for node in self.graph.nodes]
        return content(
            [self._node(number) for number in range(len(codes))],
            [(edge.source, edge.target) for edge in self.graph.edges],
            values=[node.value for node in self.graph.nodes],
            weights=[edge.weight for edge in self.graph.edges],
            total=self.graph.total,
            stacks=self.stacks,
            at=self.position,
            asked=" − ".join(names),
            locked=self.state.from_key if self.state.from_key in codes else "",
        )

    @property
    def files(self) -> Files:
        """The graph as viewers of attribution graphs read it; they have no place for two texts."""
        if self.model.is_encoder_decoder:
            return NO_FILES
        what = "the graph, for viewers of attribution graphs"
        return {"graph.json": (what, partial(self._file), "application/json")}

    def _file(self) -> str:
        token, minus = self.tokens_asked
        piece = partial(token_piece, self.model)
        ids, shares = ranked(self.model, self.position)
        return graph_json(
            self.graph,
            tokens=self._text.pieces,
            token_id=token,
            token=piece(token) or f"token {token}",
            position=self.position,
            probability=shares[ids.index(token)],
            num_layers=self.model.num_layers,
            minus=None if minus is None else piece(minus) or f"token {minus}",
            prompt=self.model.read_text,
        )

    def recipe(self) -> str:
        """A script that leaves the edges' weights in `weights`, (edge)."""
        token, minus = self.tokens_asked
        asked = {"position": self.position, "token": token, "minus": minus}
        return script(edge_weights, **of_model(self.model), **asked, share=self.state.share / 100)
