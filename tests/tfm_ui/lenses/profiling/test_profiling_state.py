"""The text box of configurations: every line is read or named, and a plan stays within its bounds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core import Transformer
from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Size, costs
from tfm_core.profiling.targets_transformer import config_of
from tfm_ui.lenses import lens
from tfm_ui.lenses.profiling.plan import line_of, plan_of, rows_of, sizes_of, why_no_length, why_no_row
from tfm_ui.lenses.profiling.row_controls import rows_label
from tfm_ui.lenses.profiling.rows import in_common
from tfm_ui.lenses.profiling.state import MOST_ROWS, PREFIX, SIZES, ProfilingState
from tfm_ui.pictures.panel import Note
from tfm_ui.state.links import read_link, state_of
from tfm_ui.state.model_state import ModelState


def test_the_default_text_is_the_default_sizes():
    assert sizes_of(SIZES, 16) == (list(DEFAULT_SIZES), [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("64, 4, 2", "expected 4 whole numbers"),
        ("64, 4, 2, 50, 0, 1", "expected 4 whole numbers"),
        ("a, b, c, d", "expected 4 whole numbers"),
        ("64, 4, 2, -50", "expected 4 whole numbers"),
        ("64, 4, 2, 5.5", "expected 4 whole numbers"),
        ("64, 4, 2, ٣", "expected 4 whole numbers"),
        ("64, 5, 2, 50", "expected a divisor of d_model=64, got 5"),
        ("64, 0, 2, 50", "num_heads: expected a whole number of at least 1"),
        ("64, 4, 2, 65537", "expected numbers up to 65536"),
        ("64, 4, 2, " + "9" * 300, "expected numbers up to 65536"),
        ("<b>, $x$, **y**, 🦊", "expected 4 whole numbers"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(line, reason):
    sizes, problems = sizes_of(f"64 4 2 50\n\n{line}\n8,2,1,9", 3)
    assert [(s.d_model, s.seq_len, s.batch) for s in sizes] == [(64, 50, 3), (8, 9, 3)]
    assert len(problems) == 1
    assert problems[0].startswith(f"Line 3, “{line.strip()[:40]}”: ")
    assert reason in problems[0]


def test_a_fifth_number_is_d_ff_and_a_size_comes_back_from_its_line():
    for size in (Size(d_model=8, num_heads=2, num_layers=1, seq_len=4, d_ff=5), *DEFAULT_SIZES):
        assert sizes_of(line_of(size), 16) == ([size], [])


def test_more_rows_than_there_may_be_are_cut_and_that_is_said():
    state = ProfilingState(sizes="8, 2, 1, 4\n" * 30, targets="with weights,without weights")
    rows, problems = rows_of(ModelState(), state)
    assert len(rows) == len(plan_of(ModelState(), state).rows) == MOST_ROWS
    assert problems == ["Of 60 rows the first 40 are taken."]


def test_without_a_configuration_there_is_no_plan_and_that_is_said():
    state = ProfilingState(sizes=" \n ")
    assert plan_of(ModelState(), state) is None
    assert rows_of(ModelState(), state)[1] == ["No line describes a configuration: for example, 64, 4, 2, 50."]


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"norm": "post", "activation": "swiglu", "positional": "rope", "causal": False},
        {"architecture": "decoder", "positional": "t5"},
        {"architecture": "encoder-decoder", "positional": "learned", "tokenizer": "byte"},
    ],
)
@pytest.mark.parametrize("view", ["compare", "length"])
def test_rows_are_of_the_sidebars_kind(chosen, view):
    """A row with embedding and output and the model's numbers has every parameter of the model."""
    model = ModelState(**chosen)
    line = f"{model.d_model}, {model.num_heads}, {model.num_layers}, {model.length}"
    whole = Transformer(model.config)
    counts = {}
    for embedding in (False, True):
        row = plan_of(
            model, ProfilingState(view=view, sizes=line, count_embedding=embedding, count_output=embedding)
        ).rows[0]
        assert row.size.looks_back_only == model.looks_back_only
        assert config_of(row.size, model.seed) == replace(model.config, vocab_size=row.size.vocab_size or 1)
        counts[embedding] = sum(costs.parameters(row).values())
    assert counts[True] == sum(tensor.numel() for tensor in whole.parameters())
    assert counts[True] - counts[False] == whole.unembedding.weight.numel()


@pytest.mark.parametrize("embedding", [False, True])
@pytest.mark.parametrize("output", [False, True])
def test_embedding_and_output_are_counted_each_by_its_own_switch(embedding, output):
    """The matrix of a vocabulary counts once, where there is one of the two; only an output has operations."""
    state = ProfilingState(vocabulary=1000, count_embedding=embedding, count_output=output)
    for row in plan_of(ModelState(), state).rows:
        size = row.size
        assert (size.embeds, size.gives_logits) == (embedding, output)
        matrix = {part: costs.parameters(row).get(part, 0) for part in ("embedding", "logits")}
        assert sum(matrix.values()) == (1000 * size.d_model if embedding or output else 0)
        assert bool(matrix["embedding"]) == embedding
        assert costs.flops(row).get("logits", 0) == output * 2 * size.batch * size.seq_len * 1000 * size.d_model


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_link_with_the_one_switch_of_earlier_days_means_both(value):
    query = {"profiling_embedding": [value], "profiling_vocabulary": ["1000"]}
    state = state_of(ProfilingState, PREFIX, query)
    assert state.count_embedding == state.count_output == (value == "true")
    corrections = read_link(ProfilingState, PREFIX, query)
    assert not any(correction.reason for correction in corrections)  # nothing is said, as nothing was wrong
    assert {correction.name: correction.value for correction in corrections}["profiling_embedding"] == ""
    query["profiling_count_output"] = ["false"]
    assert not state_of(ProfilingState, PREFIX, query).count_output  # what is written out counts


def test_targets_that_have_no_place_for_the_model_are_left_out_and_that_is_said():
    model = ModelState(positional="rope")
    state = ProfilingState(targets="nn.TransformerEncoder,fused", target="nn.TransformerEncoder")
    rows, problems = rows_of(model, state)
    why = "nn.TransformerEncoder has no place for rope, which acts inside of the attention."
    assert {row.target for row in rows} == {"fused"}
    assert problems == [f"“nn.TransformerEncoder” is left out: {why}"]
    alone = replace(state, targets="nn.TransformerEncoder")
    assert plan_of(model, alone) is None
    assert why_no_row(model, alone) == problems[0]
    assert plan_of(model, replace(state, view="length")) is None
    assert why_no_length(model, state) == why


def test_learned_positions_end_and_that_is_said():
    model, state = ModelState(positional="learned"), ProfilingState(view="length")
    assert max(row.size.seq_len for row in plan_of(model, state).rows) == 1024
    assert why_no_length(model, state) == "Learned positions: expected at most 1024 tokens, got 2048."
    assert why_no_length(ModelState(), state) == ""


def test_the_kind_is_said_with_what_differs_from_it():
    assert in_common(ModelState(causal=False), ProfilingState(targets="with weights,GRU")).text == (
        "Every row is a model of the sidebar’s kind: encoder, pre-norm, gelu, sinusoidal positions; without embedding "
        "and output. "
        "GRU is compared without norms, positions and heads; it reads one token after the other, while the transformer "
        "sees all of them."
    )


@given(st.text(max_size=200), st.lists(st.sampled_from(list(TARGETS)), unique=True))
def test_any_text_is_read(text, targets):
    rows, problems = rows_of(ModelState(), ProfilingState(sizes=text, targets=",".join(targets)))
    assert rows or problems
    assert len(rows) <= MOST_ROWS


@pytest.mark.parametrize("view", ["compare", "parts", "roofline"])
def test_lines_that_describe_nothing_have_a_word_on_the_page_where_the_menu_is_closed(view):
    state = ProfilingState(view=view, sizes="64,4,2,50\n65,4,2,50\nfoo\n128,8,4\n128,8,4,100")
    blocks = lens("profiling").blocks(ModelState(), state)
    said = " ".join(block.text for block in blocks if isinstance(block, Note))
    for line in ("Line 2, “65,4,2,50”", "Line 3, “foo”", "Line 4, “128,8,4”"):
        assert line in said
    assert rows_label(state) == "Configurations, 3 lines left out"
    assert rows_label(ProfilingState()) == "Configurations"
