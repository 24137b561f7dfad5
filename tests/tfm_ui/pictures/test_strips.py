"""Charts of strips: each measurement is a dot, each band and middle stands where it was measured."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.pictures.charts import dots, drawn, ends, figure, names, traces
from tests.tfm_ui.pictures.figure_checks import TYPED, nothing_typed_is_a_tag
from tests.tfm_ui.pictures.scale_laws import LAWS
from tfm_ui.pictures.strips import Group, Strip, content

GROUPS = {"forward": Group("head 1"), "backward": Group("head 2", hollow=True)}


def strip(name: str, group: str, dots: list[float], rounds: list[int], *, high: float = 3.0, detail: str = "") -> Strip:
    return Strip(name, detail, group, dots, rounds, 1.0, 2.0, high, f"{len(dots)} ms", f"all of {name}\nand more")


def made(strips, groups=GROUPS, **more) -> dict:
    """The header, as a function makes it."""
    return content(strips, groups, **{"axis": "time, ms", "unit": "ms", "about": "words"} | more)[0]


DRAWN = [
    strip("a", "forward", [1, 2, 4.1], [0, 1, 3]),
    strip("a", "backward", [], []),
    strip("b", "forward", [7], [2]),
]


def test_every_dot_stands_in_its_strip_at_its_measurement_in_float64():
    header = made(DRAWN)
    assert dots(header)["forward"].tolist() == [1, 2, 4.1, 7]
    assert dots(header)["forward"].dtype == np.float64
    assert dots(header)["backward"].size == 0
    (forward,) = [trace for trace in traces(header) if trace.type == "scatter" and trace.name == "forward"]
    rows = dict(zip("ab", figure(header).layout.yaxis.tickvals, strict=True))
    assert rows["a"] == 0.5  # between its two strips
    assert (np.abs(forward.y[:3]) < 0.5).all()
    assert abs(forward.y[3] - rows["b"]) < 0.5
    assert list(forward.customdata) == [
        "a, forward, round 1", "a, forward, round 2", "a, forward, round 4", "b, forward, round 3"
    ]  # fmt: skip
    assert "ms" in forward.hovertemplate


def test_names_and_ends_stand_at_their_strips():
    header = made([*DRAWN, strip("b", "backward", [5], [0], detail="the other")])
    assert names(header) == ["a", "b", "b<br>the other"]
    assert ends(header) == ["3 ms", "0 ms", "1 ms", "1 ms"]
    heights = [text.y for text in figure(header).layout.annotations if text.name == "end"]
    assert heights == sorted(heights)
    assert len(set(heights)) == 4
    assert figure(header).layout.meta["firsts"] == [0, heights[2], heights[3]]


def test_a_band_goes_from_its_low_to_its_high_end_and_says_what_the_strip_says():
    header = made([*DRAWN, replace(strip("c", "forward", [5], [0]), low=math.nan, high=math.nan)])
    forward, backward = [trace for trace in traces(header) if trace.type == "bar"]
    assert (forward.name, backward.name) == ("forward", "backward")
    np.testing.assert_array_equal(forward.base, [1, 1, 2])  # without a band, the middle
    np.testing.assert_array_equal(forward.x, [2, 2, 0])
    np.testing.assert_array_equal(backward.base, [1])
    assert forward.customdata[0] == "all of a<br>and more"
    none = Strip("d", "", "forward", [1], [0], math.nan, math.nan, math.nan, "", "")
    assert not len(traces(made([none]))[0].base)


def test_middles_and_the_least_dots_are_marked():
    middles, least = traces(made(DRAWN, least=True))[-2:]
    assert middles.x.tolist() == [2, 2, 2]
    assert least.x.tolist() == [1, 7]
    assert middles.hoverinfo == least.hoverinfo == "skip"
    assert len(traces(made(DRAWN, least=True))) == len(traces(made(DRAWN))) + 1


def test_groups_differ_not_only_by_colour_and_one_alone_needs_no_name():
    header = made(DRAWN)
    symbols = {trace.name: trace.marker.symbol for trace in traces(header) if trace.type == "scatter" and trace.name}
    assert symbols == {"forward": "circle", "backward": "circle-open"}
    assert [trace.name for trace in traces(header) if trace.name and trace.showlegend is not False] == [*GROUPS]
    assert figure(header).layout.showlegend
    alone = made(DRAWN[::2], {"forward": Group("head 1")})
    assert not figure(alone).layout.showlegend
    assert traces(alone)[1].customdata[0] == "a, round 1"


@pytest.mark.parametrize(("scale", "text_at"), [("linear", 100), ("log10", 2)])
def test_a_line_stands_on_the_axis_with_its_name_above(scale, text_at):
    layout = figure(made(DRAWN, scale=scale, line=("one", 100.0))).layout
    (line,) = layout.shapes
    (text,) = [text for text in layout.annotations if text.name == "line"]
    assert (line.x0, line.x1) == (100, 100)
    assert (text.text, text.x) == ("one", text_at)  # Plotly wants the power of ten for texts
    low, high = layout.xaxis.range
    assert low < text_at < high
    assert layout.xaxis.type == ("log" if scale == "log10" else "linear")
    assert layout.xaxis.title.text == "time, ms"


def test_what_a_reader_has_typed_is_no_tag():
    odd = Strip(TYPED, TYPED, TYPED, [1], [0], 1, 1, 1, TYPED, TYPED)
    header = made([odd], {TYPED: Group("ink"), "other": Group("muted")}, axis=TYPED, line=(TYPED, 1.0))
    nothing_typed_is_a_tag(header["figure"])


def test_nothing_is_drawn_of_nothing():
    header = made([], {})
    assert drawn(header).size == 0
    assert names(header) == ends(header) == []
    assert len(figure(header).layout.shapes) == 0


def test_a_dot_without_a_round_is_refused():
    with pytest.raises(ValueError, match="expected a round for each dot of 'a', got 1"):
        made([strip("a", "forward", [1, 2], [0])])


TIMES = st.lists(st.floats(1e-9, 1e9), max_size=8)


@given(times=st.lists(TIMES, min_size=1, max_size=6), scale=st.sampled_from(["linear", "log10"]), data=st.data())
def test_all_that_was_measured_lies_on_the_axis_whatever_it_is(times, scale, data):
    groups = data.draw(st.lists(st.sampled_from([*GROUPS]), min_size=len(times), max_size=len(times)))
    strips = []
    for number, (seconds, group) in enumerate(zip(times, groups, strict=True)):
        low, middle, high = np.percentile(seconds, [25, 50, 75]) if seconds else [math.nan] * 3
        strips.append(Strip(f"{number // 2}", "", group, seconds, range(len(seconds)), low, middle, high, "", ""))
    header = made(strips, scale=scale, least=True)
    LAWS["chart"](header, b"")
    for name in GROUPS:
        asked = [dot for strip in strips if strip.group == name for dot in strip.dots]
        assert dots(header)[name].tolist() == asked
