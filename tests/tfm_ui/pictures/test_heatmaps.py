"""What stands in the cells of maps in files, as in the browser's (tests/scripts/numbers.test.js)."""

import numpy as np

from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.heatmaps import Heat, Side
from tfm_ui.pictures.map_scale import SHARES, Scale, around_zero


def in_cells(scale: Scale) -> list[str]:
    side = Side(labels=["1", "2"], title="query", noun="query", role="query")
    values = np.array([[0.0049, 0.006], [0, 0.998]], np.float32)
    heat = Heat(name="", values=values, rows=side, columns=side, scale=scale, unit="weight")
    return list(np.ravel(heatmaps.figure([heat], told="").data[0].text))


def test_a_weight_that_would_be_written_as_nearly_0_has_no_number_and_other_numbers_have_one():
    assert in_cells(SHARES) == ["", "0.01", "0.00", ">0.99"]
    assert in_cells(around_zero(1.0)) == ["<0.01", "0.01", "0.00", ">0.99"]
