"""The Positions lens's view "see" without a browser."""

import numpy as np

from tests.pages.test_app import picture, start, text_on, widget
from tests.tfm_ui.pictures.charts import lines

POSITIONS = "positions"
SIZES = {
    "odd": {"positions_width": "33", "positions_heads": "3"},
    "least": {"positions_width": "1", "positions_heads": "1", "positions_length": "2", "positions_max_len": "2"},
    "most": {"positions_width": "512", "positions_heads": "32", "positions_length": "4096"},
}


def test_the_box_of_dimensions_and_the_link_are_the_same():
    app = start(POSITIONS, positions_dims="3 5")
    (box,) = app.text_input
    assert box.value == "3 5"
    box.set_value("7 7 9 frog").run()
    assert app.query_params["positions_dims"] == "7 9"
    header, _ = picture(app, "positions_curves_a")
    assert list(lines(header)) == ["7", "9"]
    assert not app.exception


def test_more_dimensions_than_colours_are_not_drawn():
    app = start(POSITIONS, positions_dims=" ".join(map(str, range(12))))
    header, _ = picture(app, "positions_curves_a")
    assert len(lines(header)) == 8


def test_a_wider_encoding_is_another_picture():
    app = start(POSITIONS)
    before = picture(app, "positions_encode_a")[1]
    widget(app, "positions_width").set_value(65).run()
    header, numbers = picture(app, "positions_encode_a")
    assert np.frombuffer(numbers, np.float32).size == 64 * 65
    assert numbers != before
    assert "64 × 65" in text_on(app)
    assert header["part"]["width"] == 65
