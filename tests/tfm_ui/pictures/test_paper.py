"""Pictures on paper are read in grey: signs, masks, lines and bars are told apart by more than colour."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tfm_ui.pictures import heatmaps, paper, paper_table
from tfm_ui.pictures.figures import TEMPLATE
from tfm_ui.pictures.heatmaps import Heat, Side
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.paper import OnPaper
from tfm_ui.pictures.paper_drawing import PaperDrawing
from tfm_ui.pictures.paper_keys import luminance
from tfm_ui.text import colours


def heat(values, scale, **more) -> Heat:
    rows, columns = values.shape
    sides = {
        "rows": Side(labels=[str(i) for i in range(rows)], title="row", noun="row"),
        "columns": Side(labels=[str(i) for i in range(columns)], title="column", noun="column"),
    }
    return Heat(name="map", values=values.astype(np.float32), scale=scale, **sides, **more)


def drawn(figure: go.Figure, header=None) -> tuple[PaperDrawing, np.ndarray]:
    """A figure on paper, and how light it is in grey, from 0 to 255."""
    with paper.matplotlib.rc_context(paper.SETTINGS):
        whole = Figure((6.7, 4), dpi=100, facecolor="white")
        drawing = PaperDrawing(whole, figure.to_plotly_json(), header or {})
        drawing.fit(paper.Bbox([[4, 4], [660, 390]]))
        drawing.finish()
        canvas = FigureCanvasAgg(whole)
        canvas.draw()
    return drawing, np.asarray(canvas.buffer_rgba())[..., :3] @ [0.299, 0.587, 0.114]


def inside(drawing: PaperDrawing, grey: np.ndarray, row: int, column: int) -> np.ndarray:
    """The pixels of a cell, without its edges."""
    axes = drawing.maps[0].axes
    (left, low), (right, high) = axes.transData.transform([(column - 0.35, row + 0.35), (column + 0.35, row - 0.35)])
    tall = len(grey)
    return grey[round(tall - high) : round(tall - low), round(left) : round(right)]


def test_a_negative_cell_differs_from_a_positive_one_in_grey():
    values = np.full((14, 14), 0.8)
    values[3, 4], values[5, 6] = -0.8, np.nan
    drawing, grey = drawn(heatmaps.figure([heat(values, around_zero(1))]))
    positive, negative, masked = (inside(drawing, grey, *at) for at in ((9, 9), (3, 4), (5, 6)))
    assert positive.std() < 1
    assert negative.std() > 15
    assert masked.std() > 5
    assert masked.mean() > negative.mean() + 40
    assert {key.kind for key in [*drawing.keys()]} == {"scale", "negative", "masked", "words"}


def test_numbers_are_printed_with_their_sign_where_they_have_room():
    values = np.array([[0.5, -0.25], [1, -1]])
    drawing, _ = drawn(heatmaps.figure([heat(values, around_zero(1))]))
    printed = {text.get_text() for text in drawing.maps[0].axes.texts}
    assert {"0.50", "−0.25", "−1.00"} <= printed
    assert all(text.get_fontsize() >= 8 for text in drawing.maps[0].axes.texts)


def test_more_weight_is_darker_and_no_two_of_nine_shades_are_the_same_in_grey():
    shades = [luminance(shade) for shade in colours.WEIGHTS["light"]][::2]
    assert (np.diff(shades) < -0.03).all()
    assert shades[0] > 0.93
    assert shades[-1] < 0.2


def test_the_ring_is_black_and_thick():
    values = np.zeros((14, 14))
    drawing, grey = drawn(heatmaps.figure([heat(values, from_zero(1))]), {"picked": (3, 4)})
    axes = drawing.maps[0].axes
    edge, middle = axes.transData.transform([(3.5, 3), (9, 9)])
    column = grey[:, round(edge[0]) - 1 : round(edge[0]) + 2][len(grey) - round(edge[1])]
    assert column.min() < 60
    assert grey[len(grey) - round(middle[1]), round(middle[0])] > 220
    assert "ring" in {key.kind for key in [*drawing.keys()]}


def test_lines_have_dashes_and_markers_of_their_own_and_bars_have_hatches():
    x = np.arange(30.0)
    traces = [
        {"type": "scatter", "mode": "lines", "x": x, "y": x * i, "name": f"head {i}", "line": {"color": colour}}
        for i, colour in enumerate(colours.HEADS["light"][:6])
    ]
    drawing, _ = drawn(go.Figure(data=traces, layout={"template": TEMPLATE}))
    (axes,) = drawing.axes.values()
    looks = {(str(line._dash_pattern), line.get_marker()) for line in axes.lines}
    assert len(looks) == 6
    bars = [
        {"type": "bar", "x": [i], "y": [i + 1], "name": str(i), "marker": {"color": colour}}
        for i, colour in enumerate(colours.HEADS["light"][:3])
    ]
    drawing, _ = drawn(go.Figure(data=bars, layout={"template": TEMPLATE}))
    (axes,) = drawing.axes.values()
    assert len({patch.get_hatch() for patch in axes.patches}) == 3


def test_equal_pictures_are_equal_bytes_as_wide_as_asked():
    values = np.random.default_rng(0).normal(size=(20, 30))
    figure = heatmaps.figure([heat(values, around_zero(3))])
    for width in (paper.WIDE, paper.SMALL):
        first, again = (paper.svg([OnPaper("title", figure)], width) for _ in range(2))
        assert first == again
        assert f'width="{width / 25.4 * 72:.2f}'.encode()[:10] in first


def test_a_table_says_what_it_leaves_out():
    table = paper_table.Table([f"column {i}" for i in range(30)], [[f"number {i}" for i in range(30)]])
    assert not paper_table.have_room([table], paper.WIDE)
    assert paper_table.have_room([paper_table.Table(["a", "b"], [["1", "2"]])], paper.WIDE)
    assert paper_table.svg("Numbers", [table], paper.WIDE).startswith(b"<?xml")


@pytest.mark.parametrize("text", ["猫 $x_{$ <b>%{z}", "x" * 500])
def test_any_text_has_a_picture(text):
    values = np.eye(3)
    svg = paper.svg([OnPaper(text, heatmaps.figure([heat(values, from_zero(1), unit=text[:40])]))]).decode()
    assert "<b>" not in re.sub(r"<!--.*?-->", "", svg)


@pytest.mark.parametrize(("width", "shapes"), [(paper.WIDE, [(12, 12)]), (paper.SMALL, [(3, 2), (2, 3), (3, 3)])])
def test_cells_of_small_maps_have_room_for_their_numbers(width, shapes, monkeypatch):
    drawings = []
    finish = PaperDrawing.finish
    monkeypatch.setattr(PaperDrawing, "finish", lambda drawing: (finish(drawing), drawings.append(drawing)))
    maps = [heat(-np.random.default_rng(0).random(shape) - 0.1, around_zero(2)) for shape in shapes]
    svg = paper.svg([OnPaper("title", heatmaps.figure(maps))], width).decode()
    (drawing,) = drawings
    for drawn_map, shape in zip(drawing.maps, shapes, strict=True):
        box = drawn_map.axes.get_window_extent()
        numbers = [text for text in drawn_map.axes.texts if text.get_transform() is drawn_map.axes.transData]
        assert len(numbers) == shape[0] * shape[1]
        assert all(text.get_window_extent().width < box.width / shape[1] for text in numbers)
        assert all(text.get_fontsize() >= 6.5 for text in numbers)
        assert {text.get_text()[0] for text in numbers} == {"−"}
    boxes = [drawn_map.axes.get_window_extent() for drawn_map in drawing.maps]
    assert not any(box.overlaps(other) for at, box in enumerate(boxes) for other in boxes[:at])
    assert f'width="{width / 25.4 * 72:.2f}'[:10] in svg


def test_maps_that_are_too_many_for_numbers_say_so():
    maps = [heat(np.random.default_rng(0).random((12, 12)), from_zero(1)) for _ in range(9)]
    drawing, _ = drawn(heatmaps.figure(maps))
    assert not drawing.arrange(660, 500)
    assert "words" in {key.kind for key in [*drawing.keys()]}


def test_names_of_ticks_do_not_touch_and_titles_are_not_longer_than_their_axis():
    x = np.array([1.0, 2, 5, 10, 20, 50, 100, 200])
    traces = [
        {"type": "scatter", "mode": "lines", "x": x, "y": x, "name": str(at), "xaxis": f"x{at}", "yaxis": f"y{at}"}
        for at in (1, 2, 3)
    ]
    layout = {"template": TEMPLATE}
    for at in (1, 2, 3):
        domain = [(at - 1) / 3 + 0.05, at / 3]
        layout[f"xaxis{at}"] = {
            "type": "log",
            "domain": domain,
            "tickvals": x.tolist(),
            "ticktext": [f"{n:g}" for n in x],
        }
        layout[f"yaxis{at}"] = {"title": {"text": "a long title of an axis that says much of it, in nats, per token"}}
    drawing, _ = drawn(go.Figure(data=traces, layout=layout))
    for axes in drawing.axes.values():
        boxes = [name.get_window_extent() for name in axes.get_xticklabels() if name.get_text()]
        assert len(boxes) > 1
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
        assert axes.yaxis.label.get_window_extent().height < 1.25 * axes.get_window_extent().height


def test_a_table_names_its_rows():
    frame = pd.DataFrame({"weight": [0.25, 0.75]}, index=pd.Index(["she", "saw"], name="token"))
    table = paper_table.of_frame(frame)
    assert (table.names, table.rows) == (["token", "weight"], [["she", "0.25"], ["saw", "0.75"]])


def test_bars_without_words_tell_their_lengths():
    bars = {"type": "bar", "orientation": "h", "x": [0.25, 0.97], "y": [0, 1]}
    drawing, _ = drawn(go.Figure(data=[bars], layout={"template": TEMPLATE, "xaxis": {"range": [0, 1]}}))
    (axes,) = drawing.axes.values()
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.97"]
