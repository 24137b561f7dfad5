"""The view "parts": parameters, FLOPs and time of one row, in one order of parts."""

import re
from dataclasses import replace

import pytest

from tests.tfm_core.profiling.kinds import KINDS, described, sized
from tests.tfm_ui.lenses.profiling.reports import leaves, part_seconds, plausible
from tfm_core.profiling import TARGETS, PartTime, Row, Size, costs
from tfm_ui.lenses.profiling.compare.numbers import Compared, aligned
from tfm_ui.lenses.profiling.parts import formulas as parts_formulas
from tfm_ui.lenses.profiling.parts.numbers import MOST, Parts, in_order, parts
from tfm_ui.lenses.profiling.state import ProfilingState, plan_of
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()
STATE = ProfilingState(view="parts")


def seen(number=0, *, state=STATE, measured=True, parts=None, **how) -> Parts:
    plan = plan_of(MODEL, state)
    assert plan is not None
    report = plausible(plan, **how) if measured else None
    rows = aligned(plan, report)
    if parts:
        rows = [replace(one, parts=tuple(PartTime(*part) for part in parts)) for one in rows]
    return Parts(Compared(plan, report, rows, 1), number)


def test_the_counts_are_the_closed_forms():
    found = seen(2)
    assert found.parameters == costs.parameters(found.row)
    assert found.flops == costs.flops(found.row)
    assert found.seconds == pytest.approx(part_seconds(found.row))
    assert found.names == ["projections", "products", "softmax", "feed-forward", "norms", "rest"]
    table = found.table()
    assert table["FLOPs"].sum() == sum(found.flops.values())
    assert table["ms"].sum() == pytest.approx(1e3 * sum(found.seconds.values()))


def test_time_that_has_no_flops_is_said():
    found = seen()
    total = sum(found.seconds.values())
    share = round(100 * (found.seconds["softmax"] + found.seconds["norms"]) / total)
    assert f"Softmax and norms do 0% of the FLOPs and take {share}% of the time." in found.about_time


def test_where_time_and_flops_disagree_is_said():
    said = seen(parts=[("products", 3.0), ("feed-forward", 1.0)]).about_time
    assert "products: 75% of it." in said
    assert "Most FLOPs are in the feed-forward: 59% of them, in 25% of the time." in said


def test_operators_keep_their_names_and_the_least_are_summed():
    found = seen(parts=[(f"aten::op{i}", float(i)) for i in range(1, 21)])
    assert found.by_operator
    assert len(found.timed) == MOST + 1
    assert sum(found.seconds.values()) == sum(range(1, 21))
    assert "12 others" in found.seconds
    assert "Only operators can be told apart" in found.about_time
    assert set(found.names) == {"projections", "products", "feed-forward", "norms"}


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
    found = seen(2, **how)
    assert found.about_time.startswith(said)
    assert found.seconds == {}
    assert "ms" not in found.table()


def test_parts_of_a_row_without_a_time_of_a_call_are_of_their_own_passes():
    assert seen(2, only_backward=[2]).about_time.endswith(
        "torch.profiler timed passes of its own; no time of a forward call is shown: "
        "1 round of forward alone, where a time takes 3."
    )
    assert "of its own" not in seen(2, only_forward=[2]).about_time


def test_a_row_measured_under_load_is_marked():
    found = seen(2, busy=[2])
    assert found.about_time.endswith("Measured under load.")
    assert found.table()["measured under load"].all()
    assert "under load" not in seen(2).about_time


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size", [Size(d_model=12, num_heads=3, num_layers=2, seq_len=5, batch=2, d_ff=7)])
def test_formulas_are_shown_of_all_parts_that_they_are_true_of(target, size):
    row = Row(target, size)
    parameters, flops = costs.parameters(row), costs.flops(row)
    found = [
        *parts_formulas.laws(parts_formulas.parameters, parameters, size),
        *parts_formulas.laws(parts_formulas.flops, flops, size),
    ]
    if "products" in flops:
        assert "projections: layers × 4(d² + d) = 2 × 4(12² + 12) = 1\u202f248" in found
        assert "products: batch × layers × 4 × n² × d = 2 × 2 × 4 × 5² × 12 = 4\u202f800" in found
        assert len(found) == 6
    else:
        assert not any(part.startswith(("projections", "products")) for part in found)


@pytest.mark.parametrize("kind", KINDS, ids=described)
def test_formulas_are_of_every_kind(kind):
    size = sized(kind, d_model=12, num_heads=3, num_layers=2, seq_len=5, batch=2, d_ff=7)
    row = Row("fused", size)
    for formulas, counts in (
        (parts_formulas.parameters, costs.parameters(row)),
        (parts_formulas.flops, costs.flops(row)),
    ):
        found = parts_formulas.laws(formulas, counts, size)
        assert [law.partition(":")[0] for law in sorted(found)] == sorted(counts)
        for law in found:
            _, put_in, count = law.partition(": ")[2].split(" = ")
            product = re.sub(r"(?<=\d)\(", "*(", put_in).replace("×", "*").replace("²", "**2")
            assert eval(product) == int(count.replace("\u202f", ""))


def test_learned_positions_have_parameters_and_no_time_of_their_own():
    model = replace(MODEL, positional="learned")
    found = parts(model, STATE)
    assert found.parameters["positions"] == 1024 * found.row.size.d_model
    assert "positions" in found.names
    assert "positions" not in found.timed


def test_a_row_beyond_the_last_is_the_last_and_no_row_is_none():
    assert parts(MODEL, replace(STATE, row=40)).number == 4
    assert parts(MODEL, replace(STATE, row=40)).title.startswith("Row 5 of 5")
    assert parts(MODEL, replace(STATE, sizes="nonsense")) is None


def test_parts_come_in_the_order_of_a_pass():
    assert in_order(["rest", "x", "softmax", "projections", "x"]) == ["projections", "softmax", "rest", "x"]


def test_the_script_gives_the_counts_shown():
    found = seen(state=replace(STATE, sizes="8, 2, 1, 4", rounds=3, backward=False))
    scope = leaves(found.recipe)
    assert scope["parameters"] == found.parameters
    assert scope["flops"] == found.flops
    assert scope["seconds"] == found.seconds
