"""The view "compare" in words and numbers, from measurements made by hand."""

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest

from tests.tfm_core.profiling.small import OPEN
from tests.tfm_ui.lenses.profiling.profiling_toys import MACHINE, blocks, busy, plan, report, seen
from tfm_core.profiling import Blocks, Measured, contention, costs, files
from tfm_ui.lenses.profiling import measuring
from tfm_ui.lenses.profiling.compare import parameters as compare_parameters
from tfm_ui.lenses.profiling.compare import ratios as compare_ratios
from tfm_ui.lenses.profiling.compare import table as compare_table
from tfm_ui.lenses.profiling.compare import times as compare_times
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, TRAINING, aligned, compared, listed_rows, recipe
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

FIVE = plan()
TIMES = [0.002, 0.01, 0.045, 0.02, 0.047]
TINY = "8, 2, 1, 4\n8, 2, 1, 6"


def test_rows_that_were_not_reached_say_so_and_the_others_stand():
    found = seen(FIVE, [0.002, None], complete=False)
    assert found.measured == [1]
    assert [found.reason(number) for number in (1, 2, 3)] == [
        "",
        "no round was measured",
        "the run was stopped before",
    ]
    assert aligned(FIVE, None)[0].problem == "not measured yet"
    assert "Without a figure: rows 2 to 5" in compare_times.sentence(found)


def test_equal_rows_keep_their_own_measurements():
    twice = plan(sizes="8, 2, 1, 4\n8, 2, 1, 4")
    assert [one.forward.median for one in seen(twice, [1.0, 2.0]).rows] == [1.0, 2.0]
    part = replace(report(twice, [1.0, 2.0]), measured=report(twice, [1.0]).measured)
    assert [bool(one.forward.seconds) for one in aligned(twice, part)] == [True, False]


def test_a_row_that_failed_tells_why():
    whole = report(FIVE, TIMES)
    failed = (Measured(FIVE.rows[0], problem="not enough memory"), *whole.measured[1:])
    found = replace(seen(FIVE, TIMES), rows=list(failed))
    assert compare_table.table(found)["problem"].tolist() == ["not enough memory", "", "", "", ""]
    assert compare_table.table(found)["forward ms"].isna().tolist() == [True, False, False, False, False]


def test_a_row_that_failed_only_backward_says_so_beside_its_figures():
    found = seen(FIVE, TIMES)
    found.rows[1] = replace(found.rows[1], training=Blocks(), problem="forward + backward: out of memory")
    table = compare_table.table(found)
    assert table["problem"].tolist() == ["", "forward + backward: out of memory", "", "", ""]
    assert table["forward ms"].notna().all()
    assert table["forward + backward ms"].isna().tolist() == [False, True, False, False, False]

    said = compare_times.sentence(found)
    assert said.endswith("Without a figure for forward + backward: row 2; the table says why.")
    assert compare_times.said(found, 2, TRAINING).endswith("forward + backward:\nout of memory")
    found.rows[1] = replace(found.rows[1], forward=Blocks((1.0, 1.0), (0, 1)))
    assert compare_table.table(found)["problem"][2] == (
        "2 rounds of forward alone, where a time takes 3; forward + backward: out of memory"
    )


def test_times_of_backward_without_any_of_forward_are_told():
    found = seen(FIVE, TIMES)
    found = replace(found, rows=[replace(one, forward=Blocks((1.0,), (0,))) for one in found.rows])
    for part in (compare_times, compare_parameters):
        assert part.sentence(found).startswith("No row has a time of its forward pass.")
    assert (
        "Forward + backward passes: fastest row 1 (6.00 ms), slowest row 5 (141 ms); row 5 takes"
        in compare_times.sentence(found)
    )
    assert "No forward pass can be compared with row 1 · with weights: 1 round of forward alone" in (
        compare_ratios.sentence(found)
    )
    assert found.reason(1, TRAINING) == ""
    found.rows[0] = replace(found.rows[0], forward=blocks(0.002), training=Blocks((1.0, 2.0), (0, 1)))
    assert found.reasons(1) == ["2 rounds of forward + backward alone, where a time takes 3"]
    assert compare_times.sentence(found).endswith(
        "Without a figure for forward: rows 2 to 5; without a figure for forward + backward: row 1; the table says why."
    )


def test_the_table_is_the_commands_with_where_it_was_measured():
    found = compare_table.table(seen(FIVE, TIMES))
    assert found["forward ms"].to_numpy() == pytest.approx(1000 * np.array(TIMES))
    assert found["forward + backward ms"].to_numpy() == pytest.approx(3000 * np.array(TIMES))
    flops = [sum(costs.flops(row).values()) for row in FIVE.rows]
    assert found["share of matrix product"].to_numpy() == pytest.approx(np.array(flops) / TIMES / 100e9)
    assert found["estimated MiB"].tolist() == [costs.peak_memory(row, FIVE.setup) / 2**20 for row in FIVE.rows]
    whole = pd.DataFrame(files.table(report(FIVE, TIMES)))
    pd.testing.assert_frame_equal(found[list(whole)].reset_index(drop=True), whole)
    assert set(found) == {*whole, *files.provenance(report(FIVE, []))}
    assert set(found["torch"]) == {MACHINE.torch}
    for other in (compare_times.table, compare_ratios.table, compare_parameters.table):
        assert set(other(seen(FIVE, TIMES))["measurement"]) == {"toy"}


def test_before_a_measurement_the_table_has_what_follows_from_the_configuration():
    found = compare_table.table(seen(FIVE))
    assert found["parameters"].tolist() == [sum(costs.parameters(row).values()) for row in FIVE.rows]
    assert found["forward ms"].isna().all()
    assert (found["problem"] == "not measured yet").all()
    assert "Press Measure" in compare_table.sentence(seen(FIVE))
    assert "1 row: 888 parameters, 0.106 MFLOP" in compare_table.sentence(seen(plan(sizes="8, 2, 1, 4")))


def test_the_row_that_does_most_in_a_second_is_named():
    said = compare_table.sentence(seen(FIVE, TIMES))
    assert "Row 3 does most in a second: 173 GFLOP/s; a large matrix product 100. The roof is what one large" in said
    slower = compare_table.sentence(seen(FIVE, [10 * x for x in TIMES]))
    assert slower.endswith("Row 3 does most in a second: 17.3 GFLOP/s; a large matrix product 100.")
    unknown = seen(FIVE, TIMES)
    unknown = replace(unknown, report=replace(unknown.report, machine=replace(MACHINE, flops_per_second=nan)))
    assert "second" not in compare_table.sentence(unknown)


def test_the_slowest_the_fastest_and_backward_are_told():
    said = compare_times.sentence(seen(FIVE, TIMES))
    assert said.startswith(
        "Forward passes: fastest row 1 (2.00 ms), slowest row 5 (47.0 ms); row 5 takes 23.5× as long as row 1."
    )
    assert "Forward + backward takes 3.0 times as long as forward." in said
    twins = compare_times.sentence(seen(plan(sizes="8, 2, 1, 4\n" * 4), [0.01, 0.01, 0.03, 0.03]))
    assert "fastest rows 1 and 2 (10.0 ms, not told apart), slowest rows 3 and 4 (30.0 ms, not told apart)" in twins
    assert compare_times.sentence(seen(FIVE)).startswith("Nothing is measured yet")
    assert "No row has a time." in compare_times.sentence(seen(FIVE, [None] * 5))
    assert "row 1 takes 5.00 ms" in compare_times.sentence(seen(plan(sizes="8, 2, 1, 4"), [0.005]))


@pytest.fixture
def disturbed():
    """All rows on a busy machine: of eight rounds of each, one was clean."""
    found = seen(FIVE, TIMES)
    rows = [
        replace(one, forward=busy(seconds), training=busy(3 * seconds), parts_under_load=True)
        for one, seconds in zip(found.rows, TIMES, strict=True)
    ]
    assert found.report
    return replace(found, rows=rows, report=replace(found.report, measured=tuple(rows)))


def test_on_a_busy_machine_the_bar_says_once_what_happened_and_what_helps(disturbed):
    said = measuring.blocks(disturbed.report)
    assert said == (
        "Other work kept the processor busy in 70 of 80 blocks. Figures with fewer than 6 clean rounds are of all "
        "blocks, and marked as measured under load: their intervals show how they spread. Measure again when it is "
        "quieter."
    )
    sentences = [
        part.sentence(disturbed) for part in (compare_table, compare_times, compare_ratios, compare_parameters)
    ]
    for sentence in sentences:
        assert not any(word in sentence for word in ("busy", "contended", "quieter", "clean"))
        assert sentence.count("Measured under load: ") == 1
    few = replace(
        report(FIVE, TIMES), measured=tuple(replace(one, forward=busy(1.0, clean=6)) for one in disturbed.rows)
    )
    enough = [replace(one, training=blocks(1.0), parts_under_load=False) for one in few.measured]
    assert measuring.blocks(replace(few, measured=tuple(enough))) == "10 of 80 blocks contended and left out."
    assert measuring.blocks(report(FIVE, TIMES)) == "80 blocks, all clean."


def test_figures_under_load_are_of_all_blocks_and_marked_wherever_they_stand(disturbed):
    table = compare_table.table(disturbed)
    assert set(table["measured under load"]) == {"forward, forward + backward, parts"}
    assert table["forward ms"][1] == pytest.approx(1000 * disturbed.rows[0].forward.median)
    assert table["forward ms"][1] > 1000 * disturbed.rows[0].forward.seconds[0]  # the lucky block alone says nothing
    assert compare_times.end(disturbed.rows[0].forward).endswith(" ms, under load")
    assert "8 rounds; measured under load, 1 round clean" in compare_times.said(disturbed, 1, FORWARD)
    assert compare_times.table(disturbed)["contended"].sum() == 70
    assert len(compare_times.table(disturbed)) == 80
    assert all(compare_ratios.table(disturbed)["measured under load"])
    assert all(one.end.endswith(", under load") for one in compare_ratios.ratios(disturbed))
    assert compare_parameters.table(disturbed)["measured under load"].all()
    marked = replace(disturbed, rows=[replace(disturbed.rows[0], training=blocks(1.0)), *seen(FIVE, TIMES).rows[1:]])
    assert compare_times.sentence(marked).endswith("Measured under load: forward of row 1.")
    assert compare_parameters.sentence(marked).endswith("Measured under load: row 1.")


def test_rows_in_words():
    assert [listed_rows(x) for x in ([3], [1, 2], [1, 2, 4], [2, 3, 4, 5], list(range(1, 18, 2)))] == [
        "row 3", "rows 1 and 2", "rows 1, 2 and 4", "rows 2 to 5", "9 rows"
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [None, [], [None, None], [0.1], [0.1, None], [None, 0.1], [1e-7, 5000.0]])
@pytest.mark.parametrize("backward", [True, False])
def test_every_sentence_and_table_stands_whatever_was_measured(seconds, backward):
    found = seen(plan(sizes=TINY, backward=backward), seconds)
    for part in (compare_table, compare_times, compare_ratios, compare_parameters):
        said = part.sentence(found)
        assert said
        assert "nan" not in said
        assert list(part.table(found).index)[:2] in ([1, 2], [1] * 2, [1], [2], [2] * 2, [])


def test_no_row_is_no_comparison():
    assert compared(ModelState(), ProfilingState(sizes="nonsense")) is None


def test_the_recipe_measures_the_same_plan(monkeypatch):
    monkeypatch.setattr(contention, "gate", lambda: OPEN)
    tiny = plan(sizes="8, 2, 1, 4", targets="with weights,fused", rounds=3, batch=1, backward=False)
    more = (
        "from tfm_core.profiling.statistics import ratio",
        "ratios = [ratio(m.forward, m.forward) for m in report.measured]",
    )
    names: dict = {}
    exec(recipe(tiny, *more), names)
    assert names["report"].plan == tiny
    assert names["report"].complete
    assert len(names["medians"]) == len(names["ratios"]) == 2
