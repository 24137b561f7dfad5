"""Figures hold the numbers they were given, and colours that can be read."""

import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tfm_ui.figures import look
from tfm_ui.figures.bars import bars
from tfm_ui.figures.head_map import head_map

MODES = ["light", "dark"]
CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit/config.toml").read_text())


def weights_and_mask(size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    visible = np.tri(size, dtype=bool)
    scores = np.where(visible, np.random.default_rng(0).normal(size=(size, size)), -np.inf)
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    return weights.astype(np.float32), visible


def names(size: int) -> list[str]:
    return [f"t{i}" for i in range(size)]


@pytest.mark.parametrize("size", [1, 4, 12, 13, 64])
@pytest.mark.parametrize("mode", MODES)
def test_the_heatmaps_first_trace_is_the_weights_as_floats(size, mode):
    weights, visible = weights_and_mask(size)
    figure = head_map(weights, visible, names(size), names(size), top=1.0, mode=mode)
    assert figure.data[0].type == "heatmap"
    assert figure.data[0].z.dtype == np.float32
    np.testing.assert_array_equal(figure.data[0].z, weights)


def test_masked_cells_are_covered_in_a_colour_that_is_not_of_the_scale():
    weights, visible = weights_and_mask()
    cover = head_map(weights, visible, names(4), names(4), top=1.0).data[1]
    np.testing.assert_array_equal(np.isnan(cover.z), visible)
    assert cover.colorscale[0][1] == look.MASKED["light"]
    assert look.MASKED["light"] not in look.WEIGHTS["light"]


def test_the_scale_ends_at_the_given_weight_and_says_so():
    weights, visible = weights_and_mask()
    trace = head_map(weights, visible, names(4), names(4), top=0.75).data[0]
    assert (trace.zmin, trace.zmax) == (0, 0.75)
    assert trace.colorbar.ticktext[-1] == "0.75"


def test_each_visible_cell_prints_its_number_once_in_ink_that_reads_on_it():
    weights, visible = weights_and_mask()
    dark, light = head_map(weights, visible, names(4), names(4), top=1.0).data[2:]
    printed = (~np.isnan(dark.z)).astype(int) + ~np.isnan(light.z)
    np.testing.assert_array_equal(printed, visible.astype(int))
    assert (dark.textfont.color, light.textfont.color) == ("#000000", "#FFFFFF")


@pytest.mark.parametrize(("size", "compact"), [(13, False), (4, True)])
def test_where_there_is_no_room_no_numbers_are_printed(size, compact):
    weights, visible = weights_and_mask(size)
    assert len(head_map(weights, visible, names(size), names(size), top=1.0, compact=compact).data) == 2


def test_rows_of_padding_are_veiled_and_print_no_numbers():
    weights, visible = weights_and_mask()
    figure = head_map(weights, visible, names(4), names(4), top=1.0, read_queries=3)
    veil = figure.layout.shapes[-1]
    assert (veil.type, veil.y0, veil.y1) == ("rect", 2.5, 3.5)
    assert all(np.isnan(trace.z[3]).all() for trace in figure.data[2:])
    assert not all(np.isnan(trace.z[2]).all() for trace in figure.data[2:])


def test_a_wide_map_is_lower_than_a_square_one():
    weights, visible = weights_and_mask(10)
    square, wide = (head_map(weights[:n], visible[:n], names(n), names(10), top=1.0).layout.height for n in (10, 4))
    assert wide < square - 150


def test_long_texts_name_some_tokens_only():
    weights, visible = weights_and_mask(100)
    assert len(head_map(weights, visible, names(100), names(100), top=1.0).layout.xaxis.ticktext) == 25


def test_user_text_is_escaped():
    weights, visible = weights_and_mask(1)
    figure = head_map(weights, visible, ["<b>"], ["<i>"], top=1.0)
    assert figure.layout.xaxis.ticktext == ("&lt;i&gt;",)
    assert (tuple(figure.data[0].x), tuple(figure.data[0].y)) == (("key 1 “&lt;i&gt;”",), ("query 1 “&lt;b&gt;”",))
    assert bars(["<b>"], [0.5], reference=0.1).data[0].y == ("&lt;b&gt; ",)


@pytest.mark.parametrize("mode", MODES)
def test_black_or_white_reads_on_every_step_of_the_scale(mode):
    for colour in look.WEIGHTS[mode]:
        ink = 1.0 if look.wants_white_ink(colour) else 0.0
        high, low = max(ink, look.luminance(colour)), min(ink, look.luminance(colour))
        assert (high + 0.05) / (low + 0.05) >= 4.5


@pytest.mark.parametrize("mode", MODES)
def test_more_weight_is_ever_further_from_the_paper(mode):
    distances = [abs(look.luminance(colour) - look.luminance(look.PAPER[mode])) for colour in look.WEIGHTS[mode]]
    assert all(near < far for near, far in pairwise(distances))


@pytest.mark.parametrize("mode", MODES)
def test_the_theme_and_the_figures_share_their_colours(mode):
    theme = CONFIG["theme"][mode]
    assert theme["backgroundColor"] == look.PAPER[mode]
    assert theme["textColor"] == look.INK[mode]
    assert theme["borderColor"] == look.RULE[mode]


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (look.weight(0.996), "1.00"),
        (look.weight(1.0), "1"),
        (look.plural(1, "head"), "1 head"),
        (look.plural(2, "head"), "2 heads"),
        (look.count(56480), "56\u202f480"),
        (look.tiny(2.4e-7), "2×10⁻⁷"),
        (look.tiny(0), "0"),
        (look.duration(0.94), "0.9 ms"),
        (look.duration(1234), "1.2 s"),
    ],
)
def test_numbers_are_written_for_reading(shown, expected):
    assert shown == expected
