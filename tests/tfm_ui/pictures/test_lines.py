"""Pictures of lines: the content for the browser is complete."""

import numpy as np
import pytest

from tfm_ui.pictures.lines import Chart, Line, content


def test_each_lines_numbers_follow_each_other_and_the_header_says_how_many():
    first = Line("a", [1, 2, 4], [0.5, float("nan"), 2], "query")
    second = Line("b", [1], [7], "head 3", "dots", "2")
    charts = [Chart("x", "y", [first], x_scale="log2", reach=[0], marks={"here": 2}), Chart("x", "z", [second])]
    header, numbers = content(charts, about="words")
    np.testing.assert_array_equal(numbers, np.array([1, 2, 4, 0.5, np.nan, 2, 1, 7], np.float32))
    assert header["about"] == "words"
    assert [[line["count"] for line in chart["lines"]] for chart in header["charts"]] == [[3], [1]]
    assert header["charts"][0]["marks"] == [{"name": "here", "x": 2}]
    assert [(chart["xScale"], chart["yScale"], chart["reach"]) for chart in header["charts"]] == [
        ("log2", "linear", [0]),
        ("linear", "linear", []),
    ]
    assert header["charts"][1]["lines"][0] == {
        "name": "b",
        "colour": "head 3",
        "style": "dots",
        "count": 1,
        "mark": "2",
    }


def test_a_line_whose_x_and_y_differ_in_number_is_refused():
    with pytest.raises(ValueError, match="expected a y for each x of 'a', got 2 x and 1 y"):
        content([Chart("x", "y", [Line("a", [1, 2], [3], "ink")])], about="")
