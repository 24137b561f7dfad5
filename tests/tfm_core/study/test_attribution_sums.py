"""Scores, written vectors, logits and streams in parts: beside the numbers that a pass recorded."""

from functools import lru_cache
from itertools import cycle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.tfm_core.toys import VOCAB, build, largest_error, random_ids, scramble
from tfm_core import POSITIONAL, causal_mask, recording
from tfm_core.model.attention import ATTENTION
from tfm_core.model.feed_forward import ACTIVATIONS
from tfm_core.model.kind import ARCHITECTURES, NORMS
from tfm_core.model.normalization import NORMALIZATIONS
from tfm_core.study.attribution import attribute_logit, attribute_score, attribute_written
from tfm_core.study.attribution.logits import logit_parts
from tfm_core.study.attribution.scores import (
    all_score_parts,
    bias_row,
    key_direction,
    query_direction,
    score_parts,
    score_row,
    value_direction,
)
from tfm_core.study.attribution.streams import END, Place, record
from tfm_core.study.attribution.values import written_parts

ROUNDING = 1e-9
LENGTH, TARGET = 6, 4  # of the text, and of the decoder's text beside an encoder
HEADS = 4

# What a model or its text can have beside the axes that are crossed: each is crossed with them as a whole.
VARIANTS = {
    "plain": {},
    "normed embeddings": {"attention": "window", "embedding_norm": True, "num_token_types": 2},
    "no biases": {"attention": "strided", "qkv_bias": False, "output_bias": False, "feed_forward_bias": False},
    "unscaled": {"attention": "fused", "scale_embeddings": False, "tie_embeddings": True, "norm_eps": 0.1},
    "padded": {"sliding_window": 3, "padding_takes_position": False, "position_offset": 2},
    "masked": {"rope_pairing": "neighbours", "positional_base": 1e5, "position_offset": 2},
}
# Activations and shared keys come with them: by themselves they would make 4320 combinations of 432.
for number, (changes, activation) in enumerate(zip(VARIANTS.values(), cycle(ACTIVATIONS), strict=False)):
    changes |= {"activation": activation, "num_kv_heads": 2 * (number % 2)}
CROSSED = {
    "architecture": ARCHITECTURES,
    "positional": POSITIONAL,
    "norm": NORMS,
    "normalization": NORMALIZATIONS,
    "variant": VARIANTS,
}
WITHOUT_BIAS = [name for name, scheme in POSITIONAL.items() if not scheme.overrides("bias_at")]


class Case:
    """A model with random parameters in float64 and a text: its streams, and all that a pass of it records."""

    def __init__(self, variant="plain", *, seed=0, length=LENGTH, target=TARGET, change=None, **axes):
        self.model = scramble(build(**{"num_heads": HEADS, **VARIANTS[variant], **axes}), torch.float64)
        if change is not None:
            change(self.model)
        self.inputs = (random_ids(1, length, seed=seed),)
        if self.across:
            self.inputs = (*self.inputs, random_ids(1, target, seed=seed + 1))
        if variant == "padded":
            self.inputs[0][0, -1] = 0
            self.inputs[0][0, 1] = 0
        length = self.inputs[-1].shape[1]
        self.mask = causal_mask(length) if variant == "masked" else None
        self.streams = record(self.model, *self.inputs, mask=self.mask, weights=True)
        with torch.no_grad(), recording() as self.trace:
            self.logits = self.model(*self.inputs, mask=self.mask)[0]

    @property
    def across(self):
        return self.model.config.architecture == "encoder-decoder"

    @property
    def kinds(self):
        return ("encoder", "decoder", "cross") if self.across else ("self",)

    @property
    def places(self):
        """Each attention: what it is called, where it stands, and what its sites begin with."""
        for kind in self.kinds:
            stack = {"self": "", "encoder": "encoder", "decoder": "decoder", "cross": "decoder"}[kind]
            part = "cross_attention" if kind == "cross" else "self_attention"
            for layer in range(self.model.config.num_layers):
                prefix = f"{stack}." if stack else ""
                yield kind, Place(layer, part, stack), f"{prefix}layers.{layer}.{part}."

    def attention(self, site):
        return self.model.get_submodule(site[:-1] if self.across else f"stack.{site[:-1]}")


@pytest.fixture
def case(architecture, positional, norm, normalization, variant):
    """The case of a test over `CROSSED`; tests leave it as it is."""
    return kept(variant, architecture=architecture, positional=positional, norm=norm, normalization=normalization)


kept = lru_cache(64)(Case)  # as many as pairs need


@pytest.mark.crossed(**CROSSED)
def test_parts_of_every_score_sum_to_the_recorded_score(case):
    for _, place, site in case.places:
        scores = case.trace[f"{site}scores"][0]
        for head in range(HEADS):
            parts = all_score_parts(case.streams, place, head=head)
            bias = torch.stack([bias_row(case.streams, place, head, query) for query in range(len(parts))])
            assert largest_error(parts.sum((2, 3)) + bias, scores[head]) < ROUNDING
            assert largest_error(score_row(case.streams, place, head, 1), scores[head, 1]) < ROUNDING


@pytest.mark.crossed(**CROSSED)
def test_one_score_by_a_call_is_the_recorded_one(case):
    for number, (kind, place, site) in enumerate(case.places):
        scores, (head, query, key) = case.trace[f"{site}scores"][0], (number % HEADS, TARGET - 1, number % 3)
        arguments = {"layer": place.layer, "head": head, "query": query, "key": key, "attention": kind}
        parts = attribute_score(case.model, *case.inputs, mask=case.mask, **arguments)
        assert parts.total == pytest.approx(scores[head, query, key].item(), abs=ROUNDING)
        assert float(parts.parts.sum()) + parts.scheme == pytest.approx(parts.total, abs=ROUNDING)
        assert parts.parts.shape == (len(parts.query_sources), len(parts.key_sources))
        biases = case.trace.get(f"{site}position_bias")
        scheme = 0.0 if biases is None else biases[head, query, key].item()
        assert parts.scheme == pytest.approx(scheme, abs=ROUNDING)


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=POSITIONAL, norm=NORMS, variant=VARIANTS)
def test_all_parts_are_those_of_each_score(architecture, positional, norm, variant):
    case = Case(variant, architecture=architecture, positional=positional, norm=norm)
    for number, (_, place, _) in enumerate(case.places):
        if place.layer == 0:
            continue
        head = number % HEADS
        parts = all_score_parts(case.streams, place, head=head)
        for query in range(parts.shape[0]):
            for key in range(parts.shape[1]):
                cell = score_parts(case.streams, place, head=head, query=query, key=key)
                assert largest_error(cell.parts, parts[query, key]) < ROUNDING


@pytest.mark.crossed(**CROSSED)
def test_directions_asked_of_query_and_key_give_the_sums_of_rows_and_columns(case):
    for number, (_, place, _) in enumerate(case.places):
        head, query, key = (number + 1) % HEADS, TARGET - 1, (number + 1) % 3
        parts = score_parts(case.streams, place, head=head, query=query, key=key).parts
        asked = query_direction(case.streams, place, head, query, key)
        of_keys = case.streams.before(case.streams.read_by_keys(place), [key]).vectors[:, 0]
        assert largest_error(of_keys[:-1] @ asked, parts.sum(0)[:-1]) < ROUNDING  # shifts come after the norm
        asked = key_direction(case.streams, place, head, query, key)
        of_queries = case.streams.before(place, [query]).vectors[:, 0]
        assert largest_error(of_queries[:-1] @ asked, parts.sum(1)[:-1]) < ROUNDING


def assert_written_sums(case):
    for number, (kind, place, site) in enumerate(case.places):
        head, query = number % HEADS, (number + 2) % TARGET
        arguments = {"layer": place.layer, "head": head, "query": query, "attention": kind}
        written = attribute_written(case.model, *case.inputs, mask=case.mask, **arguments)
        gathered = case.trace[f"{site}head_output"][0, head, query]
        assert largest_error(written.vectors.sum((0, 1)), gathered) < ROUNDING
        columns = slice(head * len(gathered), (head + 1) * len(gathered))
        added = gathered @ case.attention(site).output_projection.weight.detach()[:, columns].mT
        assert largest_error(written.written, added) < ROUNDING
        assert written.total == pytest.approx(added.norm().item(), abs=ROUNDING)
        assert written.parts.sum().item() == pytest.approx(added.norm().item(), abs=ROUNDING)
        direction = torch.randn(len(added), dtype=torch.float64)
        along = written.along(direction)
        assert along.shape == (written.vectors.shape[0], len(written.names))
        assert along.sum().item() == pytest.approx((direction @ added).item(), abs=ROUNDING)
        # Each key alone: its weight times its value.
        weights, values = case.trace[f"{site}weights"][0, head, query], case.trace[f"{site}value"][0]
        value = values[head // (HEADS // len(values))]
        assert largest_error(written.vectors.sum(1), weights[:, None] * value) < ROUNDING


@pytest.mark.crossed(**CROSSED)
def test_vectors_of_a_head_sum_to_what_it_gathered_and_parts_to_the_length_of_what_it_wrote(case):
    assert_written_sums(case)


@pytest.mark.crossed(
    architecture=ARCHITECTURES, positional=WITHOUT_BIAS, norm=NORMS, activation=ACTIVATIONS, num_kv_heads=[0, 2]
)
def test_linear_attention_has_values_and_logits_in_parts(architecture, positional, norm, activation, num_kv_heads):
    assert {changes["activation"] for changes in VARIANTS.values()} == set(ACTIVATIONS)
    assert {"full", "window", "strided", "fused", "linear"} == set(ATTENTION)  # a new one has to be crossed, too
    axes = {"positional": positional, "norm": norm, "activation": activation, "num_kv_heads": num_kv_heads}
    case = Case(attention="linear", architecture=architecture, **axes)
    assert_written_sums(case)
    assert_logit_sums(case)


def test_a_head_that_wrote_nothing_has_no_parts():
    case = Case(architecture="decoder")
    case.model.stack.layers[0].self_attention.value_projection.weight.data.zero_()
    case.model.stack.layers[0].self_attention.value_projection.bias.data.zero_()
    written = attribute_written(case.model, *case.inputs, layer=0, head=1, query=3)
    assert written.total == 0
    assert not written.parts.any()


def test_some_keys_of_a_row_are_the_rows_of_all():
    case = Case(norm="pre", positional="rope")
    place, keys = Place(1, "self_attention"), [4, 0, 2]
    row = case.trace["layers.1.self_attention.weights"][0, 3, 5]
    whole = written_parts(case.streams, place, head=3, weights=row)
    some = written_parts(case.streams, place, head=3, weights=row[keys], keys=keys)
    assert largest_error(some.vectors, whole.vectors[keys]) < ROUNDING


@pytest.mark.crossed(**CROSSED)
def test_a_direction_asked_of_a_head_s_output_is_pulled_back_to_what_each_key_holds(case):
    for number, (_, place, site) in enumerate(case.places):
        head, key = number % HEADS, (number + 1) % 3
        direction = torch.randn(16, dtype=torch.float64)
        terms = case.streams.before(case.streams.read_by_keys(place), [key]).vectors[:, 0]
        asked = value_direction(case.streams, place, head, key, direction)
        row = torch.zeros(case.trace[f"{site}weights"].shape[-1], dtype=torch.float64)
        row[key] = 1.0
        along = written_parts(case.streams, place, head=head, weights=row).along(direction)[key]
        assert largest_error((terms @ asked)[:-1], along[:-1]) < ROUNDING


def assert_logit_sums(case):
    position = case.inputs[-1].shape[1] - 2
    arguments = {"position": position, "mask": case.mask}
    logits, token, other = case.logits[position], 5, 17
    alone = attribute_logit(case.model, *case.inputs, token=token, **arguments)
    assert alone.total == pytest.approx(logits[token].item(), abs=ROUNDING)
    both = attribute_logit(case.model, *case.inputs, token=token, minus=other, **arguments)
    assert both.total == pytest.approx((logits[token] - logits[other]).item(), abs=ROUNDING)
    subtracted = attribute_logit(case.model, *case.inputs, token=other, **arguments)
    assert largest_error(both.parts, alone.parts - subtracted.parts) < ROUNDING
    assert alone.parts.shape == (len(alone.names),)


@pytest.mark.crossed(**CROSSED)
def test_parts_of_a_logit_sum_to_it_and_to_the_difference_of_two(case):
    assert_logit_sums(case)


@pytest.mark.crossed(**CROSSED)
def test_the_stream_before_each_place_and_what_is_read_there_are_the_recorded_ones(case):
    for stack in {place.stack for _, place, _ in case.places}:
        prefix, order = f"{stack}." if stack else "", case.streams.order(stack)
        for place in order:
            site = f"{prefix}layers.{place.layer}.{place.part}."
            before, read = case.streams.before(place), case.streams.read(place)
            assert largest_error(before.vectors.sum(0), case.trace[f"{site}residual_before"][0]) < ROUNDING
            normed = f"{site}normed" if case.model.config.norm == "pre" else f"{site}residual_before"
            assert largest_error(read.vectors.sum(0), case.trace[normed][0]) < ROUNDING
            some = case.streams.read(place, [2, 0])
            assert largest_error(some.vectors, read.vectors[:, [2, 0]]) < ROUNDING
            assert len(before.names) == len(set(before.names)) == len(before.vectors)
        end, last = Place(0, END, stack), f"{prefix}layers.{order[-1].layer}.feed_forward.residual_after"
        assert largest_error(case.streams.before(end).vectors.sum(0), case.trace[last][0]) < ROUNDING
        final = f"{prefix}final_norm" if case.model.config.norm == "pre" else last
        assert largest_error(case.streams.read(end).vectors.sum(0), case.trace[final][0]) < ROUNDING


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, normalization=NORMALIZATIONS, num_layers=[1, 3])
def test_each_term_that_a_layer_adds_is_what_it_wrote(architecture, norm, normalization, num_layers):
    """A term stays as it was written in pre-norm; in post-norm the norm of its layer has scaled it."""
    sizes = {"normalization": normalization, "num_layers": num_layers}
    case = Case(architecture=architecture, norm=norm, positional="learned", **sizes)
    for _, place, site in case.places:
        weight = case.attention(site).output_projection.weight.detach()
        gathered = case.trace[f"{site}head_output"][0]
        wrote = torch.stack([gathered[h] @ weight[:, 4 * h : 4 * h + 4].mT for h in range(HEADS)])
        assert largest_error(case.streams.written(place), wrote) < ROUNDING
        end = case.streams.before(Place(0, END, place.stack))
        rows = [
            at
            for at, source in enumerate(end.sources)
            if source.part == place.part and source.layer == place.layer and source.is_head
        ]
        assert [end.sources[row].head for row in rows] == list(range(HEADS))
        if case.model.config.norm == "pre":
            assert largest_error(end.vectors[rows], wrote) < ROUNDING
        else:
            assert largest_error(end.vectors[rows], wrote) > 1e-3


@pytest.mark.crossed(architecture=ARCHITECTURES, norm=NORMS, normalization=NORMALIZATIONS, num_layers=[1, 3])
def test_a_direction_is_pulled_back_through_all_norms_to_what_a_source_wrote(
    architecture, norm, normalization, num_layers
):
    case = Case(architecture=architecture, norm=norm, normalization=normalization, num_layers=num_layers)
    direction = torch.randn(16, dtype=torch.float64)
    for stack in {place.stack for _, place, _ in case.places}:
        for read in [*case.streams.order(stack), Place(0, END, stack)]:
            terms = case.streams.before(read, [2])
            for source, term in zip(terms.sources, terms.vectors[:, 0], strict=True):
                if not source.part:
                    continue
                prefix = f"{stack}." if stack else ""
                site = f"{prefix}layers.{source.layer}.{source.part}."
                output_projection = case.attention(site).output_projection  # or the network's
                if source.is_head:
                    columns = slice(4 * source.head, 4 * source.head + 4)
                    gathered = case.trace[f"{site}head_output"][0, source.head, 2]
                    wrote = output_projection.weight.detach()[:, columns] @ gathered
                else:
                    wrote = case.trace[f"{site}output"][0, 2] - output_projection.bias.detach()
                asked = case.streams.asked_of(source, read, 2, direction)
                assert (asked @ wrote).item() == pytest.approx((direction @ term).item(), abs=ROUNDING)


@pytest.mark.crossed(architecture=ARCHITECTURES, positional=POSITIONAL, norm=NORMS)
def test_of_a_pass_in_float32_sums_are_off_by_its_rounding_alone(architecture, positional, norm):
    case = Case(architecture=architecture, positional=positional, norm=norm, change=nn.Module.float)
    assert case.logits.dtype == torch.float32
    for _, place, site in case.places:
        scores = case.trace[f"{site}scores"][0, 2, 3]
        row = score_row(case.streams, place, 2, 3)
        assert largest_error(row, scores) < 1e-5 * (1 + scores.abs().max())
        parts = score_parts(case.streams, place, head=2, query=3, key=1)
        assert parts.parts.dtype == torch.float64
        assert parts.total == pytest.approx(row[1].item(), abs=ROUNDING)
    logit = logit_parts(case.streams, position=3, token=5)
    assert logit.total == pytest.approx(case.logits[3, 5].item(), rel=1e-5, abs=1e-5)


@given(
    seed=st.integers(0, 1000),
    length=st.integers(1, 9),
    target=st.integers(1, 5),
    architecture=st.sampled_from(ARCHITECTURES),
    positional=st.sampled_from(sorted(POSITIONAL)),
    norm=st.sampled_from(NORMS),
    variant=st.sampled_from(["plain", "masked", "normed embeddings"]),
    data=st.data(),
)
def test_any_text_and_any_place_has_its_number_in_parts(seed, length, target, data, variant, **axes):
    torch.default_generator.manual_seed(seed)
    case = Case(variant, seed=seed, length=length, target=target, **axes)
    _, place, site = data.draw(st.sampled_from(list(case.places)))
    scores = case.trace[f"{site}scores"][0]
    head, query, key = (data.draw(st.integers(0, size - 1)) for size in scores.shape)
    parts = score_parts(case.streams, place, head=head, query=query, key=key)
    assert parts.total == pytest.approx(scores[head, query, key].item(), abs=ROUNDING)
    weights = case.trace[f"{site}weights"][0, head, query]
    written = written_parts(case.streams, place, head=head, weights=weights)
    gathered = case.trace[f"{site}head_output"][0, head, query]
    assert largest_error(written.vectors.sum((0, 1)), gathered) < ROUNDING
    position, token = data.draw(st.integers(0, len(case.logits) - 1)), data.draw(st.integers(0, VOCAB - 1))
    logit = logit_parts(case.streams, position=position, token=token)
    assert logit.total == pytest.approx(case.logits[position, token].item(), abs=ROUNDING)
