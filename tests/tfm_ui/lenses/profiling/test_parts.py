"""The view "parts": parameters, FLOPs and time of one row, in one order of parts."""

import re
from dataclasses import replace

import pytest

from tests.tfm_core.profiling.kinds import KINDS, described, sized
from tests.tfm_ui.lenses.profiling.reports import leaves, measured, part_seconds
from tfm_core.profiling import TARGETS, Blocks, Measured, PartTime, Row, Size, costs
from tfm_ui.lenses.profiling.parts import (
    MOST,
    PartsTime,
    flop_formulas,
    formula_laws,
    parameter_formulas,
    which_row,
)
from tfm_ui.lenses.profiling.rows import in_order
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
STATE = ProfilingState(view="parts")


def timed(row=1, *, state=STATE, parts=None, **how) -> PartsTime:
    """The parts of a row, counted from 1; with other times, if there are `parts`."""
    panel = measured(MODEL, state, **how).on(PartsTime, row=row)
    if parts:
        panel.rows = [
            replace(measurement, parts=tuple(PartTime(*part) for part in parts)) for measurement in panel.rows
        ]
    return panel


def test_the_counts_are_the_closed_forms():
    panel = timed(3)
    assert panel.parameters == costs.parameters(panel.row)
    assert panel.flops == costs.flops(panel.row)
    assert panel.seconds == pytest.approx(part_seconds(panel.row))
    assert panel.names == ["projections", "products", "softmax", "feed-forward", "norms", "rest"]
    table = panel.table()
    assert table["FLOPs"].sum() == sum(panel.flops.values())
    assert table["ms"].sum() == pytest.approx(1e3 * sum(panel.seconds.values()))


def test_time_that_has_no_flops_is_said():
    panel = timed()
    total = sum(panel.seconds.values())
    share = round(100 * (panel.seconds["softmax"] + panel.seconds["norms"]) / total)
    assert f"Softmax and norms do 0% of the FLOPs and take {share}% of the time." in panel.sentence()


def test_where_time_and_flops_disagree_is_said():
    sentence = timed(parts=[("products", 3.0), ("feed-forward", 1.0)]).sentence()
    assert "products: 75% of it." in sentence
    assert "Most FLOPs are in the feed-forward: 59% of them, in 25% of the time." in sentence


def test_operators_keep_their_names_and_the_least_are_summed():
    panel = timed(parts=[(f"aten::op{i}", float(i)) for i in range(1, 21)])
    assert panel.by_operator
    assert len(panel.timed_parts) == MOST + 1
    assert sum(panel.seconds.values()) == sum(range(1, 21))
    assert "12 others" in panel.seconds
    assert "Only operators can be told apart" in panel.sentence()
    assert set(panel.names) == {"projections", "products", "feed-forward", "norms"}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"measured": False}, "Nothing of this is measured yet: press Measure."),
        ({"done": 2}, "Row 3: the run was stopped before."),
        ({"without": [2]}, "Row 3: no round was measured."),
        ({"problems": [2]}, "Row 3: out of memory."),
    ],
)
def test_a_row_without_a_figure_says_so(how, said):
    panel = timed(3, **how)
    assert panel.sentence().startswith(said)
    assert panel.seconds == {}
    assert "ms" not in panel.table()


def test_parts_of_a_row_without_a_time_of_a_call_are_of_their_own_passes():
    assert timed(3, only_backward=[2]).sentence().endswith(
        "torch.profiler timed passes of its own; no time of a forward call is shown: "
        "1 round of forward alone, where a time takes 3."
    )  # fmt: skip
    assert "of its own" not in timed(3, only_forward=[2]).sentence()


@pytest.mark.parametrize(
    ("slower", "said"),
    [
        (3.34, "11.2 ms under the profiler, 3.34× as long as a pass without it (3.34 ms); "),
        (1.02, "3.41 ms under the profiler, 2% longer than a pass without it (3.34 ms); "),
        (None, "11.2 ms under the profiler; "),  # no time of a pass without it
    ],
)
def test_how_much_the_profiler_slows_a_pass_is_said(slower, said):
    panel = timed(measured=False)
    seconds = 0.00334
    forward = Blocks((seconds,) * 9, tuple(range(9))) if slower else Blocks()
    panel.rows[0] = Measured(panel.row, forward, parts=(PartTime("products", seconds * (slower or 3.34)),))
    assert panel._share.startswith(said)


def test_a_row_measured_under_load_is_marked():
    panel = timed(3, busy=[2])
    assert panel.sentence().endswith("Measured under load.")
    assert panel.table()["measured under load"].all()
    assert "under load" not in timed(3).sentence()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [Size(d_model=12, num_heads=3, num_layers=2, seq_len=5, batch=2, d_ff=7)])
def test_formulas_are_shown_of_all_parts_that_they_are_true_of(target, size):
    row = Row(target, size)
    parameters, flops = costs.parameters(row), costs.flops(row)
    laws = [
        *formula_laws(parameter_formulas, parameters, size),
        *formula_laws(flop_formulas, flops, size),
    ]
    if "products" in flops:
        assert "projections: layers × 4(d² + d) = 2 × 4(12² + 12) = 1,248" in laws
        assert "products: batch × layers × 4 × n² × d = 2 × 2 × 4 × 5² × 12 = 4,800" in laws
        assert len(laws) == 6
    else:
        assert not any(part.startswith(("projections", "products")) for part in laws)


@pytest.mark.parametrize("kind", KINDS, ids=described)
def test_formulas_are_of_every_kind(kind):
    size = sized(kind, d_model=12, num_heads=3, num_layers=2, seq_len=5, batch=2, d_ff=7)
    row = Row("fused", size)
    for of_parts, counts in ((parameter_formulas, costs.parameters(row)), (flop_formulas, costs.flops(row))):
        laws = formula_laws(of_parts, counts, size)
        assert [law.partition(":")[0] for law in sorted(laws)] == sorted(counts)
        for law in laws:
            _, put_in, count = law.partition(": ")[2].split(" = ")
            product = re.sub(r"(?<=\d)\(", "*(", put_in).replace("×", "*").replace("²", "**2")
            assert eval(product) == int(count.replace(",", ""))


def test_learned_positions_have_parameters_and_no_time_of_their_own():
    model = replace(MODEL, positional="learned")
    panel = PartsTime(model, STATE)
    assert panel.parameters["positions"] == 1024 * panel.row.size.d_model
    assert "positions" in panel.names
    assert "positions" not in panel.timed_parts


def test_a_row_beyond_the_last_is_the_last_and_no_row_is_none():
    beyond = replace(STATE, row=40)
    assert PartsTime(MODEL, beyond).number == 5
    assert which_row(MODEL, beyond).text.startswith("Row 5 of 5")
    assert PartsTime(MODEL, replace(STATE, sizes="nonsense")).asked is None


def test_parts_come_in_the_order_of_a_pass():
    assert in_order(["rest", "x", "softmax", "projections", "x"]) == ["projections", "softmax", "rest", "x"]


def test_the_script_gives_the_counts_shown():
    panel = timed(state=replace(STATE, sizes="8, 2, 1, 4", rounds=3, backward=False))
    scope = leaves(panel.recipe())
    assert scope["parameters"] == panel.parameters
    assert scope["flops"] == panel.flops
    assert scope["seconds"] == panel.seconds
