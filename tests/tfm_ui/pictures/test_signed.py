"""Bars of both signs: each begins at 0, says its number with its sign, and has the colour of its side."""

import numpy as np
import pytest

from tests.tfm_ui.pictures.charts import figure as drawn
from tfm_ui.pictures.signed import NEGATIVE, POSITIVE, content, signed


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3.1, "+3.10"),
        (-0.42, "−0.42"),
        (0.0042, "+0.0042"),
        (0, "0"),
        (-0.0, "0"),
        (-1e-9, "−1×10⁻⁹"),
        (12.345, "+12.35"),
    ],
)
def test_a_number_is_written_with_its_sign(number, text):
    assert signed(number) == text


def test_bars_begin_at_0_in_the_colour_of_their_side():
    header, numbers = content(["a", "<b>", "c"], [2.0, -1.0, 0.0], unit="score", chosen=[1])
    assert not numbers.size
    shown = drawn(header)
    (bar,) = shown.data
    np.testing.assert_array_equal(bar.x, [2, -1, 0])
    assert list(bar.marker.color) == [POSITIVE, NEGATIVE, POSITIVE]
    assert tuple(shown.layout.xaxis.range) == (-1, 2)
    assert [*shown.layout.yaxis.ticktext] == ["a", "▸ &lt;b&gt;", "c"]


def test_an_axis_has_a_length_where_all_bars_are_0():
    assert tuple(drawn(content(["a"], [0.0], unit="score")[0]).layout.xaxis.range) == (-1, 1)
