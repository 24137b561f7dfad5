"""The view "length": medians, fitted laws and memory, as its closed forms say."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.tfm_ui.lenses.profiling.lengths import MODEL, STATE, comparison
from tests.tfm_ui.lenses.profiling.reports import leaves, plausible
from tfm_core.profiling import costs
from tfm_core.profiling.statistics import ratio
from tfm_ui.lenses.profiling import measurements
from tfm_ui.lenses.profiling.budget import BUDGET
from tfm_ui.lenses.profiling.comparison import FORWARD, TRAINING
from tfm_ui.lenses.profiling.length.memory import ALLOCATED, SYSTEM, MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength
from tfm_ui.lenses.profiling.plan import beyond_budget, lengths_of, plan_of
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import LENGTHS, ProfilingState
from tfm_ui.state.model_state import ModelState


def test_medians_and_fits_are_those_of_the_blocks():
    times = TimeByLength(comparison())
    assert list(times.blocks) == [FORWARD, TRAINING]
    assert times.milliseconds(FORWARD) == [1e3 * np.median(b.seconds) for b in times.blocks[FORWARD]]
    for way in (FORWARD, TRAINING):
        expected = np.polyfit(np.log(times.lengths), np.log(times.milliseconds(way)), 1)
        assert times.fits[way].exponent.middle == pytest.approx(expected[0])
        assert np.log(times.fitted(way)) == pytest.approx(np.polyval(expected, np.log(times.lengths)))
    assert TimeByLength(comparison(state=replace(STATE, backward=False))).blocks.keys() == {FORWARD}


def test_the_flops_are_scaled_to_lie_among_the_medians_and_keep_their_shape():
    times = TimeByLength(comparison())
    off = np.log(times.scaled()) - np.log(times.milliseconds(FORWARD))
    assert off.mean() == pytest.approx(0)
    assert np.ptp(np.log(times.scaled()) - np.log(times.flops)) == pytest.approx(0)
    assert 1 < times.theory < 2


def test_the_sentence_says_the_growth_of_the_last_four_times():
    times = TimeByLength(comparison())
    at = dict(zip(times.lengths, times.blocks[FORWARD], strict=True))
    factor = ratio(at[1024], at[256]).middle
    assert times.sentence().startswith(
        f"4× the length: 1,024 tokens take {factor:.3g}× as long as 256 tokens, as n^{np.log2(factor) / 2:.2f}."
    )
    assert (
        f"Over all lengths forward grows as n^{times.fits[FORWARD].exponent.middle:.2f} (95% interval"
        in times.sentence()
    )
    assert "and with n² in the end" in times.sentence()


@pytest.mark.parametrize(
    ("how", "said", "clean"),
    [
        ({"done": 0}, "the run was stopped before", 0),
        ({"done": 1}, "the run was stopped before", 1),
        ({"done": 2}, "2× the length: 64 tokens take", 2),
        ({"without": range(9)}, "no round was measured", 0),
        ({"without": [1], "problems": [5]}, "1,024 tokens: out of memory.", 4),
    ],
)
def test_what_has_no_figure_is_said_and_the_others_stand(how, said, clean):
    compared = comparison(**how)
    times = TimeByLength(compared)
    assert said in times.sentence()
    assert "nan" not in times.sentence() + MemoryByLength(compared).sentence() + PartsByLength(compared).sentence()
    assert len(times.timed(FORWARD)) == clean
    assert sum(math.isfinite(ms) for ms in times.table()[f"{FORWARD}, median ms"]) == clean
    assert (times.table()["without a figure"] == "").sum() == clean
    assert bool(times.fits) is (clean > 2)


@pytest.mark.parametrize(
    ("how", "there", "said"),
    [
        ({"done": 3}, [0, 1, 2], "Over the 3 measured lengths, 32 to 128, "),
        ({"without": [2, 3, 4]}, [0, 1, 5], "Over the 3 measured lengths, 32 to 1,024, "),
        ({"without": [0]}, [1, 2, 3, 4, 5], "Over the 5 measured lengths, 64 to 1,024, "),
    ],
)
def test_laws_and_theory_are_of_the_measured_lengths_alone(how, there, said):
    times = TimeByLength(comparison(**how))
    lengths = [times.lengths[i] for i in there]
    for way in (FORWARD, TRAINING):
        assert f"{said}{way} grows as n^{times.fits[way].exponent.middle:.2f}" in times.sentence()
        reached = [lengths[0] <= n <= lengths[-1] for n in times.lengths]
        for values in (times.fitted(way), times.scaled(), times.table()[f"{way}, fitted ms"]):
            assert np.isfinite(values).tolist() == reached
    assert "all lengths" not in times.sentence()
    slope = np.polyfit(np.log(lengths), np.log([times.flops[i] for i in there]), 1)[0]
    assert times.theory == pytest.approx(slope)
    assert f"FLOPs grow with n^{slope:.2f} over these lengths" in times.sentence()
    if "done" not in how:  # a script runs to its end
        assert leaves(times.recipe(), **how)["theory"] == times.theory


def test_without_a_law_the_closed_form_names_its_own_lengths():
    times = TimeByLength(comparison(done=2))
    assert f"FLOPs grow with n^{times.theory:.2f} from 32 to 1,024 tokens" in times.sentence()


def test_lengths_that_cannot_be_told_apart_are_not():
    compared = comparison()
    rows = [replace(row, forward=compared.rows[0].forward) for row in compared.rows]
    said = TimeByLength(replace(compared, rows=rows)).sentence()
    assert said.startswith("9 rounds show no detectable difference in time between 256 tokens and 1,024")
    assert "as long" not in said


def test_what_was_measured_under_load_is_marked_at_its_lengths():
    compared = comparison(busy=[1, 2])
    for view, kinds in (
        (TimeByLength(compared), "Measured under load: 64 and 128 tokens."),
        (PartsByLength(compared), "64 and 128 tokens."),
    ):
        assert view.sentence().endswith(kinds)
    assert (
        TimeByLength(compared).table()[f"{FORWARD}, measured under load"].tolist() == [False, True, True] + [False] * 3
    )
    assert PartsByLength(compared).table()["measured under load"].tolist() == [False, True, True] + [False] * 3
    assert np.isfinite(TimeByLength(compared).milliseconds(FORWARD)).all()
    assert TimeByLength(comparison(busy=range(6))).sentence().endswith("Measured under load: all lengths.")
    assert "under load" not in TimeByLength(comparison()).sentence() + PartsByLength(comparison()).sentence()


def test_forward_and_backward_are_told_apart_where_one_has_no_figure():
    times = TimeByLength(comparison(only_backward=range(6)))
    assert list(times.fits) == [TRAINING]
    assert f"Over all lengths {TRAINING} grows as n^" in times.sentence()
    tokens = "32, 64, 128, 256, 512 and 1,024 tokens"
    assert times.sentence().endswith(f"{tokens}: 1 round of forward alone, where a time takes 3.")
    assert times.scaled() == []
    assert f"torch.profiler timed passes of its own; no time of a forward call is shown at {tokens}." in (
        PartsByLength(times.comparison).sentence()
    )
    assert "of its own" not in PartsByLength(comparison()).sentence()


def test_a_length_that_failed_only_backward_keeps_its_forward_time():
    times = TimeByLength(comparison(only_forward=[5]))
    assert (len(times.timed(FORWARD)), len(times.timed(TRAINING))) == (6, 5)
    assert "Over all lengths forward grows" in times.sentence()
    assert f"Over the 5 measured lengths, 32 to 512, {TRAINING} grows" in times.sentence()
    assert f"n^{times.grow(FORWARD):.2f} over the lengths of {FORWARD} and n^{times.grow(TRAINING):.2f} over the " in (
        times.sentence()
    )
    assert times.sentence().endswith("1,024 tokens: forward + backward: out of memory.")
    assert times.table()["without a figure"].tolist() == [*[""] * 5, "forward + backward: out of memory"]


def test_unmeasured_the_closed_forms_stand():
    compared = comparison(None)
    said = TimeByLength(compared).sentence()
    assert said.startswith("Nothing of this is measured yet: press Measure. FLOPs grow with n^")
    assert "not measured" in MemoryByLength(compared).sentence()
    assert "in FLOPs" in PartsByLength(compared).sentence()
    assert list(PartsByLength(compared).crossings) == ["predicted"]


def test_memory_is_predicted_and_measured_each_by_its_name():
    compared = comparison()
    peaks = MemoryByLength(compared)
    for way, backward in ((FORWARD, False), (TRAINING, True)):
        rows = compared.plan.rows
        assert peaks.predicted(way) == [costs.peak_memory(r, compared.plan.setup, backward=backward) for r in rows]
        assert list(peaks.measured(way)) == [ALLOCATED, SYSTEM]
    assert peaks.weights[-1] == 4 * MODEL.num_layers * MODEL.num_heads * 1024**2
    half = MemoryByLength(comparison(state=replace(STATE, dtype="bfloat16")))
    assert half.weights[-1] * 2 == peaks.weights[-1]
    assert "1.1× the prediction" in peaks.sentence()
    assert MemoryByLength(comparison(state=replace(STATE, target="LSTM"))).weights == []


def test_lengths_beyond_the_budget_are_not_asked_for_and_named():
    large = ModelState(d_model=256, num_heads=16, num_layers=8)
    within, left_out = lengths_of(large, ProfilingState(view="length", length_batch=64))
    assert [*within, *left_out] == list(LENGTHS)
    assert 2048 in left_out
    said = beyond_budget(left_out)
    assert f"2,048 tokens would need {left_out[2048]}" in said
    assert "The limit is" in said
    assert beyond_budget({}) == ""
    assert BUDGET.seconds > 0


def test_a_link_finds_the_named_measurement(monkeypatch):
    plan = plan_of(MODEL, STATE)
    reports = {"a": plausible(plan, name="a"), "b": plausible(plan, name="b", done=2)}
    monkeypatch.setattr(measurements, "find", lambda plan, name: reports.get(name))
    for name, report in reports.items():
        compared = comparison_of(
            MODEL, replace(STATE, view="compare", run=name), "length"
        )  # whichever view is on screen
        assert compared.report is report
