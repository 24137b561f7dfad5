"""The view "model": what it shows is what each model does, recorded anew; and where schemes enter."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.pictures.charts import lines, traces
from tfm_core import POSITIONAL, Transformer, causal_mask, recording
from tfm_ui.lenses.positions import model_runs, readings
from tfm_ui.lenses.positions.model.entry import STEPS, diagram, sites
from tfm_ui.lenses.positions.model.numbers import Distances, Maps, maps
from tfm_ui.lenses.positions.model.pictures import mean_scores, one_head
from tfm_ui.lenses.positions.model_runs import left_out, run_schemes
from tfm_ui.lenses.positions.sites import enters
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import passes
from tfm_ui.page.header import all_facts
from tfm_ui.state.model_state import ModelState

MODELS = [
    ModelState(),
    ModelState(causal=False, text="a b c d", seq_len=6, num_layers=3, num_heads=8),
    ModelState(architecture="decoder", norm="post", text="hi", seq_len=2),
    ModelState(architecture="encoder-decoder", d_model=64, target=""),
]
STATE = PositionsState(layer=2, model_head=3, a="alibi", b="learned")


def recorded(model: ModelState, name: str) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Weights and scores of the head, (query, key), and how many tokens are no padding; without any cache."""
    prefix = "encoder." if model.is_encoder_decoder else ""
    transformer = Transformer(replace(model, positional=name).config).eval()
    inputs = [model.source_tokens.batch] + [model.target_tokens.batch] * model.is_encoder_decoder
    mask = causal_mask(model.length) if model.masks_the_future else None
    with torch.no_grad(), recording(f"{prefix}layers.1.self_attention.*") as trace:
        transformer(*inputs, mask=mask)
    both = (trace[f"{prefix}layers.1.self_attention.{what}"][0, 2] for what in ("weights", "scores"))
    return *both, len(model.source_tokens.pieces)


@pytest.mark.parametrize("model", MODELS)
def test_maps_and_means_are_what_each_model_does(model):
    result = maps(model, STATE)
    assert list(result.heads) == ["alibi", "learned", "none", "sinusoidal", "rope", "t5"]
    for name, head in result.heads.items():
        weights, scores, read = recorded(model, name)
        np.testing.assert_allclose(head.weights, weights, atol=2e-6)
        pairs: dict[int, list[float]] = {}
        for query in range(read):
            for key in range(read):
                if model.causal is False or model.is_encoder_decoder or key <= query:
                    pairs.setdefault(query - key, []).append(scores[query, key].item())
        assert head.by_distance.distance.tolist() == sorted(pairs)
        assert head.by_distance.pairs.tolist() == [len(pairs[d]) for d in sorted(pairs)]
        means = [sum(pairs[d]) / len(pairs[d]) for d in sorted(pairs)]
        np.testing.assert_allclose(head.by_distance.mean, means, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_the_schemes_share_all_the_weights_that_they_have_in_common(model):
    assert all(maps(model, STATE).laws().values())
    stacks = 2 if model.is_encoder_decoder else 1
    for name in POSITIONAL:
        shared = model_runs.shared_weights(
            replace(model, positional=name).config, replace(model, positional="none").config
        )
        assert shared.alike == shared.of
        assert shared.added == (stacks if name in ("learned", "t5") else 0)


@pytest.mark.parametrize("text", ["🦊", "a b"])
def test_rows_that_do_not_sum_to_1_would_be_seen(text):
    result = maps(ModelState(text=text), STATE)
    head = result.heads["alibi"]
    broken = replace(result, heads=result.heads | {"alibi": replace(head, weights=head.weights * 0.9)})
    assert list(broken.laws().values()) == [True, False]


def test_weights_that_are_not_shared_would_be_seen(monkeypatch):
    plain, ours = (Transformer(replace(ModelState(), positional=name).config) for name in ("none", "t5"))
    with torch.no_grad():
        ours.unembedding.weight[0, 0] += 1
        ours.stack.final_norm.bias += 1
    shared = readings.shared_weights(ours, plain)
    assert shared == readings.SharedWeights(alike=33, of=35, added=1)
    monkeypatch.setattr(model_runs, "shared_weights", lambda *_: shared)
    laws = maps(ModelState(), STATE).laws()
    assert next(iter(laws)).startswith("33 of 35")
    assert not all(laws.values())


@pytest.mark.parametrize("model", MODELS)
def test_the_sentences_are_computed(model):
    result = maps(model, STATE)
    said = result.sentence()
    assert said.startswith("Positions in the sidebar’s model: sinusoidal.")
    a, b = result.heads["alibi"].weights, result.heads["learned"].weights
    read = len(model.source_tokens.pieces)
    if read > 1:
        query, key = np.unravel_index(np.abs(a - b)[:read].argmax(), a.shape)
        assert f"“{result.names[query]}” looks at “{result.names[key]}”: {a[query, key]:.4f} under alibi" in said
        rows = [q for q in range(read) if result.heads["none"].visible[q].sum() > 1]
        apart = [np.abs(a[q] - result.heads["none"].weights[q]).sum() / 2 for q in rows]
        assert f"alibi moves {100 * np.mean(apart):.2g}%" in said
        every = len(rows) == read
        which = "mean of all rows" if every else f"mean of the {len(rows)} rows of {result.where} with a choice"
        assert f"({which}" in said  # a first row that sees itself alone is left out
    else:
        assert "No token has a choice" in said
    assert "pair" in Distances(result).sentence()


def test_the_scripts_give_the_numbers_shown():
    for model in MODELS:
        result, scope = maps(model, STATE), {}
        exec(result.recipe(), scope)
        for name, head in result.heads.items():
            np.testing.assert_allclose(scope["weights"][name], head.weights, atol=2e-6)
        exec(Distances(result).recipe(), scope)
        for name, head in result.heads.items():
            assert scope["by_distance"][name].pairs.tolist() == head.by_distance.pairs.tolist()
            np.testing.assert_allclose(scope["by_distance"][name].mean, head.by_distance.mean, atol=1e-5)


def test_a_model_that_takes_long_is_run_under_fewer_schemes_and_that_is_said():
    model = ModelState(text="@alice", seq_len=1024, num_layers=8, num_heads=16)
    assert run_schemes(model, STATE) == ["alibi", "learned", "none"]
    assert left_out(model, STATE) == (
        "A pass through 8 layers of 16 heads on 1024 tokens takes long, so only alibi, learned and none are run; "
        "sinusoidal, rope and t5 are left out. Choose others as A and B."
    )
    alone = PositionsState(a="none", b="nothing")
    assert run_schemes(model, alone) == ["none"]
    plain = maps(replace(model, seq_len=8), alone).heads["none"]
    said = Maps(replace(model, seq_len=8), alone, {"none": plain}).sentence()
    assert said.endswith("No other scheme is run, so there is nothing to compare “none” with.")
    assert left_out(ModelState(), STATE) == ""


def test_one_scheme_twice_and_nothing_beside_it_are_one_column():
    for state in (PositionsState(a="rope", b="rope"), PositionsState(a="rope", b="nothing")):
        result = maps(ModelState(), state)
        assert [state.title_of(name) for name in result.heads] == [
            "A: rope",
            "none",
            "sinusoidal",
            "learned",
            "alibi",
            "t5",
        ]
        assert "A and B" not in result.sentence()


def test_pictures_hold_the_weights_masked_where_none_may_be_and_pooled_where_they_must():
    model = ModelState(text="@alice", seq_len=300, num_layers=1, num_heads=1)
    state = PositionsState(a="none", b="rope")
    header, numbers = one_head(model, state)
    result = maps(model, state)
    assert header["part"]["block"] == (2, 2)
    assert numbers.shape == (6, 150, 150)
    assert header["part"]["parameter"] == "positions_part_maps"
    for drawn, head in zip(numbers, result.heads.values(), strict=True):
        for row, column in [(0, 0), (77, 13), (149, 149), (3, 100)]:
            block = np.s_[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            there = head.weights[block][head.visible[block]]
            assert np.isnan(drawn[row, column]) if not there.size else drawn[row, column] == there.max()
    part, exact = one_head(model, replace(state, part_maps="10,20,40,30"))
    assert exact.shape == (6, 40, 30)
    np.testing.assert_array_equal(np.nan_to_num(exact[1]), result.heads["rope"].weights[10:50, 20:50])
    assert part["columns"]["names"] == result.names[20:50]


@pytest.mark.parametrize(
    ("seq_len", "part", "read"), [(301, "0,0,0,0", 151), (301, "290,0,0,0", 11), (300, "0,0,9,9", 9)]
)
def test_rows_of_tokens_are_not_veiled_as_padding(seq_len, part, read):
    model = ModelState(text="@alice", seq_len=seq_len, num_layers=1, num_heads=1)
    assert one_head(model, PositionsState(part_maps=part))[0]["read"] == read


def test_the_table_has_a_row_per_pair_that_may_look():
    result = maps(ModelState(text="a a b", seq_len=5), STATE)
    table = result.table()
    assert [tuple(row) for row in table[["query", "key"]].itertuples(index=False)] == [
        ("a", "a"), ("a₂", "a"), ("a₂", "a₂"), ("b", "a"), ("b", "a₂"), ("b", "b")
    ]  # fmt: skip
    assert table["weight, rope"].tolist() == [
        result.heads["rope"].weights[q, k] for q in range(3) for k in range(q + 1)
    ]


def test_the_lines_are_the_means():
    header, _ = mean_scores(ModelState(), STATE)
    means, result = lines(header), maps(ModelState(), STATE)
    for name, head in result.heads.items():
        np.testing.assert_array_equal(means[STATE.title_of(name)][1], head.by_distance.mean)
    strokes = {trace.name: trace.line.dash for trace in traces(header) if trace.meta != "gap"}
    assert [stroke for name, stroke in strokes.items() if name[:2] in ("A:", "B:")] == ["dash", "solid"]


@pytest.mark.crossed(name=POSITIONAL, architecture=["encoder", "decoder", "encoder-decoder"], norm=["pre", "post"])
def test_a_scheme_is_drawn_where_it_enters_and_can_be_read_there(name, architecture, norm):
    model = ModelState(architecture=architecture, norm=norm)
    drawing = diagram(model, PositionsState(a=name, b="nothing"))
    *stacks, inside = drawing.rows.values()
    places = POSITIONAL[name].enters()
    lit = {step.text for row in drawing.rows.values() for step in row if step.marks}
    assert lit == {STEPS[place][0] for place in places}
    assert sum(bool(step.marks) for row in stacks for step in row) == ("encode" in places) * len(stacks)
    assert sum(bool(step.marks) for step in inside) == len(set(places) - {"encode"})
    for row in stacks:
        texts = [step.text for step in row if step.layer]
        first = ["norm", "self-attention", "+ residual"] if norm == "pre" else ["self-attention", "+ residual", "norm"]
        assert texts[:3] == first
        assert len(texts) == (9 if "cross-attention" in texts else 6)
    with torch.no_grad(), recording() as trace:
        passes.forward(replace(model, positional=name))
    assert all(site in trace for site in sites(model, name))
    others = {site for row in STEPS.values() for site in row[1]}
    read = {site.rpartition(".")[2] for site in trace} & others
    assert read == {site.rpartition(".")[2] for site in sites(model, name)}
    assert diagram(model, PositionsState()).table().loc[name, "enters"] == enters(name)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_a_stack_has_one_name_in_the_header_and_in_the_drawing(architecture, causal):
    model = ModelState(architecture=architecture, causal=causal)
    titles = [*diagram(model, PositionsState()).rows][:-1]
    named = all_facts(model, passes.run(model))["Architecture"]
    assert [title.removesuffix(", pre-norm").lower() for title in titles] == (
        ["encoder", "decoder"] if architecture == "encoder-decoder" else [named]
    )
    assert (named == "decoder-only") == (architecture == "decoder" or (causal and architecture == "encoder"))
