"""Bars are shares of one whole; of a pair of bars, each is its share of its own."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.pictures.charts import bars, ends, figure, names, traces
from tests.tfm_ui.pictures.figure_checks import TYPED, nothing_typed_is_a_tag
from tests.tfm_ui.pictures.scale_laws import LAWS
from tfm_ui.pictures.bars import content
from tfm_ui.pictures.pairs import content as content_of_pairs
from tfm_ui.text import formats
from tfm_ui.text.colours import ROLE

NAN = math.nan
SERIES, ROLES = ("weight", "value"), ("query", "value")
SHARES = np.array([[0.5, 0.125, 0], [0.25, 0.75, 1e-7]], np.float32)


def made(shares, names=None, **more) -> dict:
    """The header, as a function makes it."""
    return content(names or [f"bar {i}" for i in range(len(shares))], shares, about="words", **more)[0]


def paired(shares, rows=None, series=SERIES) -> dict:
    """The header, as a function makes it."""
    rows = rows or [f"row {i}" for i in range(shares.shape[1])]
    return content_of_pairs(rows, series, shares, roles=ROLES, about="words")[0]


def test_the_shares_of_one_whole_are_drawn_whatever_is_missing_or_rounded():
    shares = [0.5, NAN, 0.5 + 5e-6]
    header = made(shares, ["a", "b", "c"])
    assert names(header) == ["a", "b", "c"]
    (drawn,) = bars(header).values()
    np.testing.assert_array_equal(drawn, shares)
    assert drawn.dtype == np.float64
    assert ends(header) == ["50.0%", "none", "50.0%"]
    (trace,) = traces(header)
    assert trace.y.tolist() == [0, 1, 2]  # names stand at 0, 1, 2, from top to bottom
    assert figure(header).layout.yaxis.tickvals == (0, 1, 2)
    assert figure(header).layout.yaxis.range == (2.5, -0.5)
    assert list(trace.customdata) == ["a: 50.0%", "b: none", "c: 50.0%"]


def test_each_text_begins_where_its_bar_ends_and_that_of_a_gap_at_0():
    header = made([0.75, 0.0, NAN, 0.25], gap="no rows")
    texts = [text for text in figure(header).layout.annotations if text.name == "end"]
    assert [(text.x, text.y, text.text) for text in texts] == [
        (0.75, 0, "75.0%"), (0, 1, "0%"), (0, 2, "no rows"), (0.25, 3, "25.0%")
    ]  # fmt: skip


def test_a_value_stands_before_the_share_which_has_no_decimals_then():
    header = made([0.756, 0.0, NAN], values=["3 ms", "0 ms", "1"])
    assert ends(header) == ["3 ms  76%", "0 ms", "none"]


def test_a_share_to_compare_with_is_a_line_on_the_axis():
    (line,) = figure(made([0.1, 0.2], reference=0.5)).layout.shapes
    assert (line.x0, line.x1, line.line.dash) == (0.5, 0.5, "dot")
    assert figure(made([0.1, 0.2], reference=0.5)).layout.xaxis.range == (0, 0.5)
    assert figure(made([0.1, 0.2], reference=0.05)).layout.xaxis.range == (0, 0.2)
    assert len(figure(made([0.1, 0.2])).layout.shapes) == 0


def test_what_a_reader_has_typed_is_no_tag():
    header = made([0.5, NAN], [TYPED, "b"], values=[TYPED, TYPED], gap=TYPED)
    assert names(header)[0] == TYPED
    assert ends(header) == [f"{TYPED}  50%", TYPED]
    nothing_typed_is_a_tag(header["figure"])
    pairs = paired(SHARES[:, :1], [TYPED], (TYPED, "b"))
    assert names(pairs) == [TYPED]
    nothing_typed_is_a_tag(pairs["figure"])


def test_of_no_shares_there_is_an_empty_figure():
    for header in (made([]), paired(np.zeros((2, 0), np.float32))):
        assert names(header) == ends(header) == []
    assert traces(made([])) == []


def test_shares_that_are_more_than_one_whole_are_refused():
    with pytest.raises(ValueError, match=r"expected shares of one whole, got a sum of 1\.25"):
        made([0.5, 0.75])


def test_a_text_for_each_share_or_for_none():
    with pytest.raises(ValueError, match="expected a value for each of 2 shares, got 1"):
        made([0.5, 0.5], values=["one"])


@given(
    parts=st.lists(st.floats(1e-9, 1) | st.just(NAN) | st.just(0.0), min_size=1, max_size=12),
    reference=st.none() | st.floats(0, 1),
)
def test_any_shares_of_a_whole_are_drawn_as_they_are_within_the_axis(parts, reference):
    whole = np.nansum(parts) or 1
    shares = [part / whole for part in parts]
    header = made(shares, reference=reference)
    (drawn,) = bars(header).values()
    np.testing.assert_array_equal(drawn, shares)
    assert ends(header) == ["none" if math.isnan(share) else formats.percent(share, 3) for share in shares]
    low, high = figure(header).layout.xaxis.range
    assert low == 0 < high
    assert all(share <= high for share in shares if not math.isnan(share))
    assert reference is None or reference <= high
    LAWS["chart"](header, b"")


# pairs of bars


def test_the_first_is_above_the_second_and_no_bar_lies_over_another():
    upper, lower = traces(paired(SHARES))
    assert (upper.y < np.arange(3)).all()  # rows are counted from the top
    assert (lower.y > np.arange(3)).all()
    edges = np.sort(np.concatenate([[bar.y - bar.width / 2, bar.y + bar.width / 2] for bar in (upper, lower)], 1))
    assert (np.sort(edges[0])[1:] > np.sort(edges[1])[:-1]).all()
    assert figure(paired(SHARES)).layout.barmode == "overlay"


def test_each_bar_says_its_share():
    header = paired(SHARES, ["a", "b", "c"])
    said = [[formats.percent(share, 3) for share in side] for side in SHARES.tolist()]
    assert ends(header) == [text for pair in zip(*said, strict=True) for text in pair]
    for trace, name, texts in zip(traces(header), SERIES, said, strict=True):
        assert list(trace.customdata) == [f"{row}, {name}: {text}" for row, text in zip("abc", texts, strict=True)]


def test_the_series_are_told_apart_by_colour_and_legend():
    header = paired(SHARES)
    assert [trace.marker.color for trace in traces(header)] == [ROLE["light"][role] for role in ROLES]
    assert figure(header).layout.showlegend


@given(shares=st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), min_size=1, max_size=12))
def test_any_shares_lie_on_the_axis(shares):
    header = paired(np.array(shares, np.float32).T)
    low, high = figure(header).layout.xaxis.range
    assert low == 0 < high
    assert max(map(max, shares)) <= high
    assert list(bars(header)) == list(SERIES)
    np.testing.assert_array_equal(list(bars(header).values()), np.array(shares).T)
    assert names(header) == [f"row {i}" for i in range(len(shares))]
    LAWS["chart"](header, b"")
