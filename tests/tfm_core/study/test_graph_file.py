"""A graph's JSON file against the fields that the form documents, and against the graph."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tfm_core.toys import build, random_ids, scramble
from tfm_core.study.attribution.graph import Graph, Node, logit_graph
from tfm_core.study.attribution.graph_file import cantor, graph_json
from tfm_core.study.attribution.sources import BIASES, EMBEDDING, HEAD, NETWORK, POSITION, Source
from tfm_core.study.attribution.streams import record

# The fields of circuit-tracer's `graph_models.py`, each with what it holds; what Neuronpedia's `graph-schema.json`
# requires is among them. "info" is in the latter alone, "value" is ours.
TEXT, WHOLE, NUMBER, MAYBE, YES_OR_NO, LIST = str, int, float, (float, type(None)), bool, list
FIELDS = {
    "metadata": {
        "slug": TEXT,
        "scan": TEXT,
        "transcoder_list": LIST,
        "prompt_tokens": LIST,
        "prompt": TEXT,
        "node_threshold": NUMBER,
        "schema_version": WHOLE,
        "info": dict,
    },
    "qParams": {"pinnedIds": LIST, "supernodes": LIST, "linkType": TEXT, "clickedId": TEXT, "sg_pos": TEXT},
    "nodes": {
        "node_id": TEXT,
        "feature": WHOLE,
        "layer": TEXT,
        "ctx_idx": WHOLE,
        "feature_type": TEXT,
        "token_prob": NUMBER,
        "is_target_logit": YES_OR_NO,
        "run_idx": WHOLE,
        "reverse_ctx_idx": WHOLE,
        "jsNodeId": TEXT,
        "clerp": TEXT,
        "influence": MAYBE,
        "activation": MAYBE,
        "value": NUMBER,
    },
    "links": {"source": TEXT, "target": TEXT, "weight": NUMBER},
}
TYPES = {"embedding", "cross layer transcoder", "mlp reconstruction error", "logit"}
TOKENS = ("the", " cat", ' "', "sat", "\n", "–")
LAYERS, POSITION_READ, ASKED, OTHER = 2, 5, 3, 8
ALL = 1e-9  # the share of a node in a graph that leaves nothing out


def graph_of(share=ALL, minus=None, **changes):
    model = scramble(build(**{"num_layers": LAYERS, "architecture": "decoder", **changes}))
    tokens = random_ids(1, len(TOKENS))
    inputs = (tokens, tokens) if model.config.architecture == "encoder-decoder" else (tokens,)
    streams = record(model, *inputs, weights=True)
    return logit_graph(streams, position=POSITION_READ, token=ASKED, minus=minus, share=share)


def written(graph, **changes):
    arguments = {
        "tokens": TOKENS,
        "token_id": ASKED,
        "token": " dog",
        "position": POSITION_READ,
        "probability": 0.25,
        "num_layers": LAYERS,
        **changes,
    }
    return json.loads(graph_json(graph, **arguments))


@pytest.fixture(params=["pre", "post"])
def graph(request):
    return graph_of(norm=request.param, positional="learned")


def test_every_field_is_there_and_holds_what_it_should(graph):
    content = written(graph)
    assert content.keys() == FIELDS.keys()
    for part, fields in FIELDS.items():
        entries = content[part] if isinstance(content[part], list) else [content[part]]
        for entry in entries:
            assert entry.keys() == fields.keys()
            wrong = [name for name, kind in fields.items() if not isinstance(entry[name], kind)]
            assert wrong == []
    assert content["metadata"]["schema_version"] == 1
    assert content["metadata"]["prompt_tokens"] == list(TOKENS)
    assert content["metadata"]["prompt"] == "".join(TOKENS)
    assert content["qParams"]["linkType"] == "both"
    assert {node["feature_type"] for node in content["nodes"]} <= TYPES


def test_links_lead_from_node_to_node_and_ids_are_unique(graph):
    content = written(graph)
    for name in ("node_id", "jsNodeId"):
        ids = [node[name] for node in content["nodes"]]
        assert len(ids) == len(set(ids)) == len(graph.nodes) + 1
    places = {node["node_id"]: node for node in content["nodes"]}
    assert content["links"]
    for link in content["links"]:
        source, target = places[link["source"]], places[link["target"]]  # both are there
        assert height(source) <= height(target)
        assert target["layer"] != "E"
        assert source["ctx_idx"] <= target["ctx_idx"]


def height(node):
    return -1 if node["layer"] == "E" else int(node["layer"])


def test_links_into_the_logit_sum_to_it_and_weights_are_the_graph_s(graph):
    content = written(graph)
    [logit] = [node for node in content["nodes"] if node["feature_type"] == "logit"]
    into = [link["weight"] for link in content["links"] if link["target"] == logit["node_id"]]
    assert sum(into) == pytest.approx(graph.total, abs=1e-7)
    assert logit["value"] == graph.total
    assert [link["weight"] for link in content["links"]] == [edge.weight for edge in graph.edges]
    assert [node["value"] for node in content["nodes"][:-1]] == [node.value for node in graph.nodes]


def test_nodes_stand_where_viewers_look_for_them(graph):
    content = written(graph)
    *nodes, logit = content["nodes"]
    assert (logit["layer"], logit["ctx_idx"], logit["feature"]) == (str(LAYERS + 1), POSITION_READ, ASKED)
    assert logit["clerp"] == 'Output " dog" (p=0.250)'
    assert (logit["token_prob"], logit["is_target_logit"]) == (0.25, True)
    for node, entry in zip(graph.nodes, nodes, strict=True):
        assert 0 <= entry["ctx_idx"] < len(TOKENS)
        assert entry["ctx_idx"] == (0 if node.source.kind == BIASES else node.position)
        assert (entry["layer"] == "E") == (not node.source.part)
        assert (entry["feature_type"] == "embedding") == (node.source.kind == EMBEDDING)
        assert entry["clerp"].startswith(node.source.name)
    assert {node.source.kind for node in graph.nodes} == {EMBEDDING, POSITION, HEAD, NETWORK, BIASES}


def test_feature_numbers_are_unique_within_a_layer_and_say_it(graph):
    sources, pairs = {}, {cantor(x, y): (x, y) for x in range(LAYERS) for y in range(20)}
    for node, entry in zip(graph.nodes, written(graph)["nodes"], strict=False):
        whose = node.source if node.source.part else node  # in "E" a number for each position
        assert sources.setdefault((entry["layer"], entry["feature"]), whose) == whose
        if node.source.part:
            layer, number = pairs[entry["feature"]]
            assert layer == node.source.layer
            assert entry["node_id"] == f"{layer}_{number}_{node.position}"
        elif node.source.kind == EMBEDDING:
            assert entry["feature"] == node.position


def test_cantor_s_numbers_are_all_whole_numbers_once():
    assert sorted(cantor(x, y) for x in range(30) for y in range(30 - x)) == list(range(30 * 31 // 2))


def test_influence_is_the_share_up_to_a_node_the_largest_first(graph):
    nodes = written(graph)["nodes"][:-1]
    by_size = sorted(nodes, key=lambda node: -abs(node["value"]))
    shares = [node["influence"] for node in by_size]
    sizes = [abs(node["value"]) for node in by_size]
    assert shares == pytest.approx([sum(sizes[: at + 1]) / sum(sizes) for at in range(len(sizes))])
    assert shares == sorted(shares)
    assert max(shares) <= 1 == written(graph)["metadata"]["node_threshold"]


def test_a_graph_of_the_largest_nodes_says_what_it_leaves_out():
    graph = graph_of(share=0.1)
    content = written(graph, prompt="the cat", slug="s", scan="m")
    assert graph.left_out > 0
    assert f"{graph.left_out:.1%} of all edges" in content["metadata"]["info"]["description"]
    assert len(content["nodes"]) == len(graph.nodes) + 1
    assert len(content["links"]) == len(graph.edges)
    assert [content["metadata"][name] for name in ("prompt", "slug", "scan")] == ["the cat", "s", "m"]


def test_a_difference_of_two_logits_names_both():
    content = written(graph_of(minus=OTHER), minus=" fox")
    assert content["nodes"][-1]["clerp"] == 'Output " dog −  fox" (p=0.250)'


def test_a_graph_without_nodes_is_the_logit_alone():
    content = written(Graph((), (), 0.5, 1.0, 0.0, 1.0))
    assert [node["feature_type"] for node in content["nodes"]] == ["logit"]


def test_two_texts_have_no_place():
    graph = graph_of(architecture="encoder-decoder", share=0.05)
    with pytest.raises(ValueError, match=r"single stack, got one of an encoder-decoder.*one text alone"):
        written(graph)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"position": 6}, r"position: expected a number from 0 to 5, got 6"),
        ({"tokens": TOKENS[:1], "position": 0}, r"position of .*: expected a number from 0 to 0, got \d"),
        ({"num_layers": 1}, r"layer of layer 2, .*: expected a number from 0 to 0, got 1"),
    ],
)
def test_places_that_are_not_there_are_refused(changes, told):
    graph = graph_of()
    with pytest.raises(ValueError, match=told):
        written(graph, **changes)


def test_numbers_that_json_has_not_are_refused():
    node = Node(Source(EMBEDDING), 0, float("nan"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(replace(graph_of(share=0.5), nodes=(node,), edges=()))


def test_the_examples_of_the_document_give_what_they_say():
    text = (Path(__file__).parents[3] / "docs" / "attribution.md").read_text("utf-8")
    examples, scope = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL), {}
    for example in examples:
        exec(example, scope)
    assert f"= {tuple(scope['parts'].parts.shape)}" in examples[0]
    assert len(json.loads(scope["text"])["nodes"]) == len(scope["graph"].nodes) + 1 > 5
