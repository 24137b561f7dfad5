"""What the questions of the Profiling lens's presets take for granted."""

from tfm_core.profiling import costs
from tfm_ui.model_state import ModelState
from tfm_ui.presets.profiling import PROFILING
from tfm_ui.profiling_lens.state import ProfilingState, plan_of, rows_of


def rows(name: str):
    (preset,) = [preset for preset in PROFILING if preset.name == name]
    state = ProfilingState(**preset.page)
    assert rows_of(state)[1] == []
    found = plan_of(ModelState(**preset.model), state)
    assert found
    return found.rows


def parameters(row) -> int:
    return sum(costs.parameters(row).values())


def test_rows_2_4_and_5_differ_in_length_alone():
    found = rows("First look")
    assert len({parameters(found[n]) for n in (1, 3, 4)}) == 1
    lengths = [found[n].size.seq_len for n in (1, 3, 4)]
    assert lengths == sorted(set(lengths))


def test_with_and_without_weights_is_one_model_and_memory_tells():
    found = rows("With or without weights")
    assert len({parameters(row) for row in found}) == len({row.size for row in found}) == 1
    assert [row.target for row in found] == ["with weights", "without weights", "fused"]


def test_not_only_transformers_have_as_many_parameters():
    found = rows("Not only transformers")
    for own in (found[:4], found[4:]):
        counts = [parameters(row) for row in own]
        assert max(counts) < 1.02 * min(counts)
    assert [row.size.seq_len for row in found] == [50] * 4 + [200] * 4


def test_the_same_twice_is_the_same_twice():
    first, second = rows("The same twice")
    assert first == second
