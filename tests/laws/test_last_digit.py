"""What is computed from a cached pass, for any layer and head, equals a recording of the model, to the last digit.

Queries and keys of a sentence in a batch are equal to the last digit, and weights to rounding: on some processors
(AMD's, under MKL) the last digit of a product of matrices depends on where in a batch the matrices stand.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import POSITIONAL, causal_mask, recording
from tfm_core.study.empty_rows import instead
from tfm_core.study.interventions import in_turn
from tfm_ui.lenses.attention.change import ChangeWeights
from tfm_ui.lenses.attention.changes import edits_of, parse
from tfm_ui.lenses.attention.inside import inside as inside_of
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.masks.conventions.calls import attention_inputs
from tfm_ui.lenses.masks.masked_passes import forward_under_mask, layer_sites, obeyed, reads
from tfm_ui.lenses.masks.padding import beside, empty_rows, treated
from tfm_ui.lenses.masks.padding.padded import batch_of, without_keys
from tfm_ui.lenses.masks.state import SIDES, MasksState, setting
from tfm_ui.lenses.positions import model_runs
from tfm_ui.live import origins, passes, places, streams
from tfm_ui.live.origins import Heads
from tfm_ui.state.model_state import ModelState

WORDS = " ".join(f"w{i % 40}" for i in range(300))
LENGTHS = {  # 2 tokens; 10, 4 of them padding; 300
    "two": ModelState(text="a b", target="x", seq_len=2),
    "padded": ModelState(text="the cat sat on it", seq_len=10, target="x y z", num_heads=8, num_layers=3),
    "long": ModelState(text=WORDS, target=WORDS, seq_len=300, num_heads=2),
}
KINDS = [
    {"architecture": "encoder", "causal": True, "norm": "pre"},
    {"architecture": "encoder", "causal": False, "norm": "post"},
    {"architecture": "decoder", "norm": "post"},
]
AXES = {
    "scheme": list(POSITIONAL),
    "architecture": ["encoder", "decoder", "encoder-decoder"],
    "causal": [True, False],
    "norm": ["pre", "post"],
}
every_model = pytest.mark.crossed(length=list(LENGTHS), **AXES)


@pytest.fixture
def model(length, scheme, architecture, causal, norm) -> ModelState:
    """A model of these kinds."""
    return replace(LENGTHS[length], positional=scheme, architecture=architecture, causal=causal, norm=norm)


def same(kept, recorded) -> None:
    """Check that both are equal to the last digit; a NaN equals a NaN."""
    kept, recorded = (torch.as_tensor(np.asarray(x)) for x in (kept, recorded))
    assert torch.equal(kept.nan_to_num(123), recorded.nan_to_num(123))


def same_in_a_batch(heads: Heads, trace, at: str, layer: int, item: int) -> None:
    """Check a layer's queries and keys of a sentence in a batch; `at` has a placeholder {what}."""
    for what in ("query", "key"):
        site = at.format(what=f"rotated_{what}")
        recorded = trace[site if site in trace else at.format(what=what)]
        same(getattr(heads.origins[layer], what), recorded[item : item + 1])


def same_but_for_rounding(kept, recorded) -> None:
    """Check that both weights are equal to rounding."""
    torch.testing.assert_close(torch.as_tensor(np.asarray(kept)), recorded, rtol=1e-5, atol=1e-7)


def recorded_of(model: ModelState, edits=None):
    with torch.no_grad(), recording(edits=edits) as trace:
        logits = passes.forward(model)
    return dict(trace) | {"logits": logits}


def every_head(model: ModelState):
    return [(layer, head) for layer in (0, model.num_layers - 1) for head in range(model.num_heads)]


@every_model
def test_what_an_attention_read_and_wrote(model):
    trace = recorded_of(model)
    for kind in places.PLACES[model.is_encoder_decoder]:
        for layer in (0, model.num_layers - 1):
            at, inside = places.place(model, kind).replace("{layer}", str(layer)), inside_of(model, kind, layer)
            start = at.partition("layers.")[0]
            of_attention = {name: site for name in inside.recorded if (site := at.format(what=name)) in trace}
            assert inside.recorded.keys() - of_attention.keys() <= {"embedding", "position"}
            for name in inside.recorded.keys() - of_attention.keys():
                tensor = trace[f"{start}{name}"]
                same(inside.recorded[name], tensor if name == "position" else tensor[0])
            for name, site in of_attention.items():
                same(inside.recorded[name], trace[site][0])
            before = trace[at.format(what="residual_before")][0]
            same(inside.residual, before)
            same(inside.input, trace[at.format(what="normed")][0] if model.norm == "pre" else before)
            same(inside.memory, trace[streams.memory_site(model.config)][0] if kind == "cross" else inside.input)
            same(inside.visible, trace[at.format(what="mask")].expand(1, 1, *inside.visible.shape)[0, 0])
            for head in range(model.num_heads):
                same(inside.origin.scores(head), trace[at.format(what="scores")][0, head])
                same(inside.weights(head), trace[at.format(what="weights")][0, head])


@every_model
def test_the_heads_of_a_scheme_and_the_output_that_is_shuffled(model):
    kind = "encoder" if model.is_encoder_decoder else "self"
    trace, read = recorded_of(model), model_runs.reading(model)
    stack = streams.stack_of(model.config, kind)
    end = "final_norm" if model.norm == "pre" else f"layers.{model.num_layers - 1}.feed_forward.residual_after"
    same(read.output, trace[stack + end])
    for layer, head in every_head(model):
        at = places.place(model, kind)
        same(read.attention[0].scores(layer, head), trace[at.format(layer=layer, what="scores")][0, head])
        same(model_runs.one_head(model, layer, head).weights, trace[at.format(layer=layer, what="weights")][0, head])


@pytest.mark.parametrize("scheme", ["sinusoidal", "learned"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_sentence_of_a_batch_to_which_positions_are_added_along_the_wrong_axis(kind, scheme):
    model = replace(LENGTHS["padded"], positional=scheme, **kind)
    read = model_runs.reading(model, batch=3, along="batch")
    stack = passes.transformer(model.config).stack
    pe, mask = stack.positional.encode(model.config.max_len), causal_mask(model.length)
    along = {"embedding": lambda x: x + pe[:3, None], "position": torch.zeros_like}
    with torch.no_grad(), recording(["*.weights", "*query", "*key"], along) as trace:
        stack(model.source_tokens.batch.expand(3, -1), mask if model.masks_the_future else None)
    for layer, head in every_head(model):
        for i in range(3):
            at = f"layers.{layer}.self_attention.{{what}}"
            same_in_a_batch(read.attention[i], trace, at, layer, i)
            same_but_for_rounding(read.attention[i].exact(layer, head), trace[at.format(what="weights")][i, head])


CHANGES = {
    "encoder": "weight 1.1 2>1 0.9; silence 1.2; weight 2.2 2>2 0.3; weight 2.2 2>1 0.2 raw; zero 2 1",
    "decoder": "weight decoder 1.1 1>1 0.9; weight decoder 2.2 1>1 0.3; silence decoder 1.2; silence 1.1",
    "cross": "weight cross 2.2 1>1 0.4; weight cross 1.1 1>2 0.4 raw; zero cross 1 1",
}


@every_model
def test_the_weights_of_a_changed_model(model):
    for kind in ("encoder", "decoder", "cross") if model.is_encoder_decoder else ("encoder",):
        changes, problems = parse(CHANGES[kind])
        assert not problems

        made = {name: in_turn(*(call() for call in calls)) for name, calls in edits_of(changes, model).items()}
        traces = [recorded_of(model), recorded_of(model, made)]
        site = places.place(model, places.kind_of(model, kind))
        for layer, head in every_head(model):
            state = AttentionState(kind=kind, layer=layer + 1, head=head + 1, changes=CHANGES[kind])
            both = ChangeWeights(model, state)
            rows, columns = np.ix_(both.rows, both.columns)
            for weights, trace in zip(both.weights, traces, strict=True):
                same(weights, trace[site.format(layer=layer, what="weights")][0, head].numpy()[rows, columns])
            last = len((model.target_tokens if model.is_encoder_decoder else model.source_tokens).pieces) - 1
            ends = [trace["logits"][0, last].softmax(-1) for trace in traces]
            same(both.effect.probabilities, torch.stack(ends))
        assert both.effect.moved.any()


def masked(model: ModelState):
    """Composed and painted masks, of each attention that may have one."""
    places = ("decoder", "cross") if model.is_encoder_decoder else ("decoder",)
    for place in places:
        yield MasksState(place=place, texts="the dog barked at me\nno", item=2)
        yield MasksState(place=place, mask="global 1 or window 2 and padding", paint="1x1.TAg", texts="no", item=1)


@every_model
def test_heads_under_a_mask(model):
    for state in masked(model):
        now = setting(model, state)
        where = places.place(now.model, now.place)
        _, trace = forward_under_mask(now, [where.format(layer="*", what=what) for what in ("scores", "weights")])
        for layer, head in every_head(model):
            masked_head = obeyed(now, layer, head)
            same(masked_head.scores, trace[where.format(layer=layer, what="scores")][0, head])
            same(masked_head.weights, trace[where.format(layer=layer, what="weights")][0, head])
            same(masked_head.mask, now.mask)


@pytest.mark.crossed(length=list(LENGTHS), side=SIDES, **AXES)
def test_heads_of_a_sentence_alone_and_in_its_batch(model, side):
    for state in masked(model):
        batch = batch_of(model, replace(state, pad_side=side))
        where, sites = places.place(model, batch.setting.place), layer_sites(batch.setting.model)
        runs = beside.runs(batch)
        alone, mask = batch.alone
        inputs = {"alone": (alone, mask, slice(0, len(mask)), 0)}
        for way, hidden in (("with", True), ("without", False)):
            inputs[way] = (batch.source, batch.masks(hidden=hidden), batch.queries, batch.item)
        for way, (source, mask, rows, item) in inputs.items():
            wanted = [*sites, where.format(layer="*", what="weights"), *origins.sites(where)]
            _, trace = forward_under_mask(batch.setting, wanted, mask=mask, source=source)
            same(runs[way].streams, torch.stack([trace[site][item, rows] for site in sites]))
            equal = same if way == "alone" else same_but_for_rounding
            for layer, head in every_head(model):
                at = where.replace("{layer}", str(layer))
                same_in_a_batch(runs[way].heads, trace, at, layer, item)
                equal(runs[way].weights(layer, head), trace[at.format(what="weights")][item, head, rows])


@pytest.mark.crossed(length=["two", "padded"], **AXES)
def test_what_layers_read_and_the_weight_on_rows_without_a_key(model):
    for state in masked(model):
        batch = batch_of(model, state)
        mask, empty, _ = without_keys(batch, 1)
        where = places.place(model, batch.setting.place)
        wanted = [site for layer in range(model.num_layers) for site in reads(batch.setting, layer)]
        wanted += [where.format(layer="*", what=what) for what in ("weights", "output")]
        _, trace = forward_under_mask(batch.setting, wanted, mask=mask, source=batch.chosen_source)
        for layer in (0, model.num_layers - 1):
            output, case = empty_rows.treated_rows(batch, 1, layer)["ours"]
            queries, keys = reads(batch.setting, layer)
            same(case.queries, trace[queries])
            same(case.keys, trace[keys])
            same(output.output, trace[where.format(layer=layer, what="output")])
            same(output.weights, trace[where.format(layer=layer, what="weights")])
        blind = ~mask[:, empty].any(-1) & mask.any(-1)
        for way, spread in treated.treated_passes(batch, 1).items():
            weights_of = treated.SPREADS[way]
            ours = instead(weights_of, where.format(layer="*", what="").removesuffix(".")) if weights_of else None
            second = where.format(layer=1, what="weights")
            _, trace = forward_under_mask(batch.setting, [second], mask=mask, source=batch.chosen_source, edits=ours)
            if spread.onto_empty and blind.any():
                given = trace[second][0][:, blind][..., empty]
                same(spread.onto_empty, given.amax((1, 2)))


@pytest.mark.crossed(length=["padded"], **AXES)
def test_what_the_calls_of_other_libraries_are_handed(model):
    for state in masked(model):
        settings = batch_of(model, state).settings
        mask = torch.stack([each.mask for each in settings])[:, None]
        source = torch.cat([each.model.source_tokens.batch for each in settings])
        for layer in (0, model.num_layers - 1):
            queries, keys = reads(settings[0], layer)
            _, trace = forward_under_mask(settings[0], {queries, keys}, mask=mask, source=source)
            inputs = attention_inputs(settings, layer)
            same(inputs.query, trace[queries])
            same(inputs.key, trace[keys])
