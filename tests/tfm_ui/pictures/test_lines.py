"""Charts of lines: the figure holds the numbers that it was given, on axes that show them all."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.charts import by_heading, drawn, figure, gaps, headings, lines, marks, ranges, traces
from tests.tfm_ui.pictures.figure_checks import TYPED, nothing_typed_is_a_tag
from tests.tfm_ui.pictures.scale_laws import LAWS
from tfm_ui.pictures.canvas import encode
from tfm_ui.pictures.lines import Chart, Line, content

NAN = math.nan


def made(*charts: Chart, gap: str = "none") -> dict:
    """The header of these charts, as a function makes it."""
    return content(charts, about="words", gap=gap)[0]


def test_each_lines_points_are_those_given_in_float64():
    first = Line("a", [1, 2, 4], [0.1, NAN, 2], "query")
    second = Line("b", [1], [0.7], "head 3", "dots", "2")
    header, numbers = content([Chart("x", "y", [first]), Chart("x", "z", [second])], about="words")
    assert (header["about"], numbers.size) == ("words", 0)
    assert headings(header) == ["y", "z"]
    for told in (header, decode(encode(header, numbers))[0]):  # as it is made, and as the browser gets it
        points = by_heading(told)
        np.testing.assert_array_equal(points["y", "a"], [[1, 2, 4], [0.1, NAN, 2]])
        np.testing.assert_array_equal(points["z", "b"], [[1], [0.7]])
        assert {part.dtype for both in points.values() for part in both} == {np.dtype(np.float64)}
    assert traces(header)[-1].text == "2"


def test_where_a_line_has_no_value_that_can_be_read_on_the_axis():
    line = Line("a", [1, 2, 3, 4], [10, NAN, 0, -5], "ink")
    linear, log = made(Chart("x", "y", [line]), gap="not defined"), made(Chart("x", "y", [line], y_scale="log10"))
    assert gaps(linear) == {"a": ([2], ["not defined"])}
    assert gaps(log) == {"a": ([2, 3, 4], ["none", "0", "-5"])}
    for header in (linear, log):
        axis, (gap,) = figure(header).layout.yaxis, [trace for trace in traces(header) if trace.meta == "gap"]
        on_axis = 10 ** axis.range[0] if axis.type == "log" else axis.range[0]
        assert set(gap.y) == {on_axis}
        assert "%{customdata}" in gap.hovertemplate
        assert (gap.showlegend, gap.legendgroup) == (False, "a")  # it goes where its line goes
    assert gaps(made(Chart("x", "y", [Line("", [1, 2], [1, NAN], "ink")]))) == {}


def test_many_gaps_are_read_and_not_drawn():
    def opacity(count: int) -> float:
        header = made(Chart("x", "y", [Line("a", range(count + 1), [1, *[NAN] * count], "ink")]))
        (gap,) = [trace for trace in traces(header) if trace.meta == "gap"]
        return gap.opacity

    assert [opacity(count) for count in (1, 12, 13, 400)] == [1, 1, 0, 0]


def test_an_axis_reaches_what_it_must_and_0_if_nothing_is_negative():
    def span(*y: float, reach=(), scale="linear") -> tuple[float, float]:
        header = made(Chart("x", "y", [Line("a", range(len(y)), y, "ink")], y_scale=scale, reach=reach))
        return figure(header).layout.yaxis.range

    assert span(5, 6)[0] > 4
    assert span(5, 6, reach=[0])[0] == 0
    assert span(5, 6, reach=[0, 20])[1] >= 20
    assert span(-5, 6, reach=[0])[0] < -5
    low, high = span(1, 100, reach=[1000], scale="log10")  # powers of ten
    assert -1 < low < 0
    assert 3 < high < 4
    assert span(7) == (6.5 - 0.06, 7.5 + 0.06)
    assert span(NAN) == (0, 1.06)


def test_places_that_are_counted_from_1_have_no_tick_at_0():
    def starts(first: float) -> float:
        line = Line("a", [first, 100], [1, 2], "ink")
        return figure(made(Chart("x", "y", [line]))).layout.xaxis.range[0]

    assert 0 < starts(1) < 1
    assert starts(0) == -2
    assert starts(2) < 1


def test_a_line_may_say_more_than_its_numbers():
    header = made(Chart("x", "y", [Line("a", [0, 1], [1, 2], "ink", says=["1, after “<b>”", "2, after “it”"])]))
    (trace,) = traces(header)
    assert (trace.hovertemplate, list(trace.customdata)) == ("%{customdata}", ["1, after “&lt;b&gt;”", "2, after “it”"])


def test_scales_become_axes():
    line = Line("a", [1, 1024], [1, 1e6], "ink")
    (layout,) = [figure(made(Chart("x", "y", [line], x_scale="log2", y_scale="log10"))).layout]
    assert (layout.xaxis.type, layout.yaxis.type) == ("log", "log")
    assert layout.xaxis.dtick % math.log10(2) == pytest.approx(0, abs=1e-9)  # every tick is a power of two
    few = figure(made(Chart("x", "y", [Line("a", [50, 1000], [1, 2], "ink")], x_scale="log10"))).layout
    assert few.xaxis.dtick == "D2"  # 50, 100, 200, 500, 1,000: names that a phone has room for
    counts = figure(made(Chart("x", "y", [Line("a", [1, 2, 3], [0, 1, 1], "ink")]))).layout
    assert (counts.xaxis.type, counts.xaxis.dtick, counts.yaxis.dtick) == ("linear", 1, 1)


def test_charts_of_one_x_are_zoomed_together_and_others_are_not():
    line = Line("a", [1, 2], [3, 4], "ink")
    layout = figure(made(Chart("x", "y", [line]), Chart("n", "z", [line]), Chart("x", "w", [line]))).layout
    assert [layout[axis].matches for axis in ("xaxis", "xaxis2", "xaxis3")] == [None, None, "x"]
    assert layout.xaxis.uirevision != layout.xaxis2.uirevision


def test_marks_and_ranges_stand_at_their_x():
    line = Line("a", [1, 100], [1, 2], "ink")
    marked = {"marks": {"here": 10.0, "at the end": 100.0}, "ranges": {"far": (50.0, 99.0)}}
    header = made(Chart("x", "y", [line]), Chart("x", "z", [line], x_scale="log10", **marked))
    assert (marks(header, 2), ranges(header, 2)) == (marked["marks"], marked["ranges"])
    assert marks(header, 1) == ranges(header, 1) == {}
    anchors = {text.text: text.xanchor for text in figure(header).layout.annotations}
    assert (anchors["here"], anchors["at the end"]) == ("center", "right")  # it stays within the chart


def test_a_name_stands_in_the_legend_once_and_only_if_there_it_tells_something_apart():
    a, b = Line("a", [1, 2], [1, NAN], "ink"), Line("b", [1, 2], [1, 2], "muted")
    surrounding = Line("", [1, 2], [0, 3], "muted", "thin")

    def in_legend(*charts: Chart) -> list[str]:
        return [trace.name for trace in traces(made(*charts)) if trace.showlegend]

    assert in_legend(Chart("x", "y", [a, b, surrounding]), Chart("x", "z", [b, a])) == ["a", "b"]
    assert in_legend(Chart("x", "y", [a]), Chart("x", "z", [a])) == []
    rings = [Line(name, [1], [2], "ink", "dots", mark=name) for name in "cd"]  # each dot says its name
    assert in_legend(Chart("x", "y", rings)) == []
    assert in_legend(Chart("x", "y", [*rings, a])) == ["c", "d", "a"]
    assert in_legend(Chart("x", "y", [rings[0], Line("e", [1], [2], "muted", "dots", mark="e")])) == ["c", "e"]


def test_a_line_without_a_name_cannot_be_read():
    named, nameless = traces(made(Chart("x", "y", [Line("a", [1], [2], "ink"), Line("", [1], [3], "ink", "thin")])))
    assert nameless.hoverinfo == "skip"
    assert named.hoverinfo is None
    assert named.meta == {"end": 2}


def test_where_a_lines_name_stands_is_its_last_value_as_the_axis_has_it():
    line, cloud = Line("a", [1, 2.95, 3], [1, 1000, NAN], "ink"), Line("b", [1, 2], [10, 30], "ink", "dots")
    assert [trace.meta["end"] for trace in traces(made(Chart("x", "y", [line, cloud]))) if trace.meta != "gap"] == [
        1000, 20
    ]  # fmt: skip
    assert traces(made(Chart("x", "y", [line], y_scale="log10")))[0].meta["end"] == 3


def test_a_point_to_which_no_line_leads_is_a_dot():
    y = [NAN, 1, NAN, *range(40), NAN, 5]
    (line, _) = traces(made(Chart("x", "y", [Line("a", range(len(y)), y, "ink")])))
    assert np.flatnonzero(line.marker.size).tolist() == [1, len(y) - 1]
    few, _ = traces(made(Chart("x", "y", [Line("a", range(3), [NAN, 1, NAN], "ink")])))
    assert few.mode == "lines+markers"


def test_a_line_is_known_again_by_its_chart_and_name_when_its_numbers_change():
    def known(*y: float) -> list[str]:
        drawn_lines = [Line("a", [1, 2], y, "ink"), Line("b", [1, 2], [1, 2], "ink")]
        return [trace.uid for trace in traces(made(Chart("x", "y", drawn_lines), Chart("x", "z", drawn_lines)))]

    assert known(1, 2) == known(3, 4)
    assert len(set(known(1, NAN))) == 6  # four lines and two with gaps


def test_what_a_reader_has_typed_is_no_tag():
    line = Line(TYPED, [1, 2], [1, NAN], "ink", "dots", TYPED)
    marked = {"marks": {TYPED: 1.0}, "ranges": {TYPED: (1.0, 2.0)}}
    header = made(Chart(TYPED, TYPED, [line, Line("b", [1], [1], "ink")], **marked))
    assert headings(header) == [TYPED]
    assert list(marks(header)) == list(ranges(header)) == [TYPED]
    nothing_typed_is_a_tag(header["figure"])


def test_of_nothing_there_is_an_empty_figure():
    header = made()
    assert traces(header) == []
    assert drawn(header).size == 0
    nothing = figure(made(Chart("x", "y", []))).layout
    assert (nothing.xaxis.range, nothing.yaxis.range) == ((-0.02, 1.02), (0, 1.06))


def test_a_line_whose_x_and_y_differ_in_number_is_refused():
    with pytest.raises(ValueError, match="expected a y for each x of 'a', got 2 x and 1 y"):
        made(Chart("x", "y", [Line("a", [1, 2], [3], "ink")]))


def test_a_colour_that_is_none_is_refused():
    with pytest.raises(ValueError, match="or 'head 1' to 'head 8', got 'pink'"):
        made(Chart("x", "y", [Line("a", [1], [3], "pink")]))


SCALES = st.sampled_from(["linear", "log2", "log10"])
NUMBERS = st.floats(-1e12, 1e12) | st.integers(-9, 9).map(float)
POINTS = st.lists(st.tuples(NUMBERS, NUMBERS | st.just(NAN)), max_size=50)
STYLES = st.sampled_from(["solid", "dashed", "thin", "dots"])
ANY_LINES = st.lists(st.tuples(POINTS, STYLES), max_size=4)


@given(given_lines=ANY_LINES, x_scale=SCALES, y_scale=SCALES, reach=st.lists(NUMBERS, max_size=2))
def test_every_line_is_drawn_as_given_and_every_value_lies_on_its_axis(given_lines, x_scale, y_scale, reach):
    points = {str(name): list(zip(*pairs, strict=True)) or [(), ()] for name, (pairs, _) in enumerate(given_lines)}
    shown = [Line(name, *points[name], "ink", style) for name, (_, style) in zip(points, given_lines, strict=True)]
    positive = [value for value in reach if y_scale == "linear" or value > 0]
    header = made(Chart("x", "y", shown, x_scale=x_scale, y_scale=y_scale, reach=reach))
    read, missing_of, layout = lines(header), gaps(header), figure(header).layout
    assert list(read) == list(points)
    for name, (x, y) in points.items():
        np.testing.assert_array_equal(read[name][0], x)
        np.testing.assert_array_equal(read[name][1], y)
        assert lies_on(layout.xaxis, x), name
        assert lies_on(layout.yaxis, y), name
        is_log = y_scale != "linear"
        missing = [at for at, value in zip(x, y, strict=True) if math.isnan(value) or (is_log and value <= 0)]
        assert missing_of.get(name, ([],))[0] == missing
    assert lies_on(layout.yaxis, positive)
    if x_scale == y_scale == "linear":
        LAWS["chart"](header, b"")


def lies_on(axis, values) -> bool:
    """Whether all of these that the axis can show are on it."""
    array = np.asarray(values, np.float64)
    array = array[np.isfinite(array)]
    if axis.type == "log":
        array = np.log10(array[array > 0])
    low, high = axis.range
    return low < high and bool(((array >= low) & (array <= high)).all())


def test_a_line_that_ends_early_has_no_name_beside_the_end_of_another():
    whole, short = Line("whole", list(range(48)), [1.0] * 48, "ink"), Line("short", [0, 1, 2], [1.0] * 3, "key")
    nearly = Line("nearly", list(range(46)), [2.0] * 46, "value")
    gap = Line("gap", list(range(48)), [1.0] * 3 + [float("nan")] * 45, "query")
    drawn = traces(made(Chart("x", "y", [whole, short, nearly, gap])))
    named = [trace.name for trace in drawn if trace.meta and trace.meta != "gap"]
    assert named == ["whole", "nearly"]
    assert {trace.name for trace in drawn if trace.showlegend} == {"whole", "short", "nearly", "gap"}
