"""The view "graph": what is drawn, what is said of it, and what travels to its script."""

import json

import numpy as np
import pytest
import torch

from tests.tfm_ui.payloads import decode
from tfm_core import Transformer, recording
from tfm_core.study.attribution.sources import BIASES
from tfm_ui.lenses.attention.graph import VIEW
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.trail import SourceCode
from tfm_ui.lenses.attention.why.graph import Graph, code_of
from tfm_ui.lenses.attention.why.graph_check import FEWEST, MOST, GraphCheck
from tfm_ui.lenses.attention.why.graph_picture import NEAR, WHOLE, unpacked
from tfm_ui.live import passes
from tfm_ui.pictures.registry import made, query_of
from tfm_ui.state.model_state import ModelState

TEXT = "She went to the house and the old man went to the"
LAB = ModelState(weights="lab-gpt", text=TEXT)
ENCODER = ModelState(text="the cat sat on the mat")
TWO = ModelState(architecture="encoder-decoder")
POST = ModelState(norm="post", text="the cat sat on the mat")
LONG = ModelState(text=" ".join(f"w{i}" for i in range(60)), seq_len=60)
MODELS = {"lab": LAB, "encoder": ENCODER, "two": TWO, "post": POST}
LAST = AttentionState(query=99)


def sent(model: ModelState, state: AttentionState):
    """What the browser gets: the header, values of nodes, weights of edges, and the logit."""
    header, numbers = decode(made("attention_graph", query_of(((model, ""), (state, "attention_")))))
    return header, *unpacked(header, np.frombuffer(numbers, np.float32))


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("against", [0, 2])
def test_the_logit_is_that_of_a_plain_run_of_the_model(name, against):
    model = MODELS[name]
    graph = Graph(model, AttentionState(query=3, rank=2, against=against, share=3))
    with torch.no_grad():
        logits = passes.forward(model)[0, 2]
    ids = logits.topk(3).indices.tolist()
    expected = float(logits[ids[1]] - (logits[ids[against - 1]] if against not in (0, 2) else 0))
    assert graph.graph.total == pytest.approx(expected, abs=1e-4)
    assert graph.laws()
    assert all(graph.laws().values())


def test_against_itself_and_beyond_the_vocabulary_nothing_is_subtracted():
    totals = {Graph(ENCODER, AttentionState(rank=2, against=against)).tokens_asked[1] for against in (0, 2)}
    assert totals == {None}
    assert Graph(ENCODER, AttentionState(rank=2, against=3)).tokens_asked[1] is not None


@pytest.mark.parametrize("name", MODELS)
def test_what_travels_is_the_graph(name):
    model, state = MODELS[name], AttentionState(query=99, share=3)
    graph = Graph(model, state).graph
    header, values, weights, total = sent(model, state)
    np.testing.assert_allclose(values, [node.value for node in graph.nodes], rtol=1e-6)
    np.testing.assert_allclose(weights, [edge.weight for edge in graph.edges], rtol=1e-6)
    assert total == pytest.approx(graph.total, rel=1e-6)
    assert list(zip(header["from"], header["to"], strict=True)) == [(edge.source, edge.target) for edge in graph.edges]
    assert [node["code"] for node in header["nodes"]] == [code_of(node) for node in graph.nodes]
    assert header["top"] == pytest.approx(max(np.abs([*values, *weights])))


@pytest.mark.parametrize("name", MODELS)
def test_a_node_stands_in_the_row_of_its_part_and_edges_lead_upwards(name):
    model, state = MODELS[name], AttentionState(query=99, share=1)
    header = sent(model, state)[0]
    for told, node in zip(header["nodes"], Graph(model, state).graph.nodes, strict=True):
        stack = header["stacks"][told["stack"]]
        if node.source.kind == BIASES:
            assert (told["at"], told["row"], told["stack"], told["code"]) == (-1, 0, 0, "biases@0")
            continue
        assert stack["name"] == node.source.stack
        assert told["at"] == node.position
        assert node.position in stack["at"]
        expected = {"head": "heads", "cross": "cross", "network": "network"}.get(node.source.kind)
        assert (expected is None) == (told["row"] == 0)
        if expected:
            layer, part = divmod(told["row"] - 1, len(stack["parts"]))
            assert (layer, stack["parts"][part]) == (node.source.layer, expected)
    height = [(node["stack"], node["row"]) for node in header["nodes"]]
    assert all(height[a] < height[b] for a, b in zip(header["from"], header["to"], strict=True) if b >= 0)


def test_the_locked_node_is_told_if_it_is_drawn():
    codes = [node["code"] for node in sent(LAB, LAST)[0]["nodes"]]
    assert sent(LAB, AttentionState(query=99, from_key=codes[3]))[0]["locked"] == codes[3]
    assert sent(LAB, AttentionState(query=99, from_key="4.5@1"))[0]["locked"] == ""
    assert all(SourceCode("").read(code, "") == (code, "") for code in codes)


def test_of_a_long_text_the_tokens_near_the_nodes_are_shown():
    state = AttentionState(query=50, share=5)
    header = sent(LONG, state)[0]
    (stack,) = header["stacks"]
    used = {node["at"] for node in header["nodes"]} - {-1} | {49}
    assert used <= set(stack["at"])
    assert len(stack["tokens"]) == len(stack["at"]) < 60
    assert all(min(abs(at - place) for place in used) <= NEAR for at in stack["at"])
    assert len(sent(ENCODER, state)[0]["stacks"][0]["at"]) == ENCODER.length <= WHOLE


def test_the_sentence_tells_the_logit_what_is_drawn_and_what_is_left_out():
    graph = Graph(LAB, LAST)
    said = graph.sentence()
    nodes, edges = len(graph.graph.nodes), len(graph.graph.edges)
    assert said.startswith(f"After {graph.at} the logit of ")
    assert f"{nodes} nodes and {edges} edges are drawn." in said
    assert "of all that goes into these nodes and the logit, by size." in said
    assert "The largest edge: " in said
    assert "random" not in said
    assert "These weights are random" in Graph(ENCODER, LAST).sentence()


def test_where_nothing_is_large_enough_it_is_said_what_to_do():
    state = AttentionState(query=60, share=30, rank=4, against=5)
    graph = Graph(LONG, state)
    assert not graph.graph.nodes
    said = graph.sentence()
    assert "Nothing is drawn" in said
    assert "Choose a smaller share." in said
    header, values, weights, _ = sent(LONG, state)
    assert len(values) == len(weights) == 0
    assert header["top"] > 0
    assert graph.table().empty
    check = GraphCheck(graph.model, graph.state)
    assert check.sentence().startswith("No edge can be cut here")
    assert check.table().empty


@pytest.mark.parametrize("name", MODELS)
def test_the_table_has_a_row_for_each_edge(name):
    graph = Graph(MODELS[name], LAST)
    table = graph.table()
    np.testing.assert_allclose(table["weight"], [edge.weight for edge in graph.graph.edges])
    assert table.index.names == ["from", "at token", "to", "to token"]
    assert not table.index.has_duplicates


def test_the_recipe_leaves_the_weights_of_the_edges():
    graph = Graph(LAB, LAST)
    scope: dict[str, object] = {}
    exec(compile(graph.recipe(), "recipe", "exec"), scope)
    np.testing.assert_allclose(np.asarray(scope["weights"]), [edge.weight for edge in graph.graph.edges], atol=1e-6)


def test_the_file_for_viewers_holds_the_graph_and_its_name_collides_with_none():
    files = Graph(LAB, LAST).files
    assert set(files) == {"graph.json"}
    _, content, mime = files["graph.json"]
    written = json.loads(content())
    assert len(written["links"]) == len(Graph(LAB, LAST).graph.edges)
    assert mime == "application/json"
    assert not Graph(TWO, LAST).files


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_edges_but_those_of_biases_are_cut(name):
    check = GraphCheck(MODELS[name], LAST)
    nodes = check.graph.nodes
    assert len(check.edges) == min(MOST, sum(nodes[e.source].source.kind != BIASES for e in check.graph.edges))
    assert all(np.isfinite(check.falls))
    if len(check.edges) >= FEWEST:
        expected = np.corrcoef([edge.weight for edge in check.edges], check.falls)[0, 1]
        assert check.correlation == pytest.approx(expected)
        assert "correlation" in check.sentence()
    assert list(check.table()["foretold"]) == [edge.weight for edge in check.edges]


def test_an_edge_into_the_logit_is_exact_where_no_norm_stands_before_it():
    check = GraphCheck(POST, AttentionState(query=6, share=2))
    into = [(edge.weight, fall) for edge, fall in zip(check.edges, check.falls, strict=True) if edge.target < 0]
    assert into
    np.testing.assert_allclose(*np.array(into).T, atol=1e-4)


def test_over_few_edges_no_correlation_is_told():
    share = next(share for share in range(5, 31) if 0 < len(GraphCheck(ENCODER, AttentionState(share=share)).edges) < 3)
    check = GraphCheck(ENCODER, AttentionState(share=share))
    assert check.correlation is None
    assert "too few" in check.sentence()


def test_an_edge_into_the_logit_is_what_the_head_wrote_through_the_norm_as_it_was():
    graph = Graph(ENCODER, AttentionState(query=6, against=0, share=1)).graph
    into = [edge for edge in graph.edges if edge.target < 0 and graph.nodes[edge.source].source.code.startswith("2.")]
    assert into
    model = Transformer(ENCODER.config).eval()
    with torch.no_grad(), recording(["*head_output", "*residual_after"]) as trace:
        likeliest = int(model(ENCODER.source_tokens.batch, mask=passes.mask_of(ENCODER))[0, 5].argmax())
        for edge in into:
            head = graph.nodes[edge.source].source.head
            gathered = trace["layers.1.self_attention.head_output"][0, head, 5]
            columns = slice(head * len(gathered), (head + 1) * len(gathered))
            wrote = model.stack.layers[1].self_attention.output_projection.weight[:, columns] @ gathered
            last, norm = trace["layers.1.feed_forward.residual_after"][0, 5], model.stack.final_norm
            normed = (wrote - wrote.mean()) / (last.var(unbiased=False) + norm.eps).sqrt() * norm.weight
            logits = model.logits(torch.stack([normed, torch.zeros_like(normed)])[None])[0, :, likeliest]
            assert edge.weight == pytest.approx(float(logits[0] - logits[1]), abs=1e-5)


def test_a_model_without_such_logits_has_a_note_in_its_place():
    assert not VIEW.instead(ENCODER, LAST)
    (note,) = VIEW.instead(ModelState(weights="minilm"), LAST)
    assert "no logits" in note.text
