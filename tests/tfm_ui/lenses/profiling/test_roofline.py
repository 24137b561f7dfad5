"""The view "roofline": rows under the roof of the machine's own limits."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.tfm_ui.lenses.profiling.reports import COPY, MACHINE, PEAK, leaves, measured
from tfm_core.profiling import Setup, costs
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.rates import above_the_product
from tfm_ui.lenses.profiling.roofline import Roofline
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
STATE = ProfilingState(view="roofline")


def measured_rows(*, state=STATE, **how) -> Roofline:
    return measured(MODEL, state, **how).on(Roofline)


def test_points_are_flops_over_bytes_and_over_the_median():
    roofline = measured_rows()
    for point, row in zip(roofline.points, roofline.plan.rows, strict=True):
        flops = sum(costs.flops(row).values())
        assert point.intensity == flops / costs.bytes_moved(row, roofline.plan.setup)
        assert point.rate == flops / np.median(roofline.rows[point.number - 1].forward.seconds)
        assert point.roof == min(PEAK, COPY * point.intensity)
        assert point.share == point.rate / point.roof
    assert roofline.ridge == PEAK / COPY
    assert (
        "reaches 100 GFLOP/s, a large copy 20.0 GB/s, so the roof turns at 5.00 operations per byte."
        in roofline.sentence()
    )


@pytest.mark.parametrize("ridge", [0.001, 30, 1e6])
def test_each_row_lies_left_or_right_of_the_ridge(ridge):
    roofline = measured_rows(machine=replace(MACHINE, bytes_per_second=PEAK / ridge))
    memory = [point.number for point in roofline.points if point.intensity < ridge]
    assert ("memory sets the limit" in roofline.sentence()) is bool(memory)
    assert ("arithmetic sets the limit" in roofline.sentence()) is (len(memory) < len(roofline.points))
    if ridge == 1e6:
        assert "Rows 1 to 5 lie left of the ridge, where memory sets the limit." in roofline.sentence()


def test_what_is_above_the_roof_is_said():
    roofline = measured_rows(machine=replace(MACHINE, flops_per_second=1e6, bytes_per_second=1e6))
    assert "Above the flat roof: rows 1 to 5. The roof is what one large product reached" in roofline.sentence()
    slope = measured_rows(machine=replace(MACHINE, bytes_per_second=1e6))
    assert "Above the slope: rows 1 to 5, likely as caches are faster than memory." in slope.sentence()
    assert "flat roof" not in slope.sentence()
    assert "Above" not in measured_rows().sentence()


@pytest.mark.parametrize(("device", "why"), [("cpu", "oneDNN"), ("cuda", "TF32")])
def test_kernels_that_do_more_than_the_matrix_product_have_a_likely_reason(device, why):
    roofline = measured_rows(
        state=replace(STATE, targets="with weights,LSTM"), machine=replace(MACHINE, flops_per_second=40e9)
    )
    transformer, lstm = roofline.plan.rows[:2]
    assert why in above_the_product([transformer, lstm], Setup(device=device))
    assert why not in above_the_product([transformer], Setup(device=device))
    assert why not in above_the_product([lstm], Setup(device=device, dtype="bfloat16"))
    assert f"{100 * max(point.share for point in roofline.points):.0f}%" in roofline.sentence()
    assert max(point.share for point in roofline.points) > 1


def test_scores_that_a_told_kernel_passes_over_are_a_reason_too():
    for model, target, reason in (
        (MODEL, "fused", True),
        (MODEL, "without weights", False),
        (replace(MODEL, causal=False), "fused", False),
    ):
        rows = plan_of(model, replace(STATE, targets=target)).rows
        assert ("passes over scores" in above_the_product(rows, Setup())) == reason


def test_the_least_and_the_most_of_what_could_be_reached_are_named():
    roofline = measured_rows()
    shares = [point.share for point in roofline.points]
    least, most = np.argmin(shares) + 1, np.argmax(shares) + 1
    assert f"Row {least} reaches least of the roof" in roofline.sentence()
    assert f"row {most} most" in roofline.sentence()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"measured": False}, "Nothing of this is measured yet: press Measure. The roof is measured in the same run."),
        ({"without": range(9)}, "Rows 1 to 5: no round was measured."),
        ({"done": 0}, "Rows 1 to 5: the run was stopped before."),
        ({"done": 1}, "Rows 2 to 5: the run was stopped before."),
        ({"problems": [4]}, "Row 5: out of memory."),
        ({"machine": replace(MACHINE, flops_per_second=math.nan)}, "No roof: the matrix product or the copy"),
        ({"machine": replace(MACHINE, bytes_per_second=math.nan)}, "No roof: the matrix product or the copy"),
    ],
)
def test_what_has_no_figure_is_said(how, said):
    roofline = measured_rows(**how)
    assert said in roofline.sentence()
    assert "nan" not in roofline.sentence().lower()
    assert roofline.table()["FLOP per byte"].notna().all()
    assert len(roofline.table()) == 5


def test_only_rows_that_are_drawn_lie_under_the_roof():
    roofline = measured_rows(
        machine=replace(MACHINE, bytes_per_second=PEAK / 1e6), done=4, without=[1], only_forward=[0]
    )
    assert "Rows 1, 3 and 4 lie left of the ridge" in roofline.sentence()
    assert roofline.sentence().endswith("Row 2: no round was measured. Row 5: the run was stopped before.")


@pytest.mark.parametrize("sizes", ["8, 2, 1, 4", "\n".join(["8, 2, 1, 4"] * 45)])
def test_one_row_and_forty(sizes):
    roofline = measured_rows(state=replace(STATE, sizes=sizes))
    assert len(roofline.points) == min(40, len(sizes.splitlines()))
    assert roofline.sentence()


def test_what_was_measured_under_load_is_marked():
    roofline = measured_rows(busy=[1], machine=replace(MACHINE, under_load=True))
    assert roofline.sentence().endswith("Measured under load: row 2. The roof was measured under load.")
    assert roofline.table()["measured under load"].tolist() == [False, True, False, False, False]
    assert "under load" not in measured_rows().sentence()


def test_rows_that_cannot_be_told_apart_lead_together_and_none_reaches_most():
    twice = replace(STATE, sizes="8, 2, 1, 4\n8, 2, 1, 4")
    roofline = measured_rows(state=twice)
    first, second = roofline.rows
    roofline.rows[1] = first
    assert roofline.leaders.startswith("The highest rate on screen is that of row 1, ")
    assert roofline.leaders.endswith("; row 2 cannot be told apart from it")
    noisy = measured_rows(state=twice)
    noisy.rows[1] = replace(first, forward=second.forward)
    assert "rows 1 and 2 cannot be told apart in it." in noisy.sentence()
    assert "most" not in noisy.sentence()
    assert measured_rows().leaders.startswith("Row ")


def test_the_script_gives_the_intensities_shown():
    roofline = measured_rows(state=replace(STATE, sizes="8, 2, 1, 4", rounds=3, backward=False))
    scope = leaves(roofline.recipe())
    for name in ("intensity", "rate", "roof"):
        assert scope[name] == [getattr(point, name) for point in roofline.points]
