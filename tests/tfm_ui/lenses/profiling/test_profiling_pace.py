"""Rows beside each other: one statistic decides every sentence, from measurements made by hand."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.lenses.profiling.profiling_toys import NOISE, blocks, comparison, plan
from tfm_core.profiling import Blocks, statistics
from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.table import CostTable
from tfm_ui.lenses.profiling.compare.times import Times
from tfm_ui.lenses.profiling.comparison import FORWARD, TRAINING
from tfm_ui.lenses.profiling.pace import Pace
from tfm_ui.lenses.profiling.roofline.roofline import Roofline
from tfm_ui.text import units

FIVE = plan()
TIMES = [0.002, 0.01, 0.045, 0.02, 0.047]


@given(st.lists(st.floats(0.9, 1.1), min_size=8, max_size=8), st.floats(0.5, 2))
def test_one_statistic_decides_every_sentence_of_the_page(noise, factor):
    """Two rows of equal parameters, whatever their times: all sentences tell them apart, or none does."""
    compared = comparison(plan(sizes="8, 2, 1, 4\n8, 2, 1, 4"), [0.01, 0.01])
    compared.rows[1] = replace(compared.rows[1], forward=blocks(0.01 * factor, noise=noise))
    apart = statistics.verdict(statistics.ratio(compared.rows[1].forward, compared.rows[0].forward))
    for part in (Times, ParametersAndCost):
        said = part(compared).sentence()
        assert ("no detectable difference" in said) == (apart == "no detectable difference")
        assert ("fastest" in said or " as row " in said or " than row " in said) == (apart in ("faster", "slower"))
        assert " 1×" not in said
    assert f"{apart}: row 2" in Ratios(compared).sentence()
    best = CostTable(compared).sentence()
    assert ("cannot be told apart from it" in best) == (apart == "no detectable difference")


def test_a_median_of_ratios_says_so_where_the_medians_on_screen_give_another():
    seconds = (7.0, 2.0, 2.1, 9.0, 9.1, 9.2, 9.3, 2.2), (1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.1)
    slow, fast = (Blocks(each, tuple(range(8))) for each in seconds)
    ratio, medians = Pace(slow).over(Pace(fast)), slow.median / fast.median
    assert abs(ratio.interval.middle / medians - 1) > 0.05
    said = ratio.in_words("row 2", "row 1")
    assert said.endswith(f"(the median of 8 ratios; the ratio of the medians is {units.times(medians)})")
    same = Pace(blocks(2.0)).over(Pace(blocks(1.0))).in_words("row 2", "row 1")
    assert same == "row 2 takes 2× as long as row 1"


def test_only_what_the_rounds_tell_apart_is_said_to_lead():
    """Three rows, of which two are alike: neither of these is said to do more, or to reach more, than the other."""
    compared = comparison(plan(sizes="8, 2, 1, 4\n8, 2, 1, 4\n8, 2, 1, 4"), [0.01, 0.01, 0.03])
    compared.rows[1] = replace(compared.rows[1], forward=blocks(0.01, noise=NOISE[::-1]))
    for said in (Roofline(compared).leaders, Roofline(compared).sentence()):
        assert "cannot be told apart" in said
        assert "row 3 cannot" not in said


def test_the_dots_are_what_the_interval_is_of():
    rows = plan(sizes="8, 2, 1, 4\n" * 2)
    compared = comparison(rows, [0.01, 0.01])
    compared.rows[0] = replace(compared.rows[0], forward=Blocks((1.0, 4.0, 7.0, 1.0), (0, 3, 4, 5)))
    compared.rows[1] = replace(compared.rows[1], forward=Blocks((2.0, 3.0, 8.0, 3.0), (0, 1, 3, 5)))
    row = Ratios(compared).all[0]
    assert row.rounds == {0: 2.0, 3: 2.0, 5: 3.0}
    assert row.ratio.interval.middle == statistics.median_interval(list(row.rounds.values())).middle


def test_faster_slower_and_undecided_rows_are_told_apart():
    rows = plan(sizes="8, 2, 1, 4\n" * 4)
    compared = comparison(rows, [0.01, 0.02, 0.005, 0.01])
    swung = blocks(0.01, noise=(1.1, 0.9, 1.05, 0.97, 1.0, 1.08, 0.95, 0.99))
    compared.rows[3] = replace(compared.rows[3], forward=swung)
    assert Ratios(compared).sentence() == (
        "Forward beside row 1 · with weights, slower: row 2 (2×); faster: row 3 (0.5×); no detectable "
        "difference: row 4. 8 pairs each, intervals at 95%."
    )
    assert [row.ratio.verdict for row in Ratios(compared).all if row.kind == FORWARD] == [
        "slower", "faster", "no detectable difference"
    ]  # fmt: skip
    assert {row.kind for row in Ratios(compared).all} == {FORWARD, TRAINING}


def test_too_few_pairs_are_no_verdict():
    compared = comparison(plan(sizes="8, 2, 1, 4\n" * 3), [0.01, 0.02, None])
    compared.rows[1] = replace(compared.rows[1], forward=blocks(0.02, noise=(1, 1, 1)))
    said = Ratios(compared).sentence()
    assert "too few rounds to tell: row 2; too few rounds with both: row 3. 3 pairs each" in said
    row = Ratios(compared).all[0]
    assert row.in_words == "2.00, too few rounds to tell, 3 pairs"
    assert "there are too few rounds to tell row 1 and row 2 apart in time" in Times(compared).sentence()
    lost = comparison(plan(sizes="8, 2, 1, 4\n" * 2), [None, 0.02])
    assert "Nothing can be compared with row 1 · with weights: no round was measured" in Ratios(lost).sentence()
    assert "add another" in Ratios(comparison(plan(sizes="8, 2, 1, 4"), [0.1])).sentence()


def test_equal_parameters_and_unequal_times_are_told():
    said = ParametersAndCost(comparison(FIVE, TIMES)).sentence()
    assert said.startswith("Row 3 has 47.3× as many parameters as row 1; row 3 takes 22.5× as long as row 1.")
    assert "Rows 2, 4 and 5 have the same 793,344 parameters; row 5 takes 4.7× as long as row 2." in said
    assert "× as many floating point operations as row" in ParametersAndCost(comparison(FIVE)).sentence()
    nearly = ParametersAndCost(comparison(plan(sizes="64, 4, 2, 50\n64, 4, 2, 50, 257"))).sentence()
    assert "Row 2 has 0.26% more parameters than row 1; row 2 needs 0.23% more floating point operations than" in nearly
    assert "No row" in ParametersAndCost(comparison(FIVE, [None] * 5)).sentence()
    twice = plan(sizes="8, 2, 1, 4\n8, 2, 1, 4")
    assert "row 2 takes 0.5% longer than row 1." in ParametersAndCost(comparison(twice, [0.1, 0.1005])).sentence()
    assert "row 1 needs as many floating point operations as row 2." in ParametersAndCost(comparison(twice)).sentence()
    noisy = comparison(twice, [0.1, 0.1])
    noisy.rows[1] = replace(noisy.rows[1], forward=blocks(0.1, noise=(0.9, 1.2, 1.2, 0.9, 1.2, 1.2, 0.9, 1.2)))
    assert "8 rounds show no detectable difference in time between row 1 and row 2." in (
        ParametersAndCost(noisy).sentence()
    )
    assert ParametersAndCost(comparison(FIVE, TIMES)).by_powers
    assert not ParametersAndCost(comparison(FIVE, [0.1] * 5)).by_powers
    assert "takes 0.100 ms" in ParametersAndCost(comparison(plan(sizes="8, 2, 1, 4"), [1e-4])).sentence()
