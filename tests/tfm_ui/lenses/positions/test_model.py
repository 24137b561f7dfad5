"""The view "model": what it shows is what each model does, recorded anew; where schemes enter; and shuffled words."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.pictures.charts import lines, traces
from tfm_core import POSITIONAL, Tokens, Transformer, causal_mask, encode, recording
from tfm_core.model.transformer import Stack
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model.entry import STEPS, Entry, sites
from tfm_ui.lenses.positions.model.maps import Distance, Maps
from tfm_ui.lenses.positions.model.shuffle import OPEN, READ_UP_TO, Shuffled
from tfm_ui.lenses.positions.model_runs import left_out, run_schemes
from tfm_ui.lenses.positions.schemes import enters
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
SHUFFLED = [
    ModelState(),
    ModelState(causal=False, norm="post"),
    ModelState(text="one two three", seq_len=7, architecture="decoder"),
    ModelState(text="one two three four", seq_len=6, architecture="encoder-decoder"),
]
STATE = PositionsState(layer=2, model_head=3, a="alibi", b="learned")


def ran(model: ModelState, tokens: Tokens, *sites: str) -> tuple[Stack, list[torch.Tensor]]:
    """The stack that reads the text, and what a pass records at these sites of it; without any cache."""
    prefix = "encoder." if model.is_encoder_decoder else ""
    transformer = Transformer(model.config).eval()
    inputs = [tokens.batch] + [model.target_tokens.batch] * model.is_encoder_decoder
    mask = causal_mask(model.length) if model.masks_the_future else None
    with torch.no_grad(), recording([prefix + site for site in sites]) as trace:
        transformer(*inputs, mask=mask)
    return transformer.encoder if prefix else transformer.stack, [trace[prefix + site] for site in sites]


@pytest.mark.parametrize("model", MODELS)
def test_maps_and_means_are_what_each_model_does(model):
    result, read = Maps(model, STATE), len(model.source_tokens.pieces)
    assert list(result.heads) == ["alibi", "learned", "none", "sinusoidal", "rope", "t5"]
    for name, head in result.heads.items():
        sites = (f"layers.1.self_attention.{what}" for what in ("weights", "scores"))
        weights, scores = (site[0, 2] for site in ran(replace(model, positional=name), model.source_tokens, *sites)[1])
        np.testing.assert_allclose(head.weights, weights, atol=2e-6)
        pairs: dict[int, list[float]] = {}
        for query, key in itertools.product(range(read), repeat=2):
            if model.causal is False or model.is_encoder_decoder or key <= query:
                pairs.setdefault(query - key, []).append(scores[query, key].item())
        assert head.by_distance.distance.tolist() == sorted(pairs)
        assert head.by_distance.pairs.tolist() == [len(pairs[d]) for d in sorted(pairs)]
        means = [sum(pairs[d]) / len(pairs[d]) for d in sorted(pairs)]
        np.testing.assert_allclose(head.by_distance.mean, means, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_the_schemes_share_all_the_weights_that_they_have_in_common(model):
    assert all(Maps(model, STATE).laws().values())
    stacks = 2 if model.is_encoder_decoder else 1
    for name in POSITIONAL:
        shared = model_runs.shared_weights(
            replace(model, positional=name).config, replace(model, positional="none").config
        )
        assert shared.alike == shared.of
        assert shared.added == (stacks if name in ("learned", "t5") else 0)


@pytest.mark.parametrize("text", ["🦊", "a b"])
def test_rows_that_do_not_sum_to_1_would_be_seen(text):
    result = Maps(ModelState(text=text), STATE)
    head = result.heads["alibi"]
    result.heads = result.heads | {"alibi": replace(head, weights=head.weights * 0.9)}
    assert list(result.laws().values()) == [True, False]


def test_weights_that_are_not_shared_would_be_seen(monkeypatch):
    plain, ours = (Transformer(replace(ModelState(), positional=name).config) for name in ("none", "t5"))
    with torch.no_grad():
        ours.unembedding.weight[0, 0] += 1
        ours.stack.final_norm.bias += 1
    shared = model_runs.compared_weights(ours, plain)
    assert shared == model_runs.SharedWeights(alike=33, of=35, added=1)
    monkeypatch.setattr(model_runs, "shared_weights", lambda *_: shared)
    laws = Maps(ModelState(), STATE).laws()
    assert next(iter(laws)).startswith("33 of 35")
    assert not all(laws.values())


@pytest.mark.parametrize("model", MODELS)
def test_the_sentences_are_computed(model):
    result = Maps(model, STATE)
    sentence = result.sentence()
    assert sentence.startswith("Positions in the sidebar’s model: sinusoidal.")
    a, b = result.heads["alibi"].weights, result.heads["learned"].weights
    read = len(model.source_tokens.pieces)
    if read > 1:
        query, key = np.unravel_index(np.abs(a - b)[:read].argmax(), a.shape)
        assert f"“{result.names[query]}” looks at “{result.names[key]}”: {a[query, key]:.4f} under alibi" in sentence
        rows = [q for q in range(read) if result.heads["none"].visible[q].sum() > 1]
        apart = [np.abs(a[q] - result.heads["none"].weights[q]).sum() / 2 for q in rows]
        assert f"alibi moves {100 * np.mean(apart):.2g}%" in sentence
        every = len(rows) == read
        which = "mean of all rows" if every else f"mean of the {len(rows)} rows of {result.where} with a choice"
        assert f"({which}" in sentence  # a first row that sees itself alone is left out
    else:
        assert "No token has a choice" in sentence
    assert "pair" in Distance(model, STATE).sentence()


def test_a_model_that_takes_long_is_run_under_fewer_schemes_and_that_is_said():
    model = ModelState(text="@alice", seq_len=1024, num_layers=8, num_heads=16)
    assert run_schemes(model, STATE) == ["alibi", "learned", "none"]
    assert left_out(model, STATE) == (
        "A pass through 8 layers of 16 heads on 1024 tokens takes long, so only alibi, learned and none are run; "
        "sinusoidal, rope and t5 are left out. Choose others as A and B."
    )
    alone = PositionsState(a="none", b="nothing")
    assert run_schemes(model, alone) == ["none"]
    plain = Maps(replace(model, seq_len=8), alone)
    plain.heads = {"none": plain.heads["none"]}
    assert plain.sentence().endswith("No other scheme is run, so there is nothing to compare “none” with.")
    assert left_out(ModelState(), STATE) == ""


def test_one_scheme_twice_and_nothing_beside_it_are_one_column():
    for state in (PositionsState(a="rope", b="rope"), PositionsState(a="rope", b="nothing")):
        result = Maps(ModelState(), state)
        assert [state.title_of(name) for name in result.heads][:2] == ["A: rope", "none"]
        assert len(result.heads) == len(POSITIONAL)
        assert "A and B" not in result.sentence()


def test_pictures_hold_the_weights_masked_where_none_may_be_and_pooled_where_they_must():
    model = ModelState(text="@alice", seq_len=300, num_layers=1, num_heads=1)
    state = PositionsState(a="none", b="rope")
    header, numbers = Maps.content(model, state)
    result = Maps(model, state)
    assert header["part"]["block"] == (2, 2)
    assert numbers.shape == (6, 150, 150)
    assert header["part"]["parameter"] == "positions_part_maps"
    for drawn, head in zip(numbers, result.heads.values(), strict=True):
        for row, column in [(0, 0), (77, 13), (149, 149), (3, 100)]:
            block = np.s_[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            there = head.weights[block][head.visible[block]]
            assert np.isnan(drawn[row, column]) if not there.size else drawn[row, column] == there.max()
    part, exact = Maps.content(model, replace(state, part_maps="10,20,40,30"))
    assert exact.shape == (6, 40, 30)
    np.testing.assert_array_equal(np.nan_to_num(exact[1]), result.heads["rope"].weights[10:50, 20:50])
    assert part["columns"]["names"] == result.names[20:50]


@pytest.mark.parametrize(
    ("seq_len", "part", "read"), [(301, "0,0,0,0", 151), (301, "290,0,0,0", 11), (300, "0,0,9,9", 9)]
)
def test_rows_of_tokens_are_not_veiled_as_padding(seq_len, part, read):
    model = ModelState(text="@alice", seq_len=seq_len, num_layers=1, num_heads=1)
    assert Maps.content(model, PositionsState(part_maps=part))[0]["read"] == read


def test_the_table_has_a_row_per_pair_that_may_look():
    result = Maps(ModelState(text="a a b", seq_len=5), STATE)
    table = result.table()
    assert [tuple(row) for row in table[["query", "key"]].itertuples(index=False)] == [
        ("a", "a"), ("a₂", "a"), ("a₂", "a₂"), ("b", "a"), ("b", "a₂"), ("b", "b")
    ]  # fmt: skip
    assert table["weight, rope"].tolist() == [
        result.heads["rope"].weights[q, k] for q in range(3) for k in range(q + 1)
    ]


def test_the_lines_are_the_means():
    header, _ = Distance.content(ModelState(), STATE)
    means, result = lines(header), Maps(ModelState(), STATE)
    for name, head in result.heads.items():
        np.testing.assert_array_equal(means[STATE.title_of(name)][1], head.by_distance.mean)
    strokes = {trace.name: trace.line.dash for trace in traces(header) if trace.meta != "gap"}
    assert [stroke for name, stroke in strokes.items() if name[:2] in ("A:", "B:")] == ["dash", "solid"]


@pytest.mark.crossed(name=POSITIONAL, architecture=["encoder", "decoder", "encoder-decoder"], norm=["pre", "post"])
def test_a_scheme_is_drawn_where_it_enters_and_can_be_read_there(name, architecture, norm):
    model = ModelState(architecture=architecture, norm=norm)
    drawing = Entry(model, PositionsState(a=name, b="nothing"))
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
    assert Entry(model, PositionsState()).table().loc[name, "enters"] == enters(name)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
def test_a_stack_has_one_name_in_the_header_and_in_the_drawing(architecture, causal):
    model = ModelState(architecture=architecture, causal=causal)
    titles = [*Entry(model, PositionsState()).rows][:-1]
    named = all_facts(model, passes.run(model))["Architecture"]
    assert [title.removesuffix(", pre-norm").lower() for title in titles] == (
        ["encoder", "decoder"] if architecture == "encoder-decoder" else [named]
    )
    assert (named == "decoder-only") == (architecture == "decoder" or (causal and architecture == "encoder"))


def outputs(model: ModelState, text: str) -> np.ndarray:
    """The outputs of the stack that reads the text, its tokens alone; from the text itself."""
    tokens = encode(text, model.tokenizer, model.length)
    stack, (end,) = ran(model, tokens, f"layers.{model.num_layers - 1}.feed_forward.residual_after")
    end = stack.final_norm(end) if model.norm == "pre" else end
    return end[0, : len(tokens.pieces)].detach().numpy()


@pytest.mark.parametrize("model", SHUFFLED)
@pytest.mark.parametrize("seed", [1, 2])
def test_each_word_is_followed_to_its_new_place(model, seed):
    result = Shuffled(model, PositionsState(shuffle=seed))
    pieces = model.source_tokens.pieces
    text = " ".join(pieces[i] for i in result.order)
    assert text != " ".join(pieces)
    for name, row in result.rows.items():
        under = replace(model, positional="none" if name == OPEN else name)
        if name == OPEN:
            under = replace(under, causal=False, architecture=under.architecture.replace("decoder", "encoder"))
        before, after = outputs(under, " ".join(pieces)), outputs(under, text)
        differences = after[np.argsort(result.order)] - before
        shares = np.linalg.norm(differences, axis=1) / np.linalg.norm(before, axis=1)
        np.testing.assert_allclose(row.shares, shares, atol=2e-6)
        assert row.largest == pytest.approx(np.abs(differences).max(), abs=5e-6)
    assert (OPEN in result.rows) == (model.looks_back_only and not model.is_encoder_decoder)


@pytest.mark.parametrize("model", SHUFFLED)
def test_without_positions_and_mask_rows_are_permuted_and_with_any_scheme_they_are_not(model):
    result = Shuffled(model, PositionsState())
    assert list(result.laws().values()) == [True]
    open_ = result.rows[OPEN if result.masked else "none"]
    assert open_.stayed == len(result.order)
    assert open_.largest < 1e-5
    assert all(result.rows[name].shares.max() > 0.01 for name in ("sinusoidal", "learned", "rope", "alibi", "t5"))
    assert f"each of the {len(result.order)} tokens kept" in result.sentence()
    assert ("causal mask" in result.sentence()) == result.masked


def test_a_law_that_does_not_hold_is_seen():
    result = Shuffled(ModelState(), PositionsState())
    result.rows = result.rows | {OPEN: result.rows["none"]}
    assert list(result.laws().values()) == [False]


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "none of 10 tokens kept their"), (1, "1 of 10 tokens kept its"), (3, "3 of 10 tokens kept their")],
)
def test_tokens_are_counted_in_words(count, said):
    result = Shuffled(ModelState(), PositionsState())
    shares = np.where(np.arange(10) < count, 0, 0.004).astype(np.float32)
    result.rows = result.rows | {"none": replace(result.rows["none"], shares=shares)}
    sentence = result.sentence()
    assert f"{said} output, and the largest move is 0.4% of its length." in sentence
    assert "each of the 10 tokens kept its output" in sentence


def test_two_words_swapped_are_as_far_apart_as_before_and_alibi_tells_no_sides():
    model = ModelState(text="one two", seq_len=2, causal=False)
    rows = Shuffled(model, PositionsState()).rows
    assert rows["alibi"].stayed == rows["none"].stayed == 2
    assert rows["t5"].stayed == rows["rope"].stayed == 0


@pytest.mark.parametrize("text", ["a a a", "🦊"])
def test_a_text_of_one_word_has_no_other_order_and_that_is_said(text):
    result = Shuffled(ModelState(text=text, seq_len=3), PositionsState())
    assert result.in_order
    assert "nothing can move" in result.sentence()
    assert result.sentence().startswith("All tokens" if " " in text else "The text is one token")
    assert result.laws() == {}  # there is nothing to measure
    assert all(row.largest == 0 for row in result.rows.values())
    header, numbers = Shuffled.content(ModelState(text=text, seq_len=3), PositionsState())
    assert numbers.max() == 0
    assert header["maps"][0]["high"] == 1


def test_the_texts_are_written_out_as_far_as_they_can_be_read():
    before, after = Shuffled(ModelState(), PositionsState()).texts()
    assert before == "the cat sat on the₂ mat because it was tired"
    assert sorted(before.split()) == sorted(after.split())
    long = Shuffled(ModelState(text="@alice", seq_len=100), PositionsState()).texts()
    assert all(text.endswith(" …") and len(text.split()) == READ_UP_TO + 1 for text in long)


def test_the_picture_and_the_table_are_of_the_rows():
    result = Shuffled(ModelState(), PositionsState())
    header, numbers = Shuffled.content(ModelState(), PositionsState())
    assert header["rows"]["names"] == ["A: sinusoidal", "B: rope", "none", "learned", "alibi", "t5", OPEN]
    assert header["places"][1] == list(range(10))  # as "place before" in the table
    np.testing.assert_array_equal(numbers[0], np.stack([row.shares for row in result.rows.values()]))
    table = result.table()
    assert len(table) == 11
    assert table["moved, rope"].iloc[:10].tolist() == pytest.approx(result.rows["rope"].shares.tolist())
    assert table["moved, rope"].iloc[10] == result.rows["rope"].largest
    assert [result.order[int(place)] for place in table["place after"].iloc[:10]] == list(range(10))
