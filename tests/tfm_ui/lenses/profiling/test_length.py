"""The view "length": medians, fitted laws, memory and parts, as closed forms say; and scripts that give the same."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.tfm_ui.lenses.profiling.reports import PEAK, leaves, measured, plausible
from tfm_core.profiling import PartTime, costs
from tfm_core.profiling.statistics import ratio
from tfm_ui.lenses.profiling.length import LengthTime
from tfm_ui.lenses.profiling.length_costs import ALLOCATED, SYSTEM, LengthMemory, LengthParts
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.plan import beyond_budget, lengths_of, plan_of
from tfm_ui.lenses.profiling.rows import FORWARD, TRAINING
from tfm_ui.lenses.profiling.state import LENGTHS, ProfilingState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(d_model=64, num_heads=4, d_ff=300)
STATE = ProfilingState(view="length", longest=1024)


def over_lengths(state=STATE, **how):
    """Lengths whose measurements are made up."""
    return measured(MODEL, state, **how)


def times_of(**how) -> LengthTime:
    return over_lengths(**how).on(LengthTime)


def test_medians_and_fits_are_those_of_the_blocks():
    times = times_of()
    assert list(times.blocks) == [FORWARD, TRAINING]
    assert times.milliseconds(FORWARD) == [1e3 * np.median(b.seconds) for b in times.blocks[FORWARD]]
    for way in (FORWARD, TRAINING):
        expected = np.polyfit(np.log(times.lengths), np.log(times.milliseconds(way)), 1)
        assert times.fits[way].exponent.middle == pytest.approx(expected[0])
        assert np.log(times.fitted(way)) == pytest.approx(np.polyval(expected, np.log(times.lengths)))
    assert over_lengths(replace(STATE, backward=False)).on(LengthTime).blocks.keys() == {FORWARD}


def test_the_flops_are_scaled_to_lie_among_the_medians_and_keep_their_shape():
    times = times_of()
    off = np.log(times.scaled()) - np.log(times.milliseconds(FORWARD))
    assert off.mean() == pytest.approx(0)
    assert np.ptp(np.log(times.scaled()) - np.log(times.flops)) == pytest.approx(0)
    assert 1 < times.theory < 2


def test_the_sentence_says_the_growth_of_the_last_four_times():
    times = times_of()
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
    compared = over_lengths(**how)
    times = compared.on(LengthTime)
    assert said in times.sentence()
    assert "nan" not in times.sentence() + compared.on(LengthMemory).sentence() + compared.on(LengthParts).sentence()
    assert len(times.measured_at(FORWARD)) == clean
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
    times = times_of(**how)
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
    times = times_of(done=2)
    assert f"FLOPs grow with n^{times.theory:.2f} from 32 to 1,024 tokens" in times.sentence()


def test_lengths_that_cannot_be_told_apart_are_not():
    compared = over_lengths()
    rows = [replace(row, forward=compared.rows[0].forward) for row in compared.rows]
    sentence = replace(compared, rows=rows).on(LengthTime).sentence()
    assert sentence.startswith("9 rounds show no detectable difference in time between 256 tokens and 1,024")
    assert "as long" not in sentence


def test_what_was_measured_under_load_is_marked_at_its_lengths():
    times, parts = (over_lengths(busy=[1, 2]).on(panel) for panel in (LengthTime, LengthParts))
    assert times.sentence().endswith("Measured under load: 64 and 128 tokens.")
    assert parts.sentence().endswith("64 and 128 tokens.")
    for marked in (times.table()[f"{FORWARD}, measured under load"], parts.table()["measured under load"]):
        assert marked.tolist() == [False, True, True, False, False, False]
    assert np.isfinite(times.milliseconds(FORWARD)).all()
    assert times_of(busy=range(6)).sentence().endswith("Measured under load: all lengths.")
    assert "under load" not in times_of().sentence() + over_lengths().on(LengthParts).sentence()


def test_forward_and_backward_are_told_apart_where_one_has_no_figure():
    compared = over_lengths(only_backward=range(6))
    times = compared.on(LengthTime)
    assert list(times.fits) == [TRAINING]
    assert f"Over all lengths {TRAINING} grows as n^" in times.sentence()
    tokens = "32, 64, 128, 256, 512 and 1,024 tokens"
    assert times.sentence().endswith(f"{tokens}: 1 round of forward alone, where a time takes 3.")
    assert times.scaled() == []
    separate = f"torch.profiler timed passes of its own; no time of a forward call is shown at {tokens}."
    assert separate in compared.on(LengthParts).sentence()
    assert "of its own" not in over_lengths().on(LengthParts).sentence()


def test_a_length_that_failed_only_backward_keeps_its_forward_time():
    times = times_of(only_forward=[5])
    assert (len(times.measured_at(FORWARD)), len(times.measured_at(TRAINING))) == (6, 5)
    assert "Over all lengths forward grows" in times.sentence()
    assert f"Over the 5 measured lengths, 32 to 512, {TRAINING} grows" in times.sentence()
    assert f"n^{times.grow(FORWARD):.2f} over the lengths of {FORWARD} and n^{times.grow(TRAINING):.2f} over the " in (
        times.sentence()
    )
    assert times.sentence().endswith("1,024 tokens: forward + backward: out of memory.")
    assert times.table()["without a figure"].tolist() == [*[""] * 5, "forward + backward: out of memory"]


def test_unmeasured_the_closed_forms_stand():
    compared = over_lengths(measured=False)
    sentence = compared.on(LengthTime).sentence()
    assert sentence.startswith("Nothing of this is measured yet: press Measure. FLOPs grow with n^")
    assert "not measured" in compared.on(LengthMemory).sentence()
    assert "in FLOPs" in compared.on(LengthParts).sentence()
    assert list(compared.on(LengthParts).crossings) == ["predicted"]


def test_memory_is_predicted_and_measured_each_by_its_name():
    compared = over_lengths()
    peaks = compared.on(LengthMemory)
    for way, backward in ((FORWARD, False), (TRAINING, True)):
        rows = compared.plan.rows
        assert peaks.predicted(way) == [costs.peak_memory(r, compared.plan.setup, backward=backward) for r in rows]
        assert list(peaks.peaks(way)) == [ALLOCATED, SYSTEM]
    assert peaks.weights[-1] == 4 * MODEL.num_layers * MODEL.num_heads * 1024**2
    half = over_lengths(replace(STATE, dtype="bfloat16")).on(LengthMemory)
    assert half.weights  # of as many lengths as there was time for
    assert [2 * size for size in half.weights] == peaks.weights[: len(half.weights)]
    assert "1.1× the prediction" in peaks.sentence()
    assert over_lengths(replace(STATE, target="LSTM")).on(LengthMemory).weights == []


def test_lengths_beyond_the_budget_are_not_asked_for_and_named():
    large = ModelState(d_model=256, num_heads=16, num_layers=8)
    within, left_out = lengths_of(large, ProfilingState(view="length", length_batch=64))
    assert [*within, *left_out] == list(LENGTHS)
    assert 2048 in left_out
    sentence = beyond_budget(left_out)
    assert f"2,048 tokens would need {left_out[2048]}" in sentence
    assert "The limit is" in sentence
    assert beyond_budget({}) == ""


def test_a_link_finds_the_named_measurement(monkeypatch):
    plan = plan_of(MODEL, STATE)
    reports = {"a": plausible(plan, name="a"), "b": plausible(plan, name="b", done=2)}
    monkeypatch.setattr(measurements, "find", lambda plan, name: reports.get(name))
    for name, report in reports.items():
        state = replace(STATE, view="compare", run=name)  # whichever view is on screen
        assert LengthTime(MODEL, state).report is report


# the time by part


def test_products_overtake_the_feed_forward_where_their_curves_cross():
    shares = over_lengths().on(LengthParts)
    assert shares.predicted == MODEL.d_ff
    n = shares.overtaken  # products at a fifth of the peak, the feed-forward at half: 2.5 times earlier
    assert n == pytest.approx(MODEL.d_ff / 2.5, rel=0.02)
    assert shares.crossed("products", "softmax") < n
    assert f"Measured: at {round(n)}." in shares.sentence()
    assert shares.crossings == {"predicted": 300, "measured": n}
    assert shares.milliseconds["feed-forward"][0] == pytest.approx(2e3 * shares.flops["feed-forward"][0] / PEAK)


@pytest.mark.parametrize(
    ("factor", "how", "said"),
    [
        (1e6, {"without": [0]}, "Measured: already at 64 tokens."),
        (1e-6, {}, "Measured: not reached, beyond 1,024"),
        (1e-6, {"done": 3}, "Measured: not reached, beyond 128 tokens."),
    ],
)
def test_a_crossing_outside_of_the_measured_lengths_is_said(factor, how, said):
    compared = over_lengths(**how)
    slower = {"products": factor}
    for at, row in enumerate(compared.rows):
        parts = tuple(replace(part, seconds=part.seconds * slower.get(part.name, 1)) for part in row.parts)
        compared.rows[at] = replace(row, parts=parts)
    assert said in compared.on(LengthParts).sentence()


def test_operators_that_cannot_be_told_apart_are_said():
    compared = over_lengths()
    rows = [replace(row, parts=(PartTime("one_operator", 0.1),)) for row in compared.rows]
    assert "Only operators can be told apart" in replace(compared, rows=rows).on(LengthParts).sentence()
    fused = [
        replace(row, parts=tuple(p for p in row.parts if p.name != "softmax"), kernel="flash") for row in compared.rows
    ]
    assert "A fused kernel (flash) does the softmax too" in replace(compared, rows=fused).on(LengthParts).sentence()


def test_what_has_no_products_grows_as_its_length():
    state = replace(STATE, target="LSTM")
    compared = over_lengths(state)
    assert compared.on(LengthTime).theory == pytest.approx(1)
    assert "no products of queries with keys" in compared.on(LengthTime).sentence()
    assert "no products of queries with keys here to overtake" in compared.on(LengthParts).sentence()


# scripts


def test_the_scripts_give_what_is_shown_of_what_needs_no_clock():
    compared = over_lengths(replace(STATE, longest=256, rounds=3, backward=False))
    times, shares, peaks = (compared.on(panel) for panel in (LengthTime, LengthParts, LengthMemory))
    scope = leaves(times.recipe())
    assert (scope["flops"], scope["theory"], scope["fit"]) == (times.flops, times.theory, times.fits[FORWARD])
    assert [1e3 * median for median in scope["medians"]] == times.milliseconds(FORWARD)
    scope = leaves(shares.recipe())
    assert [flops["products"] for flops in scope["flops"]] == shares.flops["products"]
    assert [1e3 * parts["softmax"] for parts in scope["parts"]] == shares.milliseconds["softmax"]
    assert scope["crossing"] == pytest.approx(shares.overtaken)
    scope = leaves(peaks.recipe())
    assert scope["predicted"] == peaks.predicted(FORWARD)
    assert peaks.peaks(FORWARD) == {ALLOCATED: scope["allocated"], SYSTEM: scope["system"]}
