"""The graph of a pass: what goes into a node and what comes out of it, beside the recorded logit and gradients."""

from collections import defaultdict

import pytest
import torch

from tests.tfm_core.study.test_attribution_gradients import OTHER, TOKEN, held_for_all
from tests.tfm_core.study.test_attribution_sums import ROUNDING, VARIANTS, WITHOUT_BIAS, Case
from tests.tfm_core.toys import largest_error
from tfm_core import POSITIONAL
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.kind import ARCHITECTURES, NORMS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.study.attribution import graph as graphs
from tfm_core.study.attribution.graph import NOWHERE, logit_graph
from tfm_core.study.attribution.sources import BIASES, Source, sources_of

ALL = 1e-18  # the share of a node in a graph that leaves nothing out but zeros
READ = 3  # where the logit is read
LOGIT = -1


@pytest.fixture(autouse=True)
def room_for_all_nodes(monkeypatch):
    monkeypatch.setattr(graphs, "MOST_NODES", 10**6)


def graph_of(case, share=ALL, minus=None):
    return logit_graph(case.streams, position=READ, token=TOKEN, minus=minus, share=share)


def assert_conserved(case, minus=None):
    graph = graph_of(case, minus=minus)
    into, out = defaultdict(float), defaultdict(float)
    for edge in graph.edges:
        into[edge.target] += edge.weight
        out[edge.source] += edge.weight
    logits = case.logits[READ]
    total = (logits[TOKEN] - (0 if minus is None else logits[minus])).item()
    assert graph.total == pytest.approx(total, abs=ROUNDING)
    assert into[LOGIT] == pytest.approx(total, abs=ROUNDING)
    assert graph.left_out == pytest.approx(0, abs=ROUNDING)
    for number, node in enumerate(graph.nodes):
        assert out[number] == pytest.approx(node.value, abs=ROUNDING)
        if node.source.part:
            assert into[number] == pytest.approx(node.value, abs=ROUNDING)
        else:
            assert number not in into
    assert len({(node.source, node.position) for node in graph.nodes}) == len(graph.nodes)
    assert len({(edge.source, edge.target) for edge in graph.edges}) == len(graph.edges)
    weights = [abs(edge.weight) for edge in graph.edges]
    assert weights == sorted(weights, reverse=True)
    direct = sizes(edge for edge in graph.edges if edge.target == LOGIT)
    assert graph.size == pytest.approx(direct, abs=ROUNDING)
    return graph


@pytest.mark.crossed(
    architecture=ARCHITECTURES,
    positional=POSITIONAL,
    norm=NORMS,
    normalization=NORMALIZATIONS,
    variant=VARIANTS,
    minus=[None, OTHER],
)
def test_what_goes_into_a_node_comes_out_of_it_and_all_of_it_is_the_logit(
    architecture, positional, norm, normalization, variant, minus
):
    case = Case(variant, architecture=architecture, positional=positional, norm=norm, normalization=normalization)
    graph = assert_conserved(case, minus)
    # Values of nodes are those of autograd.
    held_pass = held_for_all(case)
    target = held_pass.logits[READ, TOKEN] - (0 if minus is None else held_pass.logits[READ, minus])
    shares = held_pass.shares(target)
    for node in graph.nodes:
        if node.source.kind != BIASES:
            assert node.value == pytest.approx(shares[node.source][node.position].item(), abs=ROUNDING)
    values = {(node.source, node.position): node.value for node in graph.nodes}
    left = [
        share
        for source, row in shares.items()
        for at, share in enumerate(row.tolist())
        if (source, at) not in values and abs(share) > ROUNDING
    ]
    assert left == []


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=WITHOUT_BIAS, norm=NORMS)
def test_a_graph_through_linear_attention_is_conserved_as_well(architecture, positional, norm):
    assert_conserved(Case(attention="linear", architecture=architecture, positional=positional, norm=norm))


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, activation=ACTIVATIONS, num_kv_heads=[0, 2])
def test_an_edge_is_what_the_reader_s_answer_owes_to_what_it_read_directly(
    architecture, norm, activation, num_kv_heads
):
    """A reader's output is asked what the whole pass asks of it; in a pass of cut ways, gradients are direct ones."""
    case = Case(architecture=architecture, norm=norm, activation=activation, num_kv_heads=num_kv_heads)
    graph, whole = graph_of(case), held_for_all(case)
    asked = whole.gradients(whole.logits[READ, TOKEN])
    cut, into = held_for_all(case, cut=True), defaultdict(list)
    for edge in graph.edges:
        into[edge.target].append(edge)
    for number, node in enumerate(graph.nodes):
        if not node.source.part:
            continue
        answer = cut.of(node.source, cut.answers)[node.position]
        shares = cut.shares(answer @ whole.of(node.source, asked)[node.position])
        weights = {source: torch.zeros_like(row) for source, row in shares.items()}
        for edge in into[number]:
            reads = graph.nodes[edge.source]
            if reads.source.kind != BIASES:
                weights[reads.source][reads.position] = edge.weight
        for source, row in shares.items():
            assert largest_error(weights[source], row) < ROUNDING


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, variant=VARIANTS)
def test_with_a_larger_share_less_is_in_the_graph(architecture, norm, variant):
    case = Case(variant, architecture=architecture, norm=norm, positional="learned")
    whole = graph_of(case)
    values = {(node.source, node.position): node.value for node in whole.nodes}
    before = whole
    for share in (0.001, 0.01, 0.05, 0.2, 0.6, 1.0):
        graph = graph_of(case, share)
        assert {(node.source, node.position) for node in graph.nodes} <= {
            (node.source, node.position) for node in before.nodes
        }
        assert len(graph.edges) <= len(before.edges)
        assert all(abs(node.value) >= share * whole.size for node in graph.nodes)
        assert all(abs(edge.weight) >= graphs.FAINT * share * whole.size for edge in graph.edges)
        assert all(node.value == values[node.source, node.position] for node in graph.nodes)
        assert len(graph.nodes) == sum(abs(value) >= share * whole.size for value in values.values())
        assert (graph.total, graph.size) == (whole.total, whole.size)
        # What is left out is so of the edges into these nodes alone: with fewer nodes it can be less.
        kept = {(node.source, node.position) for node in graph.nodes}
        into = [edge for edge in whole.edges if edge.target == LOGIT or named(whole, edge.target) in kept]
        assert len(into) >= len(graph.edges)
        left = 1 - sizes(graph.edges) / sizes(into)
        assert graph.left_out == pytest.approx(left, abs=ROUNDING)
        assert 0 <= graph.left_out <= 1
        before = graph
    assert graph.left_out > 0


def named(graph, number):
    node = graph.nodes[number]
    return node.source, node.position


def sizes(edges):
    return sum(abs(edge.weight) for edge in edges)


def test_of_too_many_nodes_the_largest_are_drawn_from_the_tokens_up(monkeypatch):
    case = Case(architecture="decoder")
    whole = graph_of(case)
    monkeypatch.setattr(graphs, "MOST_NODES", 7)
    some = graph_of(case)
    largest = sorted(whole.nodes, key=lambda node: -abs(node.value))[:7]
    assert list(some.nodes) == [node for node in whole.nodes if node in largest]
    sources = sources_of(case.model.stack)
    heights = [sources.index(node.source) for node in whole.nodes]
    assert heights == sorted(heights)
    assert 0 < some.left_out < 1


@pytest.mark.parametrize("norm", NORMS)
def test_the_biases_are_a_single_node_at_no_position(norm):
    for architecture in ARCHITECTURES:
        graph = graph_of(Case(architecture=architecture, norm=norm))
        assert [node for node in graph.nodes if node.source.kind == BIASES] == [
            node for node in graph.nodes if node.position == NOWHERE
        ]
        [biases] = [node for node in graph.nodes if node.source.kind == BIASES]
        assert biases.source == Source(BIASES)


def test_nodes_of_keys_that_no_query_sees_are_not_in_the_graph():
    """What stands behind the position of a decoder's logit has no way to it."""
    graph = graph_of(Case(architecture="decoder"))
    assert max(node.position for node in graph.nodes) == READ
    edges = [(graph.nodes[edge.source], graph.nodes[edge.target]) for edge in graph.edges if edge.target != LOGIT]
    assert all(source.position <= target.position for source, target in edges)
    of_networks = [(source, target) for source, target in edges if target.source.kind == "network"]
    assert len(of_networks) > 20
    assert all(source.position in (NOWHERE, target.position) for source, target in of_networks)
