"""An induction head whose weights are written by hand: what an attribution must say of it is known beforehand.

Layer 1, head 1 copies each token's identity to the next position. Layer 2, head 1 looks for the key whose copy is the
query's own token, and so finds what came after it last time. Olsson et al. 2022, "In-context Learning and Induction
Heads". All other weights are small random numbers, so that other sources say something, too.
"""

import pytest
import torch

from tfm_core import Transformer, TransformerConfig
from tfm_core.study.attribution import attribute_logit, attribute_score, attribute_written
from tfm_core.study.attribution.graph import logit_graph
from tfm_core.study.attribution.scores import query_direction
from tfm_core.study.attribution.sources import Source
from tfm_core.study.attribution.streams import Place, record
from tfm_core.study.attribution.values import written_parts

VOCAB, LENGTH, WIDTH = 8, 8, 16  # WIDTH of a head: a token, or a position, fits in
TOKEN, COPY, POSITION, NEXT = 0, 8, 16, 24  # where each begins in the stream, of 32 dimensions
TEXT = torch.tensor([[0, 3, 5, 1, 7, 2, 3, 4]])  # after the second 3, what came after the first: 5
QUERY, KEY = 6, 2  # the second 3, and the token after the first
MATCH, WRITTEN_BY = Source("embedding"), Source("head", 0, 0)


@pytest.fixture(params=["pre", "post"])
def model(request):
    """Each embedding has one 1 for the token and one for the position, so that no norm treats two of them unlike."""
    config = TransformerConfig(
        vocab_size=VOCAB,
        architecture="decoder",
        d_model=32,
        num_heads=2,
        num_layers=2,
        max_len=LENGTH,
        positional="learned",
        norm=request.param,
        normalization="rms",
        scale_embeddings=False,
        pad_id=-1,
    )
    model = Transformer(config).double().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.fill_(1.0)
            else:
                parameter.normal_(std=0.01)
        unit = torch.eye(8, dtype=torch.float64)
        model.stack.embedding.weight[:, TOKEN : TOKEN + 8] += unit
        model.stack.positional.weight[:, POSITION : POSITION + 8] += unit
        copies, induces = (layer.self_attention for layer in model.stack.layers)
        copies.query_projection.weight[0:7, POSITION + 1 : POSITION + 8] += 40 * unit[:7, :7]  # p asks for p - 1
        copies.key_projection.weight[0:8, POSITION : POSITION + 8] += unit
        copies.value_projection.weight[0:8, TOKEN : TOKEN + 8] += unit / 2
        copies.output_projection.weight[COPY : COPY + 8, 0:8] += unit
        induces.query_projection.weight[0:8, TOKEN : TOKEN + 8] += 40 * unit
        induces.key_projection.weight[0:8, COPY : COPY + 8] += unit
        induces.value_projection.weight[0:8, TOKEN : TOKEN + 8] += unit
        induces.output_projection.weight[NEXT : NEXT + 8, 0:8] += 2 * unit
        model.unembedding.weight[:, NEXT : NEXT + 8] += 3 * unit
    return model


def test_the_heads_do_what_they_were_written_for(model):
    streams = record(model, TEXT, weights=True)
    first, second = (streams.site(Place(layer, "self_attention"), "weights")[0] for layer in (0, 1))
    assert first.diagonal(-1).min() > 0.99
    assert second[QUERY].argmax() == KEY
    assert second[QUERY, KEY] > 0.9


def test_the_score_names_the_token_that_asks_and_the_head_that_answers(model):
    parts = attribute_score(model, TEXT, layer=1, head=0, query=QUERY, key=KEY)
    row, column = divmod(int(parts.parts.argmax()), parts.parts.shape[1])
    assert (parts.query_side[row], parts.key_side[column]) == (MATCH, WRITTEN_BY)
    assert (parts.query_sources[row], parts.key_sources[column]) == ("token embedding", "layer 1, head 1")
    largest = parts.parts[row, column].item()
    assert largest > 0.9 * parts.total
    others = parts.parts.abs().clone()
    others[row, column] = 0
    assert others.max() < largest / 10
    # A key without a match is not given anything by the same pair.
    other = attribute_score(model, TEXT, layer=1, head=0, query=QUERY, key=4)
    assert other.parts[row, column].abs() < largest / 10


def test_what_the_answering_head_wrote_is_opened_to_the_token_before(model):
    streams = record(model, TEXT, weights=True)
    induces, copies = Place(1, "self_attention"), Place(0, "self_attention")
    asked = query_direction(streams, induces, 0, QUERY, KEY)
    asked = streams.asked_of(WRITTEN_BY, induces, KEY, asked)
    opened = written_parts(streams, copies, head=0, weights=streams.site(copies, "weights")[0, KEY])
    along = opened.along(asked)
    key, row = divmod(int(along.argmax()), along.shape[1])
    assert (key, opened.sources[row]) == (KEY - 1, MATCH)
    assert along[key, row] > 0.9 * along.sum()
    others = along.abs().clone()
    others[key, row] = 0
    assert others.max() < along[key, row] / 10
    # All that the head wrote is what the score owes to it.
    parts = attribute_score(model, TEXT, layer=1, head=0, query=QUERY, key=KEY)
    owed = parts.parts[:, parts.key_side.index(WRITTEN_BY)].sum()
    assert along.sum().item() == pytest.approx(owed.item(), abs=1e-9)


def test_what_the_induction_head_writes_is_the_token_after_the_match(model):
    written = attribute_written(model, TEXT, layer=1, head=0, query=QUERY)
    key, row = divmod(int(written.parts.argmax()), written.parts.shape[1])
    assert (key, written.sources[row]) == (KEY, MATCH)
    assert written.parts[key, row] > 0.8 * written.total


def test_the_logit_of_the_next_token_is_due_to_the_induction_head(model):
    logits = model(TEXT)[0, QUERY]
    assert logits.argmax() == TEXT[0, KEY]
    parts = attribute_logit(model, TEXT, position=QUERY, token=int(TEXT[0, KEY]))
    assert parts.sources[int(parts.parts.argmax())] == Source("head", 1, 0)
    assert parts.parts.max() > 0.9 * parts.total
    streams = record(model, TEXT, weights=True)
    graph = logit_graph(streams, position=QUERY, token=int(TEXT[0, KEY]), share=0.1)
    chain = [(graph.nodes[edge.source], edge.target) for edge in graph.edges[:2]]
    assert {(node.source, node.position) for node, _ in chain} == {(MATCH, KEY), (Source("head", 1, 0), QUERY)}
