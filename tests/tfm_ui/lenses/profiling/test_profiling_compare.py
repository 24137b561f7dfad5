"""The view "compare" in words and numbers, from measurements made by hand."""

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest

from tests.tfm_core.profiling.small import OPEN
from tests.tfm_ui.lenses.profiling.profiling_toys import MACHINE, blocks, busy, comparison, plan, report
from tfm_core.profiling import Blocks, Measured, clock, contention, costs, files, machine, parts
from tfm_ui.lenses.profiling import measure_words
from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.table import CostTable
from tfm_ui.lenses.profiling.compare.times import Times, median_or_why
from tfm_ui.lenses.profiling.comparison import FORWARD, TRAINING, aligned, listed_rows
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

FIVE = plan()
TIMES = [0.002, 0.01, 0.045, 0.02, 0.047]
TINY = "8, 2, 1, 4\n8, 2, 1, 6"


def test_rows_that_were_not_reached_say_so_and_the_others_stand():
    compared = comparison(FIVE, [0.002, None], complete=False)
    assert compared.measured == [1]
    assert [compared.reason(number) for number in (1, 2, 3)] == [
        "",
        "no round was measured",
        "the run was stopped before",
    ]
    assert aligned(FIVE, None)[0].problem == "not measured yet"
    assert "Without a figure: rows 2 to 5" in Times(compared).sentence()


def test_equal_rows_keep_their_own_measurements():
    twice = plan(sizes="8, 2, 1, 4\n8, 2, 1, 4")
    assert [row.forward.median for row in comparison(twice, [1.0, 2.0]).rows] == [1.0, 2.0]
    part = replace(report(twice, [1.0, 2.0]), measured=report(twice, [1.0]).measured)
    assert [bool(row.forward.seconds) for row in aligned(twice, part)] == [True, False]


def test_a_row_that_failed_tells_why():
    whole = report(FIVE, TIMES)
    failed = (Measured(FIVE.rows[0], problem="not enough memory"), *whole.measured[1:])
    compared = replace(comparison(FIVE, TIMES), rows=list(failed))
    assert CostTable(compared).table()["problem"].tolist() == ["not enough memory", "", "", "", ""]
    assert CostTable(compared).table()["forward ms"].isna().tolist() == [True, False, False, False, False]


def test_a_row_that_failed_only_backward_says_so_beside_its_figures():
    compared = comparison(FIVE, TIMES)
    compared.rows[1] = replace(compared.rows[1], training=Blocks(), problem="forward + backward: out of memory")
    table = CostTable(compared).table()
    assert table["problem"].tolist() == ["", "forward + backward: out of memory", "", "", ""]
    assert table["forward ms"].notna().all()
    assert table["forward + backward ms"].isna().tolist() == [False, True, False, False, False]

    said = Times(compared).sentence()
    assert said.endswith("Without a figure for forward + backward: row 2; the table says why.")
    assert Times(compared).of_row(2, TRAINING).endswith("forward + backward:\nout of memory")
    compared.rows[1] = replace(compared.rows[1], forward=Blocks((1.0, 1.0), (0, 1)))
    assert CostTable(compared).table()["problem"][2] == (
        "2 rounds of forward alone, where a time takes 3; forward + backward: out of memory"
    )


def test_times_of_backward_without_any_of_forward_are_told():
    compared = comparison(FIVE, TIMES)
    compared = replace(compared, rows=[replace(row, forward=Blocks((1.0,), (0,))) for row in compared.rows])
    for part in (Times, ParametersAndCost):
        assert part(compared).sentence().startswith("No row has a time of its forward pass.")
    assert (
        "Forward + backward passes: fastest row 1 (6.00 ms), slowest row 5 (141 ms); row 5 takes"
        in Times(compared).sentence()
    )
    assert "No forward pass can be compared with row 1 · with weights: 1 round of forward alone" in (
        Ratios(compared).sentence()
    )
    assert compared.reason(1, TRAINING) == ""
    compared.rows[0] = replace(compared.rows[0], forward=blocks(0.002), training=Blocks((1.0, 2.0), (0, 1)))
    assert compared.reasons(1) == ["2 rounds of forward + backward alone, where a time takes 3"]
    said = Times(compared).sentence()
    lacking = "Without a figure for forward: rows 2 to 5; without a figure for forward + backward: row 1"
    assert said.endswith(f"{lacking}; the table says why.")


def test_the_table_is_the_commands_with_where_it_was_measured():
    compared = CostTable(comparison(FIVE, TIMES)).table()
    assert compared["forward ms"].to_numpy() == pytest.approx(1000 * np.array(TIMES))
    assert compared["forward + backward ms"].to_numpy() == pytest.approx(3000 * np.array(TIMES))
    flops = [sum(costs.flops(row).values()) for row in FIVE.rows]
    assert compared["share of matrix product"].to_numpy() == pytest.approx(np.array(flops) / TIMES / 100e9)
    assert compared["estimated MiB"].tolist() == [costs.peak_memory(row, FIVE.setup) / 2**20 for row in FIVE.rows]
    whole = pd.DataFrame(files.table(report(FIVE, TIMES)))
    pd.testing.assert_frame_equal(compared[list(whole)].reset_index(drop=True), whole)
    assert set(compared) == {*whole, *files.provenance(report(FIVE, []))}
    assert set(compared["torch"]) == {MACHINE.torch}
    for part in (Times, Ratios, ParametersAndCost):
        assert set(part(comparison(FIVE, TIMES)).table()["measurement"]) == {"toy"}


def test_before_a_measurement_the_table_has_what_follows_from_the_configuration():
    compared = CostTable(comparison(FIVE)).table()
    assert compared["parameters"].tolist() == [sum(costs.parameters(row).values()) for row in FIVE.rows]
    assert compared["forward ms"].isna().all()
    assert (compared["problem"] == "not measured yet").all()
    assert "Press Measure" in CostTable(comparison(FIVE)).sentence()
    assert "1 row: 888 parameters, 0.106 MFLOP" in CostTable(comparison(plan(sizes="8, 2, 1, 4"))).sentence()


def test_the_row_that_does_most_in_a_second_is_named():
    said = CostTable(comparison(FIVE, TIMES)).sentence()
    assert "Row 3 does most in a second, 173 GFLOP/s; a large matrix product 100. The roof is what one large" in said
    slower = CostTable(comparison(FIVE, [10 * x for x in TIMES])).sentence()
    assert slower.endswith("Row 3 does most in a second, 17.3 GFLOP/s; a large matrix product 100.")
    unknown = comparison(FIVE, TIMES)
    unknown = replace(unknown, report=replace(unknown.report, machine=replace(MACHINE, flops_per_second=nan)))
    assert "second" not in CostTable(unknown).sentence()


def test_the_slowest_the_fastest_and_backward_are_told():
    said = Times(comparison(FIVE, TIMES)).sentence()
    assert said.startswith(
        "Forward passes: fastest row 1 (2.00 ms), slowest row 5 (47.0 ms); row 5 takes 23.5× as long as row 1."
    )
    assert "Forward + backward takes 3.0 times as long as forward." in said
    twins = Times(comparison(plan(sizes="8, 2, 1, 4\n" * 4), [0.01, 0.01, 0.03, 0.03])).sentence()
    assert "fastest rows 1 and 2 (10.0 ms, not told apart), slowest rows 3 and 4 (30.0 ms, not told apart)" in twins
    assert Times(comparison(FIVE)).sentence().startswith("Nothing is measured yet")
    assert "No row has a time." in Times(comparison(FIVE, [None] * 5)).sentence()
    assert "row 1 takes 5.00 ms" in Times(comparison(plan(sizes="8, 2, 1, 4"), [0.005])).sentence()


@pytest.fixture
def disturbed():
    """All rows on a busy machine: of eight rounds of each, one was clean."""
    compared = comparison(FIVE, TIMES)
    rows = [
        replace(row, forward=busy(seconds), training=busy(3 * seconds), parts_under_load=True)
        for row, seconds in zip(compared.rows, TIMES, strict=True)
    ]
    assert compared.report
    return replace(compared, rows=rows, report=replace(compared.report, measured=tuple(rows)))


def test_on_a_busy_machine_the_bar_says_once_what_happened_and_what_helps(disturbed):
    said = measure_words.blocks(disturbed.report)
    assert said == (
        "Other programs disturbed 70 of 80 timings. Where fewer than 6 rounds ran undisturbed, the figure is of all "
        "rounds and is marked as measured under load. Measure again when the machine is quieter."
    )
    sentences = [part(disturbed).sentence() for part in (CostTable, Times, Ratios, ParametersAndCost)]
    for sentence in sentences:
        assert not any(word in sentence for word in ("busy", "disturbed", "quieter"))
        assert sentence.count("Measured under load: ") == 1
    few = replace(
        report(FIVE, TIMES), measured=tuple(replace(row, forward=busy(1.0, clean=6)) for row in disturbed.rows)
    )
    enough = [replace(row, training=blocks(1.0), parts_under_load=False) for row in few.measured]
    assert measure_words.blocks(replace(few, measured=tuple(enough))) == (
        "Other programs disturbed 10 of 80 timings, which are left out."
    )
    assert measure_words.blocks(report(FIVE, TIMES)) == "All 80 timings ran undisturbed."


def test_figures_under_load_are_of_all_blocks_and_marked_wherever_they_stand(disturbed):
    table = CostTable(disturbed).table()
    assert set(table["measured under load"]) == {"forward, forward + backward, parts"}
    assert table["forward ms"][1] == pytest.approx(1000 * disturbed.rows[0].forward.median)
    assert table["forward ms"][1] > 1000 * disturbed.rows[0].forward.seconds[0]  # the lucky block alone says nothing
    assert median_or_why(disturbed.rows[0].forward).endswith(" ms, under load")
    assert "8 rounds; measured under load, 1 round undisturbed" in Times(disturbed).of_row(1, FORWARD)
    assert Times(disturbed).table()["disturbed"].sum() == 70
    assert len(Times(disturbed).table()) == 80
    assert all(Ratios(disturbed).table()["measured under load"])
    assert all(row.in_short.endswith(", under load") for row in Ratios(disturbed).all)
    assert ParametersAndCost(disturbed).table()["measured under load"].all()
    marked = replace(
        disturbed, rows=[replace(disturbed.rows[0], training=blocks(1.0)), *comparison(FIVE, TIMES).rows[1:]]
    )
    assert Times(marked).sentence().endswith("Measured under load: forward of row 1.")
    assert ParametersAndCost(marked).sentence().endswith("Measured under load: row 1.")


def test_rows_in_words():
    assert [listed_rows(x) for x in ([3], [1, 2], [1, 2, 4], [2, 3, 4, 5], list(range(1, 18, 2)))] == [
        "row 3", "rows 1 and 2", "rows 1, 2 and 4", "rows 2 to 5", "9 rows"
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [None, [], [None, None], [0.1], [0.1, None], [None, 0.1], [1e-7, 5000.0]])
@pytest.mark.parametrize("backward", [True, False])
def test_every_sentence_and_table_stands_whatever_was_measured(seconds, backward):
    compared = comparison(plan(sizes=TINY, backward=backward), seconds)
    for part in (CostTable, Times, Ratios, ParametersAndCost):
        said = part(compared).sentence()
        assert said
        assert "nan" not in said
        assert list(part(compared).table().index)[:2] in ([1, 2], [1] * 2, [1], [2], [2] * 2, [])


def test_no_row_is_no_comparison():
    assert comparison_of(ModelState(), ProfilingState(sizes="nonsense"), "compare") is None


def test_the_recipe_measures_the_same_plan(monkeypatch):
    monkeypatch.setattr(contention, "gate", lambda: OPEN)
    for module, name, value in (  # what it finds is not looked at, so it need not be precise
        (clock, "BLOCK_SECONDS", 0.001),
        (clock, "PAUSE", 0.0),
        (parts, "LEAST_SECONDS", 0.0),
        (machine, "PRODUCT_SIDE", {"cpu": 64}),
        (machine, "COPY_BYTES", {"cpu": 2**16}),
    ):
        monkeypatch.setattr(module, name, value)
    tiny = plan(sizes="8, 2, 1, 4", targets="with weights,fused", rounds=3, batch=1, backward=False)
    names: dict = {}
    exec(Ratios(comparison(tiny)).recipe(), names)
    assert names["report"].plan == tiny
    assert names["report"].complete
    assert len(names["ratios"]) == 2
    assert names["ratios"][0].middle == 1
    exec(CostTable(comparison(tiny)).recipe(), names)
    assert len(names["medians"]) == 2
