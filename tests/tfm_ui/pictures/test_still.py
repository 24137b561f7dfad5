"""The PNG that the server draws of a figure shows its numbers, colours and places; what stands in the cells of maps."""

from dataclasses import replace
from io import BytesIO
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from tfm_core.clinic import read
from tfm_ui.live.windows import WHOLE, part_of
from tfm_ui.pictures import heatmaps, read_mask, still
from tfm_ui.pictures.figures import MUTED, PREVIEW_HEIGHT, PREVIEW_WIDTH
from tfm_ui.pictures.heatmaps import Heat, Side
from tfm_ui.pictures.map_scale import SHARES, Scale, around_zero
from tfm_ui.pictures.maps_figure import maps_figure

RED, BLUE, GREEN = "#FF0000", "#0000FF", "#00FF00"
FEW_EXAMPLES = settings(max_examples=max(2, settings().max_examples // 5))  # a picture takes a tenth of a second
HOSTILE = "$x_{$ \\frac <b>cat</b> 你好 😀 % & \x00"


def pixels(figure: go.Figure | None, title: str = "T", sentence: str = "S.") -> np.ndarray:
    """Height x width x 3."""
    with Image.open(BytesIO(still.png(figure, title=title, sentence=sentence, foot=HOSTILE))) as image:
        return np.asarray(image.convert("RGB"))


def inside(picture: np.ndarray, colour: str) -> tuple[int, int, int, int]:
    """The first and last row and column of exactly this colour."""
    rows, columns = np.nonzero((picture == [int(colour[at : at + 2], 16) for at in (1, 3, 5)]).all(axis=2))
    return rows.min(), rows.max(), columns.min(), columns.max()


def heatmap(cells: np.ndarray) -> go.Figure:
    names = [str(number) for number in range(max(cells.shape))]
    trace = {"z": cells, "x": names[: cells.shape[1]], "y": names[: cells.shape[0]], "zmin": -1, "zmax": 1}
    scale = [[0, RED], [1, BLUE]]
    return go.Figure(
        go.Heatmap(**trace, colorscale=scale),
        {"plot_bgcolor": GREEN, "yaxis": {"autorange": "reversed", "type": "category", "scaleanchor": "x"}},
    )


@FEW_EXAMPLES
@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_a_cell_has_its_place_and_its_colour_and_an_empty_one_that_of_the_ground(height, width, data):
    row, column = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    cells = np.full((height, width), -1.0)
    cells[row, column] = 1
    all_red = inside(pixels(heatmap(np.full((height, width), -1.0))), RED)
    for value, colour in ((1, BLUE), (np.nan, GREEN)):
        cells[row, column] = value
        top, bottom, left, right = inside(pixels(heatmap(cells)), colour)
        middle = (top + bottom) / 2 - all_red[0], (left + right) / 2 - all_red[2]
        size = (all_red[1] - all_red[0] + 1) / height
        np.testing.assert_allclose(np.array(middle) / size, (row + 0.5, column + 0.5), atol=0.1)


@FEW_EXAMPLES
@given(st.lists(st.integers(1, 100), min_size=1, max_size=6), st.data())
def test_a_bar_is_as_long_as_its_number(lengths, data):
    which = data.draw(st.integers(0, len(lengths) - 1))
    colours = [BLUE if number == which else MUTED for number in range(len(lengths))]
    trace = go.Bar(x=lengths, y=list(range(len(lengths))), orientation="h", width=0.6, marker={"color": colours})
    axes = {"xaxis": {"range": [0, 100], "showgrid": False}, "yaxis": {"range": [len(lengths) - 0.5, -0.5]}}
    whole = inside(pixels(go.Figure(go.Bar(trace, x=[100] * len(lengths)), axes)), BLUE)
    _, _, left, right = inside(pixels(go.Figure(trace, axes)), BLUE)
    assert left == whole[2]
    np.testing.assert_allclose((right - left) / (whole[3] - whole[2]), lengths[which] / 100, atol=0.004)


def test_a_line_goes_through_its_points_on_a_logarithmic_axis():
    axes = {"xaxis": {"type": "log", "range": [0, 4]}, "yaxis": {"range": [0, 2]}}
    frame = go.Scatter(x=[1, 10_000], y=[0, 2], mode="markers", marker={"color": RED, "size": 7})
    drawn = pixels(
        go.Figure([frame, go.Scatter(x=[100], y=[1], mode="markers", marker={"color": BLUE, "size": 7})], axes)
    )
    top, bottom, left, right = inside(drawn, RED)
    np.testing.assert_allclose(np.mean(inside(drawn, BLUE)[:2]), (top + bottom) / 2, atol=2)
    np.testing.assert_allclose(np.mean(inside(drawn, BLUE)[2:]), (left + right) / 2, atol=2)


@FEW_EXAMPLES
@given(st.text(max_size=60))
def test_any_text_is_only_text(text):
    for said in (text, HOSTILE):
        note = {"text": said, "x": 0, "y": 0, "xref": "x", "yref": "y", "showarrow": False}
        axes = {"annotations": [note], "xaxis": {"title": {"text": said}}, "showlegend": True}
        figure = go.Figure([go.Scatter(x=[0], y=[1], name=said, mode="markers")], axes)
        picture = pixels(figure, title=said, sentence=said)
        assert picture.shape == (PREVIEW_HEIGHT, PREVIEW_WIDTH, 3)


def test_without_a_figure_there_are_words_alone():
    assert pixels(None).shape == (PREVIEW_HEIGHT, PREVIEW_WIDTH, 3)
    assert not still.has_numbers(go.Figure(go.Heatmap(z=[[np.nan]], x=["1"], y=["1"])))
    assert not still.has_numbers(go.Figure())
    assert still.has_numbers(go.Figure(go.Bar(x=[1.0], y=[0])))


@pytest.fixture
def axes():
    return Figure((4, 4), dpi=100).add_subplot()


def name_columns(axes: Axes, names: list[str]) -> None:
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_xticks(range(len(names)), names)
    axes.get_tightbbox()  # places the names


def overlap(axes: Axes) -> bool:
    boxes = [name.get_window_extent() for name in axes.get_xticklabels()]
    return any(left.x1 > right.x0 for left, right in pairwise(boxes))


def test_names_that_lie_over_each_other_stand_upright_and_others_do_not(axes):
    name_columns(axes, ["cat", "sat", "mat"])
    still.turn_names(axes)
    assert {name.get_rotation() for name in axes.get_xticklabels()} == {0}
    name_columns(axes, ["understanding", "representation", "transformer"])
    assert overlap(axes)
    still.turn_names(axes)
    axes.get_tightbbox()
    assert {name.get_rotation() for name in axes.get_xticklabels()} == {90}
    assert not overlap(axes)


def test_names_are_left_out_evenly_where_there_is_no_room(axes):
    name_columns(axes, names := [f"token {number}" for number in range(60)])
    still.turn_names(axes)
    axes.get_tightbbox()
    still.leave_out_names(axes)
    axes.get_tightbbox()
    kept = [name.get_text() for name in axes.get_xticklabels()]
    every = len(names) // len(kept)
    assert every > 1
    assert kept == names[::every]
    assert not overlap(axes)


def in_cells(scale: Scale) -> list[str]:
    side = Side(labels=["1", "2"], title="query", noun="query", role="query")
    values = np.array([[0.0049, 0.006], [0, 0.998]], np.float32)
    heat = Heat(name="", values=values, rows=side, columns=side, scale=scale, unit="weight")
    return list(np.ravel(heatmaps.figure([heat], told="").data[0].text))


def test_a_weight_that_would_be_written_as_nearly_0_has_no_number_and_other_numbers_have_one():
    assert in_cells(SHARES) == ["", "0.01", "0.00", ">0.99"]
    assert in_cells(around_zero(1.0)) == ["<0.01", "0.01", "0.00", ">0.99"]


def test_names_that_are_their_numbers_are_printed_once():
    assert heatmaps.numbered(["the", "cat"]) == ["1 the", "2 cat"]
    assert heatmaps.numbered(["1", "2"]) == ["1", "2"]
    assert heatmaps.numbered(["1", "2"], 0) == ["0: 1", "1: 2"]


def test_rows_of_a_mask_are_counted_once_and_from_1_as_its_findings_count_them():
    causal = read("torch.ones(3, 3).tril().bool()")
    for labels, expected in (((), ["1", "2", "3"]), (("it", "PAD", "PAD"), ["1 it", "2 PAD", "3 PAD"])):
        header, numbers = read_mask.content(replace(causal, labels=labels), 0, part_of(WHOLE, 3, 3), zooms="part")
        assert list(maps_figure(header, numbers).data[0].y) == expected
