"""What an attribution refuses, and that it says what was expected and what came."""

import pytest
import torch

from tests.tfm_core.study.test_attribution_sums import Case
from tests.tfm_core.toys import VOCAB, build, random_ids
from tfm_core.study.attribution import attribute_logit, attribute_score, attribute_written
from tfm_core.study.attribution.flow import flow_to
from tfm_core.study.attribution.graph import logit_graph
from tfm_core.study.attribution.held_out import held_out, silence
from tfm_core.study.attribution.logits import logit_parts
from tfm_core.study.attribution.scores import all_score_parts, score_parts
from tfm_core.study.attribution.sources import BIASES, Source
from tfm_core.study.attribution.streams import Place, record

TOKENS = random_ids(1, 6)
SELF, CROSS = Place(0, "self_attention"), Place(0, "cross_attention", "decoder")
SCORE = {"layer": 0, "head": 0, "query": 0, "key": 0}
LOGIT = {"position": 0, "token": 0}
WRONG = [-1, 0.0, True, None]  # beside the first number that is too large: of no kind of index


def outside(**sizes):
    """Each argument with values that it cannot have, and how large it may be."""
    return [(what, value, size) for what, size in sizes.items() for value in (size, *WRONG)]


def told(what, value, size):
    return rf"^{what}: expected a number from 0 to {size - 1}, got {value!r}$"


@pytest.mark.parametrize(("what", "value", "size"), outside(layer=2, head=4, query=6, key=6))
def test_a_score_is_refused_where_there_is_none(what, value, size):
    with pytest.raises(ValueError, match=told(what, value, size)):
        attribute_score(build(), TOKENS, **{**SCORE, what: value})


@pytest.mark.parametrize(("what", "value", "size"), outside(layer=2, head=4, query=6))
def test_a_written_vector_is_refused_where_there_is_none(what, value, size):
    arguments = {name: index for name, index in SCORE.items() if name != "key"}
    with pytest.raises(ValueError, match=told(what, value, size)):
        attribute_written(build(), TOKENS, **{**arguments, what: value})


@pytest.mark.parametrize(("what", "value", "size"), outside(position=6, token=VOCAB))
@pytest.mark.parametrize("asks", [logit_parts, flow_to, logit_graph])
def test_a_logit_is_refused_where_there_is_none(asks, what, value, size):
    streams = record(build(), TOKENS, weights=True)
    with pytest.raises(ValueError, match=told(what, value, size)):
        asks(streams, **{**LOGIT, what: value})


@pytest.mark.parametrize("asks", [logit_parts, flow_to, logit_graph])
def test_a_token_that_is_not_there_cannot_be_subtracted(asks):
    streams = record(build(), TOKENS, weights=True)
    with pytest.raises(ValueError, match=told("minus", VOCAB, VOCAB)):
        asks(streams, **LOGIT, minus=VOCAB)


@pytest.mark.parametrize(("what", "value", "size"), outside(head=4, query=6, key=6))
def test_a_row_is_held_out_where_there_is(what, value, size):
    arguments = {"head": 0, "query": 0, "source": Source("embedding"), what: value}
    if (what, value) == ("key", None):
        assert held_out(record(build(), TOKENS), SELF, **arguments).scores.shape == (6,)
        return
    with pytest.raises(ValueError, match=told(what, value, size)):
        held_out(record(build(), TOKENS), SELF, **arguments)


@pytest.mark.parametrize("what", ["query", "key"])
def test_of_cross_attention_queries_are_the_decoder_s_and_keys_the_encoder_s(what):
    model, target = build(architecture="encoder-decoder"), random_ids(1, 3)
    size = {"query": 3, "key": 6}[what]
    arguments = {**SCORE, "attention": "cross"}
    attribute_score(model, TOKENS, target, **{**arguments, what: size - 1})
    with pytest.raises(ValueError, match=told(what, size, size)):
        attribute_score(model, TOKENS, target, **{**arguments, what: size})
    with pytest.raises(ValueError, match=told(what, size, size)):
        held_out(
            record(model, TOKENS, target), CROSS, **{"head": 0, "query": 0, what: size}, source=Source("embedding")
        )


@pytest.mark.parametrize("share", [0, -0.1, 1.0001, float("nan"), float("inf")])
def test_a_share_is_one_of_the_whole(share):
    streams = record(build(), TOKENS, weights=True)
    with pytest.raises(ValueError, match=rf"^share: expected a number above 0, up to 1; got {share!r}$"):
        logit_graph(streams, **LOGIT, share=share)


@pytest.mark.parametrize("shape", [(2, 6), (6,), (1, 1, 6)])
def test_a_single_text_is_asked_about(shape):
    with pytest.raises(ValueError, match=rf"^expected one text, token ids \(1, seq\); got \({str(shape)[1:-1]}\)$"):
        record(build(), random_ids(*shape))


@pytest.mark.parametrize(
    ("architecture", "attention", "kinds"),
    [
        *[("decoder", kind, "self") for kind in ("encoder", "decoder", "cross", "", "selves")],
        *[("encoder-decoder", kind, "encoder, decoder, cross") for kind in ("self", "")],
    ],
)
@pytest.mark.parametrize("attribute", [attribute_score, attribute_written])
def test_an_attention_is_named_as_the_architecture_has_it(attribute, architecture, attention, kinds):
    model = build(architecture=architecture)
    inputs = (TOKENS, TOKENS) if architecture == "encoder-decoder" else (TOKENS,)
    arguments = {name: 0 for name in SCORE if attribute is attribute_score or name != "key"}
    with pytest.raises(ValueError, match=rf"^attention: expected one of {kinds}; got {attention!r}$"):
        attribute(model, *inputs, **arguments, attention=attention)


def test_linear_attention_has_no_scores_to_be_split():
    streams = record(build(attention="linear"), TOKENS)
    expected = r"^expected an attention with scores, got LinearAttention, which has none$"
    with pytest.raises(ValueError, match=expected):
        score_parts(streams, SELF, head=0, query=0, key=0)
    with pytest.raises(ValueError, match=expected):
        all_score_parts(streams, SELF, head=0)
    for source in (Source("embedding"), Source(BIASES)):
        with pytest.raises(ValueError, match=expected):
            held_out(streams, SELF, head=0, query=0, source=source)


def test_cross_attention_of_a_model_with_linear_attention_has_scores():
    case = Case(architecture="encoder-decoder", attention="linear")
    parts = score_parts(case.streams, CROSS, head=1, query=2, key=5)
    score = case.trace["decoder.layers.0.cross_attention.scores"][0, 1, 2, 5]
    assert parts.total == pytest.approx(score.item(), abs=1e-9)


@pytest.mark.parametrize(("head", "why"), [("none", "with none"), ("masked", "with a network between")])
def test_logits_that_are_not_linear_in_the_last_vectors_are_not_split(head, why):
    model = build(head=head)
    expected = rf"^expected a model whose logits are linear in its last vectors, got one {why}"
    with pytest.raises(ValueError, match=expected):
        attribute_logit(model, TOKENS, **LOGIT)
    streams = record(model, TOKENS, weights=True)
    for asks in (flow_to, logit_graph):
        with pytest.raises(ValueError, match=expected):
            asks(streams, **LOGIT)
    # What does not end in logits is split as in other models.
    assert attribute_score(model, TOKENS, **SCORE).parts.isfinite().all()


def test_a_source_that_has_not_written_yet_cannot_be_held_out():
    streams = record(build(), TOKENS)
    with pytest.raises(
        ValueError, match=r"^expected one of the sources token embedding, .*biases; got layer 1, head 1$"
    ):
        held_out(streams, SELF, head=0, query=0, source=Source("head", 0, 0))


def test_biases_cannot_be_silenced():
    with pytest.raises(ValueError, match=r"^expected a source that can be silenced, got the biases$"):
        silence(record(build(), TOKENS), Source(BIASES), 0)


@pytest.mark.parametrize("name", ["encoder", "decoder", "self"])
def test_a_stack_is_named_as_the_architecture_has_it(name):
    streams = record(build(), TOKENS)
    with pytest.raises(ValueError, match=rf"^expected a stack of \(''\,\), got {name!r}$"):
        streams.stack(name)


def test_nothing_of_a_model_is_changed_and_no_gradient_is_asked_for():
    case = Case(architecture="encoder-decoder", positional="t5")
    before = {name: parameter.clone() for name, parameter in case.model.named_parameters()}
    assert torch.is_grad_enabled()
    parts = attribute_score(case.model, *case.inputs, **SCORE, attention="decoder")
    graph = logit_graph(case.streams, position=1, token=3, share=0.1)
    answer = held_out(case.streams, CROSS, head=0, query=1, source=Source("embedding", stack="encoder"), key=2)
    assert graph.edges
    assert not any(x.requires_grad for x in (parts.parts, answer.silenced, answer.scores))
    assert all(torch.equal(parameter, before[name]) for name, parameter in case.model.named_parameters())
