"""What a split promises, and what becomes of scores and logits: beside models and passes that were changed by hand."""

import math

import pytest
import torch

from tests.tfm_core.study.test_attribution_sums import HEADS, ROUNDING, VARIANTS, Case
from tests.tfm_core.toys import VOCAB, largest_error
from tfm_core import POSITIONAL, recording
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.kind import ARCHITECTURES, NORMS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.study.attribution import graph as graphs
from tfm_core.study.attribution.graph import logit_graph
from tfm_core.study.attribution.held_out import held_out, measured_edges
from tfm_core.study.attribution.scores import all_score_parts, score_parts
from tfm_core.study.attribution.sources import BIASES, Source
from tfm_core.study.attribution.streams import END, Place

QUERY, KEY = 3, 1
READ, TOKEN, OTHER = 3, 5, 17
SOME = (-1, 2)  # what no head wrote, and a head: each answer takes a pass


def rerun(case, edits, site, inputs=None):
    with torch.no_grad(), recording(site, edits=edits) as trace:
        case.model(*(inputs or case.inputs), mask=case.mask)
    return trace[site]


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=POSITIONAL, norm=NORMS, variant=VARIANTS)
def test_promised_are_the_recorded_scores_less_the_parts_of_a_source(architecture, positional, norm, variant):
    case = Case(variant, architecture=architecture, positional=positional, norm=norm)
    for number, (_, place, site) in enumerate(case.places):
        if place.layer == 0:
            continue
        head, scores = number % HEADS, case.trace[f"{site}scores"][0, number % HEADS, QUERY]
        parts = all_score_parts(case.streams, place, head=head)[QUERY]  # (key, query source, key source)
        cell = score_parts(case.streams, place, head=head, query=QUERY, key=KEY)
        for row, source in enumerate(cell.query_side):
            if source.head not in SOME:
                continue
            answer = held_out(case.streams, place, head=head, query=QUERY, source=source)
            assert largest_error(answer.scores, scores) < ROUNDING
            assert largest_error(answer.expected, scores - parts[:, row].sum(-1)) < ROUNDING
            if norm == "post":
                assert largest_error(answer.normed_anew, answer.expected) < ROUNDING
            assert (answer.silenced is None) == (source.kind == BIASES)
        for column, source in enumerate(cell.key_side):
            if source.head not in SOME:
                continue
            answer = held_out(case.streams, place, head=head, query=QUERY, source=source, key=KEY)
            expected = scores.clone()
            expected[KEY] -= cell.parts[:, column].sum()
            assert largest_error(answer.scores, scores) < ROUNDING
            assert largest_error(answer.expected, expected) < ROUNDING
            if norm == "post":
                assert largest_error(answer.normed_anew, answer.expected) < ROUNDING


def reads_without(case, site, norm, place, source, at):
    """The edit with which what a norm gives at a position is made of the recorded stream less a source's term."""
    terms = case.streams.before(place, [at])
    left = terms.vectors.sum(0)[0] - terms.vectors[terms.sources.index(source), 0]

    def edit(x):
        x[0, at] = norm(left)
        return x

    return {site: edit}


@pytest.mark.crossed(
    architecture=ARCHITECTURES, positional=POSITIONAL, normalization=NORMALIZATIONS, num_kv_heads=[0, 2]
)
def test_normed_anew_is_a_pass_whose_normed_vector_was_made_without_the_source(
    architecture, positional, normalization, num_kv_heads
):
    blocks = {"positional": positional, "normalization": normalization, "num_kv_heads": num_kv_heads}
    case = Case(architecture=architecture, norm="pre", **blocks)
    for number, (kind, place, site) in enumerate(case.places):
        if place.layer == 0:
            continue
        head, scores = number % HEADS, f"{site}scores"
        norm, normed = getattr(case.streams.layer(place), f"{place.part}_norm"), f"{site}normed"
        source = case.streams.before(place).sources[-2]  # the last that wrote
        answer = held_out(case.streams, place, head=head, query=QUERY, source=source)
        changed = rerun(case, reads_without(case, normed, norm, place, source, QUERY), scores)[0, head, QUERY]
        keys = [key for key in range(len(changed)) if key != QUERY or kind == "cross"]  # its own key changes, too
        assert largest_error(answer.normed_anew[keys], changed[keys]) < ROUNDING
        assert largest_error(answer.normed_anew, answer.expected) > 1e-6

        reads = case.streams.read_by_keys(place)
        source = case.streams.before(reads).sources[-2]
        answer = held_out(case.streams, place, head=head, query=QUERY, source=source, key=KEY)
        if kind == "cross":  # a changed memory changes the first layer as well: the query is put back
            norm, normed = case.model.encoder.final_norm, "encoder.final_norm"
        back = {f"{site}query": case.trace[f"{site}query"]}
        edits = {**reads_without(case, normed, norm, reads, source, KEY), **back}
        changed = rerun(case, edits, scores)[0, head, QUERY]
        assert answer.normed_anew[KEY].item() == pytest.approx(changed[KEY].item(), abs=ROUNDING)
        others = [key for key in range(len(changed)) if key != KEY]
        assert torch.equal(answer.normed_anew[others], answer.scores[others])


def test_without_biases_the_shift_and_the_projection_s_bias_are_left_out_as_well():
    """The row is that of a head without biases, whose norm computes its statistics of what is left."""
    case = Case(norm="pre", positional="none", architecture="decoder")
    place, biases = Place(1, "self_attention"), Source(BIASES)
    answer = held_out(case.streams, place, head=2, query=QUERY, source=biases)
    terms, layer = case.streams.before(place, [QUERY]).vectors[:, 0], case.model.stack.layers[1]
    left = terms[:-1].sum(0)
    normed = (left - left.mean()) / (left.var(correction=0) + 1e-5).sqrt() * layer.self_attention_norm.weight.detach()
    query = layer.self_attention.query_projection.weight.detach()[8:12] @ normed
    expected = case.trace["layers.1.self_attention.key"][0, 2] @ query / 2
    assert largest_error(answer.normed_anew, expected) < ROUNDING


def without_a_source(case, source, at):
    """What a source wrote at a position taken from the sub-layer's output: edits, and the inputs of the pass."""
    prefix = f"{source.stack}." if source.stack else ""
    if not source.part:
        [which] = [
            number for number, ids in enumerate(case.inputs) if not source.stack or number == ORDER[source.stack]
        ]
        inputs = [ids.clone() for ids in case.inputs]
        inputs[which][0, at] = SILENT
        return {}, inputs
    site, kept = f"{prefix}layers.{source.layer}.{source.part}.", {}
    module = case.model.get_submodule(site[:-1] if prefix else f"stack.{site[:-1]}")
    weight = module.output_projection.weight.detach()
    width = weight.shape[1] // HEADS
    what = "head_output" if source.is_head else "hidden"

    def look(x):
        kept["x"] = x[0, source.head, at] if source.is_head else x[0, at]
        return x

    def edit(x):
        columns = slice(source.head * width, (source.head + 1) * width) if source.is_head else slice(None)
        x[0, at] -= weight[:, columns] @ kept["x"]
        return x

    return {site + what: look, site + "output": edit}, case.inputs


ORDER = {"encoder": 0, "decoder": 1}
SILENT = VOCAB - 1  # a token whose embedding is 0, in these models


def with_a_silent_token(model):
    for name, parameter in model.named_parameters():
        if name.endswith("embedding.weight"):
            parameter.data[SILENT] = 0


@pytest.mark.crossed(
    architecture=ARCHITECTURES,
    positional=POSITIONAL,
    norm=NORMS,
    variant=["plain", "normed embeddings", "no biases", "masked"],
)
def test_silenced_are_the_scores_of_a_pass_in_which_the_source_wrote_nothing_there(
    architecture, positional, norm, variant
):
    blocks = {"positional": positional, "norm": norm, "change": with_a_silent_token}
    case = Case(variant, architecture=architecture, **blocks)
    for number, (_, place, site) in enumerate(case.places):
        if place.layer == 0:
            continue
        head = number % HEADS
        for key in (None, KEY):
            at, reads = (QUERY, place) if key is None else (KEY, case.streams.read_by_keys(place))
            for source in case.streams.before(reads).sources:
                if source.kind in ("position", "types", BIASES) or source.head not in SOME:
                    continue
                answer = held_out(case.streams, place, head=head, query=QUERY, source=source, key=key)
                edits, inputs = without_a_source(case, source, at)
                scores = rerun(case, edits, f"{site}scores", inputs)[0, head, QUERY]
                assert largest_error(answer.silenced, scores) < ROUNDING
                assert largest_error(answer.silenced, answer.scores) > 1e-6


def test_positions_and_token_types_are_silenced_as_by_rows_of_zeros():
    case = Case("normed embeddings", positional="learned")
    place, site = Place(1, "self_attention"), "layers.1.self_attention.scores"
    for kind in ("position", "types"):
        answer = held_out(case.streams, place, head=1, query=QUERY, source=Source(kind))
        table = case.model.stack.positional.weight if kind == "position" else case.model.stack.token_types.weight
        row, types = table.data[QUERY if kind == "position" else 1], torch.zeros_like(case.inputs[0])
        before = row.clone()
        row.zero_()
        types[0, QUERY] = int(kind == "types")  # this token alone is of the type whose row is zeros
        with torch.no_grad(), recording(site) as trace:
            case.model(*case.inputs, token_types=types)
        assert largest_error(answer.silenced, trace[site][0, 1, QUERY]) < ROUNDING
        row.copy_(before)


def graph_of(case, monkeypatch, minus=None):
    monkeypatch.setattr(graphs, "MOST_NODES", 10**6)
    return logit_graph(case.streams, position=READ, token=TOKEN, minus=minus, share=1e-18)


@pytest.mark.crossed(architecture=ARCHITECTURES, variant=VARIANTS, minus=[None, OTHER])
def test_in_post_norm_edges_into_the_logit_are_measured_as_promised(architecture, variant, minus, monkeypatch):
    case = Case(variant, architecture=architecture, norm="post", positional="learned")
    graph = graph_of(case, monkeypatch, minus)
    edges = [edge for edge in graph.edges if edge.target == -1]
    assert len(edges) > 8
    measured = measured_edges(case.streams, graph, edges, position=READ, token=TOKEN, minus=minus)
    for edge, fall in zip(edges, measured, strict=True):
        if graph.nodes[edge.source].source.kind == BIASES:
            assert math.isnan(fall)
        else:
            assert fall == pytest.approx(edge.weight, abs=ROUNDING)


@pytest.mark.crossed(
    architecture=ARCHITECTURES, norm=NORMS, normalization=NORMALIZATIONS, activation=ACTIVATIONS, num_kv_heads=[0, 2]
)
def test_each_edge_is_measured_as_by_an_edit_by_hand(
    architecture, norm, normalization, activation, num_kv_heads, monkeypatch
):
    blocks = {"normalization": normalization, "activation": activation, "num_kv_heads": num_kv_heads}
    case = Case(architecture=architecture, norm=norm, positional="learned", **blocks)
    graph, kinds = graph_of(case, monkeypatch), {}
    for edge in graph.edges:  # the largest of each kind of reader and each kind of source
        reads, reader = graph.nodes[edge.source], graph.nodes[edge.target] if edge.target >= 0 else None
        if reads.source.kind != BIASES:
            of_reader = (reader.source.kind, reader.source.stack) if reader else ()
            kinds.setdefault((reads.source.kind, *of_reader), edge)
    assert len(kinds) > 8
    measured = measured_edges(case.streams, graph, list(kinds.values()), position=READ, token=TOKEN)
    for edge, fall in zip(kinds.values(), measured, strict=True):
        reader = graph.nodes[edge.target] if edge.target >= 0 else None
        with torch.no_grad():
            logit = logit_without(case, graph.nodes[edge.source], reader)
        assert fall == pytest.approx((case.logits[READ, TOKEN] - logit).item(), abs=ROUNDING)


def logit_without(case, node, reader):
    """The logit of a pass in which a reader does not get what a node wrote: by edits of what it reads."""
    stack = "decoder" if case.across else ""
    if reader is None:
        place = Place(0, END, stack)
    else:
        place = Place(reader.source.layer, reader.source.part, reader.source.stack)
    reads = case.streams.read_by_keys(place)
    terms = case.streams.before(reads, [node.position])
    term = terms.vectors[terms.sources.index(node.source), 0]
    left = terms.vectors.sum(0)[0] - term
    prefix = f"{place.stack}." if place.stack else ""
    pre_norm = case.model.config.norm == "pre"
    if reader is None:
        states = case.model.states(*case.inputs, mask=case.mask)
        states[0, READ] = case.streams.stack(stack).final_norm(left) if pre_norm else left
        return case.model.logits(states)[0, READ, TOKEN]
    site, module = f"{prefix}layers.{place.layer}.{place.part}.", case.streams.layer(place)
    if place.part == "feed_forward":
        network = module.feed_forward
        output = network(module.feed_forward_norm(left) if pre_norm else left)

        def answer(x):
            x[0, reader.position] = output
            return x

        return logits_with(case, {f"{site}output": answer})
    attention = case.attention(site)
    norm = None
    if pre_norm:
        norm = module.get_submodule(f"{place.part}_norm") if place == reads else case.model.encoder.final_norm
    width = 16 // HEADS
    shared = reader.source.head // (HEADS // attention.num_kv_heads)
    read = term
    if norm is not None:  # the statistics stay as they were in the pass
        whole, is_layer = terms.vectors.sum(0)[0], isinstance(norm, torch.nn.LayerNorm)
        variance = whole.var(correction=0) if is_layer else whole.square().mean()
        read = (term - term.mean() if is_layer else term) / (variance + norm.eps).sqrt() * norm.weight
    value = attention.value_projection.weight[shared * width : (shared + 1) * width] @ read
    weight = case.trace[f"{site}weights"][0, reader.source.head, reader.position, node.position]

    def gathers(x):
        x[0, reader.source.head, reader.position] -= weight * value
        return x

    return logits_with(case, {f"{site}head_output": gathers})


def logits_with(case, edits):
    with recording(edits=edits):
        return case.model(*case.inputs, mask=case.mask)[0, READ, TOKEN]


def test_biases_are_never_measured(monkeypatch):
    case = Case(architecture="decoder")
    graph = graph_of(case, monkeypatch)
    edges = [edge for edge in graph.edges if graph.nodes[edge.source].source.kind == BIASES]
    assert edges
    assert all(math.isnan(fall) for fall in measured_edges(case.streams, graph, edges, position=READ, token=TOKEN))
