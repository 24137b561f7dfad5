"""The views length, parts and roofline of the Profiling lens without a browser, whatever was measured."""

import math
from itertools import product

import numpy as np
import pytest

from tests.pages.measuring import press
from tests.pages.test_app import component_data, picture, plain, start, text_on, widget
from tests.tfm_ui.lenses.profiling.reports import plausible
from tests.tfm_ui.pictures.charts import drawn, ends, lines, marks, prints_nan
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.plan import NO_CONFIGURATION

PAGE = "profiling"
PICTURES = {
    "length": ["profiling_length_time", "profiling_length_memory", "profiling_length_parts"],
    "parts": ["profiling_parts_parameters", "profiling_parts_flops", "profiling_parts_time"],
    "roofline": ["profiling_roofline"],
}
SIZES = ["8 2 1 4", "nonsense\n256 16 8 2048\n1 1 1 1", "\n".join(["8 2 1 4"] * 45)]
RUNS = {
    "unmeasured": None,
    "measured": {},
    "stopped": {"done": 2},
    "stopped at once": {"done": 0},
    "without a round": {"without": range(40)},
    "under load": {"busy": range(40)},
    "out of memory": {"problems": [0, 2], "without": [1]},
}


@pytest.fixture
def measured(monkeypatch):
    """Whatever plan is asked for was measured so."""

    def measure(how):
        monkeypatch.setattr(
            measurements, "find", lambda plan, name="": plausible(plan, **how) if plan and how is not None else None
        )

    return measure


def chart(app, name):
    """The header of a chart."""
    header, _ = picture(app, name)
    assert header["about"]
    assert not prints_nan(header)
    return header


@pytest.mark.parametrize("view", PICTURES)
def test_every_view_runs_whatever_was_measured(measured, view):
    measured(None)
    app = start(PAGE, profiling_view=view)
    for run, how in RUNS.items():
        measured(how)
        app.run()
        assert not app.exception, run
        for name in PICTURES[view]:
            if (run, view) == ("unmeasured", "roofline"):  # then its table is all that there is
                assert name not in [data.get("name") for data in component_data(app)]
            else:
                chart(app, name)
        text = text_on(app)
        assert "nan" not in text.lower(), run
        if run == "measured":
            feet = [picture(app, name)[0]["foot"] for name in PICTURES[view]]
            assert all(
                "a processor · 1 thread · float32 · batch" in foot and "measurement abc123" in foot for foot in feet
            )
            assert {
                "length": " as long as 512 tokens, as n^",
                "parts": "under the profiler",
                "roofline": "the roof turns at",
            }[view] in text
        if run == "unmeasured":
            assert "press Measure" in text
    measured({})
    for name, menu in product(PICTURES[view], ("numbers", "download", "source")):
        app.session_state[f"{menu}_{name}"] = True
    app.run()
    assert not app.exception
    assert len(app.code) > len(PICTURES[view])


def test_every_view_runs_for_any_rows(measured):
    measured({})
    app = start(PAGE, profiling_view="parts", profiling_row="40")
    for view, sizes in product(("parts", "roofline"), SIZES):
        press(app, f"_view_in_tab_{view}")
        widget(app, "profiling_sizes").set_value(sizes).run()
        assert not app.exception
        for name in PICTURES[view]:
            assert np.isfinite(drawn(chart(app, name))).any()
        widget(app, "profiling_sizes").set_value("nonsense").run()
        assert [plain(info.value) for info in app.info] == [NO_CONFIGURATION]


def test_a_link_to_a_view_keeps_the_rows_of_compare(measured):
    measured({})
    app = start(
        PAGE, profiling_view="parts", profiling_sizes="8 2 1 4\n8 2 1 5", profiling_targets="LSTM", profiling_batch="3"
    )
    assert "Row 1 of 2 under “Configurations”: LSTM, d_model 8, 2 heads, 1 layer, 4 tokens, batch 3." in text_on(app)
    assert "profiling_sizes" in app.query_params
    before = ends(chart(app, "profiling_parts_flops"))
    widget(app, "profiling_row").set_value(2).run()
    assert "Row 2 of 2" in text_on(app)
    assert ends(chart(app, "profiling_parts_flops")) != before


def test_a_sweep_follows_the_sidebar_and_leaves_out_what_is_beyond_the_limits():
    app = start(
        PAGE, profiling_view="length", d_model="256", num_heads="16", num_layers="8", profiling_length_batch="64"
    )
    assert any("2,048 tokens would need" in info.value for info in app.info)
    small = start(PAGE, profiling_view="length", d_ff="100", profiling_longest="256", profiling_target="fused")
    assert "at n = d_ff = 100 in FLOPs" in text_on(small)
    parts = lines(chart(small, "profiling_length_parts"))
    assert list(parts) == ["projections", "products", "feed-forward"]
    assert [x.tolist() for x, _ in parts.values()] == [[32, 64, 128, 256]] * 3


def test_the_roof_goes_up_to_the_ridge_and_stays(measured):
    measured({})
    app = start(PAGE, profiling_view="roofline")
    header = chart(app, "profiling_roofline")
    (flat, (flat_x, flat_y)), (slope, (slope_x, slope_y)) = list(lines(header).items())[:2]
    assert (flat, slope) == ("peak 100 GFLOP/s", "copy 20.0 GB/s")
    assert marks(header) == {"ridge 5.00": 5}
    assert flat_y.tolist() == [100, 100]
    assert flat_x[0] == slope_x[1] == 5
    assert slope_y[1] / slope_y[0] == pytest.approx(slope_x[1] / slope_x[0])
    assert math.isclose(slope_y[1], 100)
