"""What a pretrained model costs: it is counted as it is, with keys that heads share, other norms and no biases."""

from dataclasses import replace

import pytest
import torch

from tfm_core import Transformer
from tfm_core.pretrained.offered import OFFERED
from tfm_core.profiling import TARGETS, Row, Size, costs
from tfm_ui.lenses.profiling.parts import PartsFlops, PartsParameters
from tfm_ui.lenses.profiling.plan import kind_of, plan_of, rows_of, sizes_of
from tfm_ui.lenses.profiling.rows import in_common
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

LINES = {"smollm2": "576, 9, 30, 11, 1536", "minilm": "384, 12, 6, 13, 1536"}
COUNTED = ProfilingState(count_embedding=True, count_output=True, targets="with weights")
every = pytest.mark.parametrize("name", LINES)


def size_of(name: str, state: ProfilingState = COUNTED) -> Size:
    """The model at its line, known also where it is not installed."""
    rows, problems = rows_of(ModelState(weights=name), replace(state, sizes=LINES[name]))
    assert not problems
    return rows[0].size


@every
def test_parameters_are_those_of_the_model(name):
    with torch.device("meta"):
        model = Transformer(replace(OFFERED[name].config, weights="random"))
    counted = costs.parameters(Row("with weights", size_of(name)))
    assert sum(counted.values()) == sum(each.numel() for each in dict.fromkeys(model.parameters()))
    assert ("logits" in counted) is False  # tied, or there are none
    assert (name == "smollm2") == (sum(counted.values()) == 134_515_008)


def test_a_model_without_logits_has_an_embedding_alone():
    both, alone = size_of("minilm"), size_of("minilm", replace(COUNTED, count_embedding=False))
    assert (both.ends, both.head, both.gives_logits) == ("embedding", "none", False)
    assert alone.vocab_size == 0


@every
def test_formulas_on_screen_give_all_counts_of_its_layers(name):
    model, state = ModelState(weights=name), replace(COUNTED, view="parts", sizes=LINES[name])
    for panel, parts in (
        (PartsParameters(model, state), {"projections", "feed-forward", "norms"}),
        (PartsFlops(model, state), {"projections", "products", "feed-forward"}),
    ):
        laws = panel.laws()
        assert parts <= {law.partition(":")[0] for law in laws}
        assert all(laws.values())


@every
@pytest.mark.parametrize("target", TARGETS)
def test_each_target_of_such_a_kind_has_as_many_parameters_as_it_says(name, target):
    size = replace(size_of(name), num_layers=2, seq_len=16, batch=1, vocab_size=100)
    if TARGETS[target].lacks(size):
        return
    with torch.device("meta"):
        module = TARGETS[target].build(size, 0)
    built = sum(each.numel() for each in dict.fromkeys(module.parameters()))
    assert sum(costs.parameters(Row(target, size)).values()) == built


def test_heads_share_keys_where_they_can():
    kind = kind_of(ModelState(weights="smollm2"), ProfilingState())
    sizes, problems = sizes_of("64, 4, 2, 50\n96, 6, 2, 50\n576, 9, 2, 50", 1, kind)
    assert not problems
    assert [size.num_kv_heads for size in sizes] == [0, 3, 3]
    assert {size.normalization for size in sizes} == {"rms"}
    note = in_common(ModelState(weights="smollm2"), ProfilingState())
    assert "Heads share 3 keys and values, in rows whose heads 3 divides." in note.text


@pytest.mark.parametrize("model", [ModelState(), ModelState(weights="reverse"), ModelState(weights="lab-gpt")])
def test_the_others_are_counted_as_before(model):
    fields = {"norm", "activation", "positional", "architecture", "causal", "vocab_size", "ends"}
    assert kind_of(model, COUNTED).keys() == fields


@every
def test_lengths_end_where_the_budget_or_the_table_ends(name):
    plan = plan_of(ModelState(weights=name), ProfilingState(view="length", longest=1024))
    assert plan is not None
    assert max(row.size.seq_len for row in plan.rows) <= {"smollm2": 512, "minilm": 512}[name]
