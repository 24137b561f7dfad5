"""The view "compare" in words and numbers, from measurements made by hand."""

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest

from tests.tfm_core.profiling.small import OPEN
from tests.tfm_ui.profiling_toys import MACHINE, blocks, plan, report, seen
from tfm_core.profiling import Blocks, Measured, contention, costs, files, statistics
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens import compare_parameters, compare_ratios, compare_table, compare_times, measuring
from tfm_ui.profiling_lens.compare import FORWARD, TRAINING, aligned, compared, listed_rows, recipe
from tfm_ui.profiling_lens.state import ProfilingState

FIVE = plan()
TIMES = [0.002, 0.01, 0.045, 0.02, 0.047]
TINY = "8, 2, 1, 4\n8, 2, 1, 6"


def test_rows_that_were_not_reached_say_so_and_the_others_stand():
    found = seen(FIVE, [0.002, None], complete=False)
    assert found.measured == [1]
    assert [found.reason(number) for number in (1, 2, 3)] == [
        "",
        "no clean block: the processor was contended in all 8 blocks",
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
    found.rows[1] = replace(found.rows[1], forward=Blocks(contended=2))
    assert compare_table.table(found)["problem"][2] == (
        "no clean forward block: the processor was contended in all 2 forward blocks; forward + backward: out of memory"
    )


def test_a_clean_backward_without_a_clean_forward_is_told():
    found = seen(FIVE, TIMES)
    found = replace(found, rows=[replace(one, forward=Blocks(contended=4)) for one in found.rows])
    for part in (compare_times, compare_parameters):
        assert part.sentence(found).startswith("No row has a clean forward block, so no forward time is shown.")
    assert "The fastest forward + backward pass is row 1’s, 6.00 ms" in compare_times.sentence(found)
    assert "No forward pass can be compared with row 1 · with weights: no clean forward block" in (
        compare_ratios.sentence(found)
    )
    assert found.reason(1, TRAINING) == ""
    found.rows[0] = replace(found.rows[0], forward=blocks(0.002), training=Blocks(contended=1))
    assert found.reasons(1) == [
        "no clean forward + backward block: the processor was contended in 1 forward + backward block"
    ]
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
    assert "fastest forward pass is row 1’s, 2.00 ms; the slowest row 5’s, 47.0 ms, 23.5× as long" in said
    assert "Forward + backward takes 3.0 times as long as forward." in said
    assert "None of the 80 blocks was contended." in said
    assert "Of 16 blocks 8 were contended" in compare_times.sentence(seen(plan(backward=False), [0.1, None]))
    assert compare_times.sentence(seen(FIVE)).startswith("Nothing is measured yet")
    assert "No row has a clean block" in compare_times.sentence(seen(FIVE, [None] * 5))
    assert "row 1 takes 5.00 ms" in compare_times.sentence(seen(plan(sizes="8, 2, 1, 4"), [0.005]))


def test_the_bar_counts_rows_without_a_clean_forward_block():
    found = report(FIVE, TIMES)
    first, second, *others = found.measured
    first = replace(first, forward=Blocks(contended=4), training=Blocks(), problem="forward + backward: out of memory")
    second = replace(second, training=Blocks(), problem="forward + backward: out of memory")
    said = measuring.blocks(replace(found, measured=(first, second, *others)))
    assert said == "4 of 60 blocks contended and thrown away. 1 row has no clean forward block."


def test_the_dots_are_what_the_interval_is_of():
    rows = plan(sizes="8, 2, 1, 4\n" * 2)
    found = seen(rows, [0.01, 0.01])
    found.rows[0] = replace(found.rows[0], forward=Blocks((1.0, 4.0, 7.0), (0, 3, 4)))
    found.rows[1] = replace(found.rows[1], forward=Blocks((2.0, 3.0, 8.0), (0, 1, 3)))
    one = compare_ratios.ratios(found)[0]
    assert one.rounds == {0: 2.0, 3: 2.0}
    assert one.interval.middle == statistics.median_interval(list(one.rounds.values())).middle


def test_faster_slower_and_undecided_rows_are_told_apart():
    rows = plan(sizes="8, 2, 1, 4\n" * 4)
    found = seen(rows, [0.01, 0.02, 0.005, 0.01])
    swung = blocks(0.01, noise=(1.1, 0.9, 1.05, 0.97, 1.0, 1.08, 0.95, 0.99))
    found.rows[3] = replace(found.rows[3], forward=swung)
    assert compare_ratios.sentence(found) == (
        "Forward beside row 1 · with weights, slower: row 2 (2×); faster: row 3 (0.5×); no detectable "
        "difference: row 4. 8 pairs each, intervals at 95%."
    )
    assert [one.verdict for one in compare_ratios.ratios(found) if one.kind == FORWARD] == [
        "slower", "faster", "no detectable difference"
    ]  # fmt: skip
    assert {one.kind for one in compare_ratios.ratios(found)} == {FORWARD, TRAINING}


def test_too_few_pairs_are_no_verdict():
    found = seen(plan(sizes="8, 2, 1, 4\n" * 3), [0.01, 0.02, None])
    found.rows[1] = replace(found.rows[1], forward=blocks(0.02, noise=(1, 1)))
    said = compare_ratios.sentence(found)
    assert "too few clean rounds to tell: row 2; no round with a clean block of both: row 3. 2 pairs each" in said
    one = compare_ratios.ratios(found)[0]
    assert one.said == "1.99, too few clean rounds to tell, 2 pairs"
    lost = seen(plan(sizes="8, 2, 1, 4\n" * 2), [None, 0.02])
    assert "Nothing can be compared with row 1 · with weights: no clean block" in compare_ratios.sentence(lost)
    assert "add another" in compare_ratios.sentence(seen(plan(sizes="8, 2, 1, 4"), [0.1]))


def test_equal_parameters_and_unequal_times_are_told():
    said = compare_parameters.sentence(seen(FIVE, TIMES))
    assert said.startswith("From row 1 to row 3: 47.3× the parameters, 22.5× the time.")
    assert "Rows 2, 4 and 5 have the same 793\u202f344 parameters; row 5 needs 4.7× the time of row 2." in said
    assert "× the floating point operations" in compare_parameters.sentence(seen(FIVE))
    assert "No row" in compare_parameters.sentence(seen(FIVE, [None] * 5))
    twice = plan(sizes="8, 2, 1, 4\n8, 2, 1, 4")
    assert "their time differs by less than 1%" in compare_parameters.sentence(seen(twice, [0.1, 0.1005]))
    assert "their floating point operations differ by less than 1%" in compare_parameters.sentence(seen(twice))
    noisy = seen(twice, [0.1, 0.1])
    noisy.rows[1] = replace(noisy.rows[1], forward=blocks(0.1, noise=(0.9, 1.2, 1.2, 0.9, 1.2, 1.2, 0.9, 1.2)))
    assert "round by round there is no detectable difference in time between rows 1 and 2." in (
        compare_parameters.sentence(noisy)
    )
    assert compare_parameters.by_powers(seen(FIVE, TIMES))
    assert not compare_parameters.by_powers(seen(FIVE, [0.1] * 5))
    assert "takes 0.100 ms" in compare_parameters.sentence(seen(plan(sizes="8, 2, 1, 4"), [1e-4]))


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
