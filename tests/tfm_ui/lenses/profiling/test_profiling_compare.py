"""The view "compare": words and numbers from measurements made by hand; one statistic decides every sentence."""

from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.profiling.small import OPEN
from tests.tfm_ui.lenses.profiling.reports import MACHINE, NOISE, blocks, busy, plan, report, timed
from tfm_core.profiling import Blocks, Measured, clock, contention, costs, files, machine, parts, statistics
from tfm_ui.lenses.profiling.compare import Parameters, Table
from tfm_ui.lenses.profiling.compare_rounds import Ratios, Times, median_or_why
from tfm_ui.lenses.profiling.pace import Pace
from tfm_ui.lenses.profiling.roofline import Roofline
from tfm_ui.lenses.profiling.rows import FORWARD, TRAINING, aligned, listed_rows
from tfm_ui.text import provenance, units

FIVE = plan()
TIMES = [0.002, 0.01, 0.045, 0.02, 0.047]
PANELS = (Table, Times, Ratios, Parameters)
TINY = "8, 2, 1, 4\n8, 2, 1, 6"


def test_rows_that_were_not_reached_say_so_and_the_others_stand():
    compared = timed(FIVE, [0.002, None], complete=False)
    times = compared.on(Times)
    assert times.measured == [1]
    assert [times.reason(n) for n in (1, 2, 3)] == ["", "no round was measured", "the run was stopped before"]
    assert aligned(FIVE, None)[0].problem == "not measured yet"
    assert "Without a figure: rows 2 to 5" in times.sentence()


def test_equal_rows_keep_their_own_measurements():
    twice = plan(sizes="8, 2, 1, 4\n8, 2, 1, 4")
    assert [row.forward.median for row in timed(twice, [1.0, 2.0]).rows] == [1.0, 2.0]
    part = replace(report(twice, [1.0, 2.0]), measured=report(twice, [1.0]).measured)
    assert [bool(row.forward.seconds) for row in aligned(twice, part)] == [True, False]


def test_a_row_that_failed_tells_why():
    whole = report(FIVE, TIMES)
    failed = (Measured(FIVE.rows[0], problem="not enough memory"), *whole.measured[1:])
    compared = replace(timed(FIVE, TIMES), rows=list(failed))
    assert compared.on(Table).table()["problem"].tolist() == ["not enough memory", "", "", "", ""]
    assert compared.on(Table).table()["forward ms"].isna().tolist() == [True, False, False, False, False]


def test_a_row_that_failed_only_backward_says_so_beside_its_figures():
    compared = timed(FIVE, TIMES)
    compared.rows[1] = replace(compared.rows[1], training=Blocks(), problem="forward + backward: out of memory")
    table = compared.on(Table).table()
    assert table["problem"].tolist() == ["", "forward + backward: out of memory", "", "", ""]
    assert table["forward ms"].notna().all()
    assert table["forward + backward ms"].isna().tolist() == [False, True, False, False, False]

    sentence = compared.on(Times).sentence()
    assert sentence.endswith("Without a figure for forward + backward: row 2; the table says why.")
    assert compared.on(Times).of_row(2, TRAINING).endswith("forward + backward:\nout of memory")
    compared.rows[1] = replace(compared.rows[1], forward=Blocks((1.0, 1.0), (0, 1)))
    assert compared.on(Table).table()["problem"][2] == (
        "2 rounds of forward alone, where a time takes 3; forward + backward: out of memory"
    )


def test_times_of_backward_without_any_of_forward_are_told():
    compared = timed(FIVE, TIMES)
    compared = replace(compared, rows=[replace(row, forward=Blocks((1.0,), (0,))) for row in compared.rows])
    for part in (Times, Parameters):
        assert compared.on(part).sentence().startswith("No row has a time of its forward pass.")
    assert (
        "Forward + backward passes: fastest row 1 (6.00 ms), slowest row 5 (141 ms); row 5 takes"
        in compared.on(Times).sentence()
    )
    assert "No forward pass can be compared with row 1 · with weights: 1 round of forward alone" in (
        compared.on(Ratios).sentence()
    )
    assert compared.on(Times).reason(1, TRAINING) == ""
    compared.rows[0] = replace(compared.rows[0], forward=blocks(0.002), training=Blocks((1.0, 2.0), (0, 1)))
    assert compared.on(Times).reasons(1) == ["2 rounds of forward + backward alone, where a time takes 3"]
    sentence = compared.on(Times).sentence()
    lacking = "Without a figure for forward: rows 2 to 5; without a figure for forward + backward: row 1"
    assert sentence.endswith(f"{lacking}; the table says why.")


def test_the_table_is_the_commands_with_where_it_was_measured():
    compared = timed(FIVE, TIMES).on(Table).table()
    assert compared["forward ms"].to_numpy() == pytest.approx(1000 * np.array(TIMES))
    assert compared["forward + backward ms"].to_numpy() == pytest.approx(3000 * np.array(TIMES))
    flops = [sum(costs.flops(row).values()) for row in FIVE.rows]
    assert compared["share of matrix product"].to_numpy() == pytest.approx(np.array(flops) / TIMES / 100e9)
    assert compared["estimated MiB"].tolist() == [costs.peak_memory(row, FIVE.setup) / 2**20 for row in FIVE.rows]
    whole = pd.DataFrame(files.table(report(FIVE, TIMES)))
    pd.testing.assert_frame_equal(compared[list(whole)].reset_index(drop=True), whole)
    assert set(compared) == {*whole, *files.provenance(report(FIVE, []))}
    assert set(compared["torch"]) == {MACHINE.torch}
    for part in (Times, Ratios, Parameters):
        assert set(timed(FIVE, TIMES).on(part).table()["measurement"]) == {"toy"}


def test_before_a_measurement_the_table_has_what_follows_from_the_configuration():
    compared = timed(FIVE).on(Table).table()
    assert compared["parameters"].tolist() == [sum(costs.parameters(row).values()) for row in FIVE.rows]
    assert compared["forward ms"].isna().all()
    assert (compared["problem"] == "not measured yet").all()
    assert "Press Measure" in timed(FIVE).on(Table).sentence()
    assert "1 row: 888 parameters, 0.106 MFLOP" in timed(plan(sizes="8, 2, 1, 4")).on(Table).sentence()


def test_the_row_that_does_most_in_a_second_is_named():
    sentence = timed(FIVE, TIMES).on(Table).sentence()
    assert (
        "Row 3 does most in a second, 173 GFLOP/s; a large matrix product 100. The roof is what one large" in sentence
    )
    slower = timed(FIVE, [10 * x for x in TIMES]).on(Table).sentence()
    assert slower.endswith("Row 3 does most in a second, 17.3 GFLOP/s; a large matrix product 100.")
    unknown = timed(FIVE, TIMES)
    unknown = replace(unknown, report=replace(unknown.report, machine=replace(MACHINE, flops_per_second=nan)))
    assert "second" not in unknown.on(Table).sentence()


def test_the_slowest_the_fastest_and_backward_are_told():
    sentence = timed(FIVE, TIMES).on(Times).sentence()
    assert sentence.startswith(
        "Forward passes: fastest row 1 (2.00 ms), slowest row 5 (47.0 ms); row 5 takes 23.5× as long as row 1."
    )
    assert "Forward + backward takes 3.0 times as long as forward." in sentence
    twins = timed(plan(sizes="8, 2, 1, 4\n" * 4), [0.01, 0.01, 0.03, 0.03]).on(Times).sentence()
    assert "fastest rows 1 and 2 (10.0 ms, not told apart), slowest rows 3 and 4 (30.0 ms, not told apart)" in twins
    assert timed(FIVE).on(Times).sentence().startswith("Nothing is measured yet")
    assert "No row has a time." in timed(FIVE, [None] * 5).on(Times).sentence()
    assert "row 1 takes 5.00 ms" in timed(plan(sizes="8, 2, 1, 4"), [0.005]).on(Times).sentence()


@pytest.fixture
def disturbed():
    """All rows on a busy machine: of eight rounds of each, one was clean."""
    compared = timed(FIVE, TIMES)
    rows = [
        replace(row, forward=busy(seconds), training=busy(3 * seconds), parts_under_load=True)
        for row, seconds in zip(compared.rows, TIMES, strict=True)
    ]
    assert compared.report
    return replace(compared, rows=rows, report=replace(compared.report, measured=tuple(rows)))


def test_on_a_busy_machine_the_bar_says_once_what_happened_and_what_helps(disturbed):
    said = provenance.blocks(disturbed.report)
    assert said == (
        "Other programs disturbed 70 of 80 timings. Where fewer than 6 rounds ran undisturbed, the figure is of all "
        "rounds and is marked as measured under load. Measure again when the machine is quieter."
    )
    sentences = [disturbed.on(part).sentence() for part in PANELS]
    for sentence in sentences:
        assert not any(word in sentence for word in ("busy", "disturbed", "quieter"))
        assert sentence.count("Measured under load: ") == 1
    few = replace(
        report(FIVE, TIMES), measured=tuple(replace(row, forward=busy(1.0, clean=6)) for row in disturbed.rows)
    )
    enough = [replace(row, training=blocks(1.0), parts_under_load=False) for row in few.measured]
    assert provenance.blocks(replace(few, measured=tuple(enough))) == (
        "Other programs disturbed 10 of 80 timings, which are left out."
    )
    assert provenance.blocks(report(FIVE, TIMES)) == "All 80 timings ran undisturbed."


def test_figures_under_load_are_of_all_blocks_and_marked_wherever_they_stand(disturbed):
    table = disturbed.on(Table).table()
    assert set(table["measured under load"]) == {"forward, forward + backward, parts"}
    assert table["forward ms"][1] == pytest.approx(1000 * disturbed.rows[0].forward.median)
    assert table["forward ms"][1] > 1000 * disturbed.rows[0].forward.seconds[0]  # the lucky block alone says nothing
    assert median_or_why(disturbed.rows[0].forward).endswith(" ms, under load")
    assert "8 rounds; measured under load, 1 round undisturbed" in disturbed.on(Times).of_row(1, FORWARD)
    assert disturbed.on(Times).table()["disturbed"].sum() == 70
    assert len(disturbed.on(Times).table()) == 80
    assert all(disturbed.on(Ratios).table()["measured under load"])
    assert all(row.in_short.endswith(", under load") for row in disturbed.on(Ratios).all)
    assert disturbed.on(Parameters).table()["measured under load"].all()
    marked = replace(disturbed, rows=[replace(disturbed.rows[0], training=blocks(1.0)), *timed(FIVE, TIMES).rows[1:]])
    assert marked.on(Times).sentence().endswith("Measured under load: forward of row 1.")
    assert marked.on(Parameters).sentence().endswith("Measured under load: row 1.")


def test_rows_in_words():
    assert [listed_rows(x) for x in ([3], [1, 2], [1, 2, 4], [2, 3, 4, 5], list(range(1, 18, 2)))] == [
        "row 3", "rows 1 and 2", "rows 1, 2 and 4", "rows 2 to 5", "9 rows"
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [None, [], [None, None], [0.1], [0.1, None], [None, 0.1], [1e-7, 5000.0]])
@pytest.mark.parametrize("backward", [True, False])
def test_every_sentence_and_table_stands_whatever_was_measured(seconds, backward):
    compared = timed(plan(sizes=TINY, backward=backward), seconds)
    for part in PANELS:
        sentence = compared.on(part).sentence()
        assert sentence
        assert "nan" not in sentence
        assert list(compared.on(part).table().index)[:2] in ([1, 2], [1] * 2, [1], [2], [2] * 2, [])


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
    exec(timed(tiny).on(Ratios).recipe(), names)
    assert names["report"].plan == tiny
    assert names["report"].complete
    assert len(names["ratios"]) == 2
    assert names["ratios"][0].middle == 1
    exec(timed(tiny).on(Table).recipe(), names)
    assert len(names["medians"]) == 2


# rows beside each other


@given(st.lists(st.floats(0.9, 1.1), min_size=8, max_size=8), st.floats(0.5, 2))
def test_one_statistic_decides_every_sentence_of_the_page(noise, factor):
    """Two rows of equal parameters, whatever their times: all sentences tell them apart, or none does."""
    compared = timed(plan(sizes="8, 2, 1, 4\n8, 2, 1, 4"), [0.01, 0.01])
    compared.rows[1] = replace(compared.rows[1], forward=blocks(0.01 * factor, noise=noise))
    apart = statistics.verdict(statistics.ratio(compared.rows[1].forward, compared.rows[0].forward))
    for part in (Times, Parameters):
        sentence = compared.on(part).sentence()
        assert ("no detectable difference" in sentence) == (apart == "no detectable difference")
        assert ("fastest" in sentence or " as row " in sentence or " than row " in sentence) == (
            apart in ("faster", "slower")
        )
        assert " 1×" not in sentence
    assert f"{apart}: row 2" in compared.on(Ratios).sentence()
    best = compared.on(Table).sentence()
    assert ("cannot be told apart from it" in best) == (apart == "no detectable difference")


def test_a_median_of_ratios_says_so_where_the_medians_on_screen_give_another():
    seconds = (7.0, 2.0, 2.1, 9.0, 9.1, 9.2, 9.3, 2.2), (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.1)
    slow, fast = (Blocks(each, tuple(range(8))) for each in seconds)
    ratio, medians = Pace(slow).over(Pace(fast)), slow.median / fast.median
    assert abs(ratio.interval.middle / medians - 1) > 0.05
    words = ratio.in_words("row 2", "row 1")
    assert words.endswith(f"(the median of 8 ratios; the ratio of the medians is {units.times(medians)})")
    same = Pace(blocks(2.0)).over(Pace(blocks(1.0))).in_words("row 2", "row 1")
    assert same == "row 2 takes 2× as long as row 1"


def test_only_what_the_rounds_tell_apart_is_said_to_lead():
    """Three rows, of which two are alike: neither of these is said to do more, or to reach more, than the other."""
    compared = timed(plan(sizes="8, 2, 1, 4\n8, 2, 1, 4\n8, 2, 1, 4"), [0.01, 0.01, 0.03])
    compared.rows[1] = replace(compared.rows[1], forward=blocks(0.01, noise=NOISE[::-1]))
    for said in (compared.on(Roofline).leaders, compared.on(Roofline).sentence()):
        assert "cannot be told apart" in said
        assert "row 3 cannot" not in said


def test_the_dots_are_what_the_interval_is_of():
    rows = plan(sizes="8, 2, 1, 4\n" * 2)
    compared = timed(rows, [0.01, 0.01])
    compared.rows[0] = replace(compared.rows[0], forward=Blocks((1.0, 4.0, 7.0, 1.0), (0, 3, 4, 5)))
    compared.rows[1] = replace(compared.rows[1], forward=Blocks((2.0, 3.0, 8.0, 3.0), (0, 1, 3, 5)))
    row = compared.on(Ratios).all[0]
    assert row.rounds == {0: 2.0, 3: 2.0, 5: 3.0}
    assert row.ratio.interval.middle == statistics.median_interval(list(row.rounds.values())).middle


def test_faster_slower_and_undecided_rows_are_told_apart():
    rows = plan(sizes="8, 2, 1, 4\n" * 4)
    compared = timed(rows, [0.01, 0.02, 0.005, 0.01])
    swung = blocks(0.01, noise=(1.1, 0.9, 1.05, 0.97, 1.0, 1.08, 0.95, 0.99))
    compared.rows[3] = replace(compared.rows[3], forward=swung)
    assert compared.on(Ratios).sentence() == (
        "Forward beside row 1 · with weights, slower: row 2 (2×); faster: row 3 (0.5×); no detectable "
        "difference: row 4. 8 pairs each, intervals at 95%."
    )
    assert [row.ratio.verdict for row in compared.on(Ratios).all if row.kind == FORWARD] == [
        "slower", "faster", "no detectable difference"
    ]  # fmt: skip
    assert {row.kind for row in compared.on(Ratios).all} == {FORWARD, TRAINING}


def test_too_few_pairs_are_no_verdict():
    compared = timed(plan(sizes="8, 2, 1, 4\n" * 3), [0.01, 0.02, None])
    compared.rows[1] = replace(compared.rows[1], forward=blocks(0.02, noise=(1, 1, 1)))
    sentence = compared.on(Ratios).sentence()
    assert "too few rounds to tell: row 2; too few rounds with both: row 3. 3 pairs each" in sentence
    row = compared.on(Ratios).all[0]
    assert row.in_words == "2.00, too few rounds to tell, 3 pairs"
    assert "there are too few rounds to tell row 1 and row 2 apart in time" in compared.on(Times).sentence()
    lost = timed(plan(sizes="8, 2, 1, 4\n" * 2), [None, 0.02])
    assert "Nothing can be compared with row 1 · with weights: no round was measured" in lost.on(Ratios).sentence()
    assert "add another" in timed(plan(sizes="8, 2, 1, 4"), [0.1]).on(Ratios).sentence()


def test_equal_parameters_and_unequal_times_are_told():
    sentence = timed(FIVE, TIMES).on(Parameters).sentence()
    assert sentence.startswith("Row 3 has 47.3× as many parameters as row 1; row 3 takes 22.5× as long as row 1.")
    assert "Rows 2, 4 and 5 have the same 793,344 parameters; row 5 takes 4.7× as long as row 2." in sentence
    assert "× as many floating point operations as row" in timed(FIVE).on(Parameters).sentence()
    nearly = timed(plan(sizes="64, 4, 2, 50\n64, 4, 2, 50, 257")).on(Parameters).sentence()
    assert "Row 2 has 0.26% more parameters than row 1; row 2 needs 0.23% more floating point operations than" in nearly
    assert "No row" in timed(FIVE, [None] * 5).on(Parameters).sentence()
    twice = plan(sizes="8, 2, 1, 4\n8, 2, 1, 4")
    assert "row 2 takes 0.5% longer than row 1." in timed(twice, [0.1, 0.1005]).on(Parameters).sentence()
    assert "row 1 needs as many floating point operations as row 2." in timed(twice).on(Parameters).sentence()
    noisy = timed(twice, [0.1, 0.1])
    noisy.rows[1] = replace(noisy.rows[1], forward=blocks(0.1, noise=(0.9, 1.2, 1.2, 0.9, 1.2, 1.2, 0.9, 1.2)))
    assert "8 rounds show no detectable difference in time between row 1 and row 2." in (
        noisy.on(Parameters).sentence()
    )
    assert timed(FIVE, TIMES).on(Parameters).by_powers
    assert not timed(FIVE, [0.1] * 5).on(Parameters).by_powers
    assert "takes 0.100 ms" in timed(plan(sizes="8, 2, 1, 4"), [1e-4]).on(Parameters).sentence()
