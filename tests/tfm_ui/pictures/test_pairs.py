"""Pairs of bars: the upper and the lower bar of each name are its two shares."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.pictures.charts import bars, ends, figure, names, traces
from tests.tfm_ui.pictures.figure_checks import TYPED, nothing_typed_is_a_tag
from tests.tfm_ui.pictures.scale_laws import LAWS
from tfm_ui.pictures.pairs import content
from tfm_ui.text import formats
from tfm_ui.text.colours import ROLE

SERIES, ROLES = ("weight", "value"), ("query", "value")
SHARES = np.array([[0.5, 0.125, 0], [0.25, 0.75, 1e-7]], np.float32)


def made(shares, rows=None, series=SERIES) -> dict:
    """The header, as a function makes it."""
    rows = rows or [f"row {i}" for i in range(shares.shape[1])]
    return content(rows, series, shares, roles=ROLES, about="words")[0]


def test_the_first_is_above_the_second_and_no_bar_lies_over_another():
    upper, lower = traces(made(SHARES))
    assert (upper.y < np.arange(3)).all()  # rows are counted from the top
    assert (lower.y > np.arange(3)).all()
    edges = np.sort(np.concatenate([[bar.y - bar.width / 2, bar.y + bar.width / 2] for bar in (upper, lower)], 1))
    assert (np.sort(edges[0])[1:] > np.sort(edges[1])[:-1]).all()
    assert figure(made(SHARES)).layout.barmode == "overlay"


def test_each_bar_says_its_share():
    header = made(SHARES, ["a", "b", "c"])
    said = [[formats.percent(share, 3) for share in side] for side in SHARES.tolist()]
    assert ends(header) == [text for pair in zip(*said, strict=True) for text in pair]
    for trace, name, texts in zip(traces(header), SERIES, said, strict=True):
        assert list(trace.customdata) == [f"{row}, {name}: {text}" for row, text in zip("abc", texts, strict=True)]


def test_the_series_are_told_apart_by_colour_and_legend():
    header = made(SHARES)
    assert [trace.marker.color for trace in traces(header)] == [ROLE["light"][role] for role in ROLES]
    assert figure(header).layout.showlegend


def test_what_a_reader_has_typed_is_no_tag():
    header = made(SHARES[:, :1], [TYPED], (TYPED, "b"))
    assert names(header) == [TYPED]
    nothing_typed_is_a_tag(header["figure"])


def test_of_no_names_there_is_an_empty_figure():
    header = made(np.zeros((2, 0), np.float32))
    assert names(header) == ends(header) == []


@given(shares=st.lists(st.tuples(st.floats(0, 1, width=32), st.floats(0, 1, width=32)), min_size=1, max_size=12))
def test_any_shares_lie_on_the_axis(shares):
    header = made(np.array(shares, np.float32).T)
    low, high = figure(header).layout.xaxis.range
    assert low == 0 < high
    assert max(map(max, shares)) <= high
    assert list(bars(header)) == list(SERIES)
    np.testing.assert_array_equal(list(bars(header).values()), np.array(shares).T)
    assert names(header) == [f"row {i}" for i in range(len(shares))]
    LAWS["chart"](header, b"")
