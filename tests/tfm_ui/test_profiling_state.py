"""The text box of configurations: every line is read or named, and a plan stays within its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfm_core.profiling import DEFAULT_SIZES, TARGETS, Size
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens.state import MOST_ROWS, SIZES, ProfilingState, line_of, plan_of, rows_of, sizes_of


def test_the_default_text_is_the_default_sizes():
    assert sizes_of(SIZES, 16) == (list(DEFAULT_SIZES), [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("64, 4, 2", "expected 4 whole numbers"),
        ("64, 4, 2, 50, 0, 1", "expected 4 whole numbers"),
        ("a, b, c, d", "expected 4 whole numbers"),
        ("64, 4, 2, -50", "expected 4 whole numbers"),
        ("64, 4, 2, 5.5", "expected 4 whole numbers"),
        ("64, 4, 2, ٣", "expected 4 whole numbers"),
        ("64, 5, 2, 50", "expected a divisor of d_model=64, got 5"),
        ("64, 0, 2, 50", "num_heads: expected a whole number of at least 1"),
        ("64, 4, 2, 65537", "expected numbers up to 65536"),
        ("64, 4, 2, " + "9" * 300, "expected numbers up to 65536"),
        ("<b>, $x$, **y**, 🦊", "expected 4 whole numbers"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(line, reason):
    sizes, problems = sizes_of(f"64 4 2 50\n\n{line}\n8,2,1,9", 3)
    assert [(s.d_model, s.seq_len, s.batch) for s in sizes] == [(64, 50, 3), (8, 9, 3)]
    assert len(problems) == 1
    assert problems[0].startswith(f"Line 3, “{line.strip()[:40]}”: ")
    assert reason in problems[0]


def test_a_fifth_number_is_d_ff_and_a_size_comes_back_from_its_line():
    for size in (Size(d_model=8, num_heads=2, num_layers=1, seq_len=4, d_ff=5), *DEFAULT_SIZES):
        assert sizes_of(line_of(size), 16) == ([size], [])


def test_more_rows_than_there_may_be_are_cut_and_that_is_said():
    state = ProfilingState(sizes="8, 2, 1, 4\n" * 30, targets="with weights,without weights")
    rows, problems = rows_of(state)
    assert len(rows) == len(plan_of(ModelState(), state).rows) == MOST_ROWS
    assert problems == ["Of 60 rows the first 40 are taken."]


def test_without_a_configuration_there_is_no_plan_and_that_is_said():
    state = ProfilingState(sizes=" \n ")
    assert plan_of(ModelState(), state) is None
    assert rows_of(state)[1] == ["No line describes a configuration: for example, 64, 4, 2, 50."]


@given(st.text(max_size=200), st.lists(st.sampled_from(list(TARGETS)), unique=True))
def test_any_text_is_read(text, targets):
    rows, problems = rows_of(ProfilingState(sizes=text, targets=",".join(targets)))
    assert rows or problems
    assert len(rows) <= MOST_ROWS
