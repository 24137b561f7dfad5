"""The Positions lens's view "see" without a browser: each scheme as A and as B, in sizes that are odd."""

import numpy as np
import pytest

from tests.pages.test_app import picture, start, text_on, widget
from tests.tfm_ui.pictures.charts import figure, headings, lines
from tfm_core import POSITIONAL

POSITIONS = "positions"
SIZES = {
    "odd": {"positions_width": "33", "positions_heads": "3"},
    "least": {"positions_width": "1", "positions_heads": "1", "positions_length": "2", "positions_max_len": "2"},
    "most": {"positions_width": "512", "positions_heads": "32", "positions_length": "4096"},
}


@pytest.mark.crossed(name=POSITIONAL, sizes=SIZES, side=["A", "B"])
def test_each_scheme_is_seen_as_a_and_as_b(name, sizes, side):
    a, b = (name, "nothing") if side == "A" else ("none", name)
    app = start(POSITIONS, positions_a=a, positions_b=b, **SIZES[sizes])
    side = "A" if a == name else "B"  # two that are the same are one
    assert f"{side}: {name}" in text_on(app)
    if name in ("sinusoidal", "learned"):
        header, _ = picture(app, f"positions_encode_{side.lower()}")
        assert header["rows"]["names"][0] == "0"
    if name in ("alibi", "t5"):
        header, _ = picture(app, f"positions_bias_{side.lower()}")
        assert len(header["maps"]) == int(SIZES[sizes]["positions_heads"])


@pytest.mark.parametrize("architecture", ["decoder", "encoder-decoder"])
def test_in_a_decoder_keys_ahead_share_a_bucket(architecture):
    app = start(POSITIONS, positions_a="t5", architecture=architecture)
    shared = "distances 0 to 63 share bucket 0" if architecture == "decoder" else "distances −63 to −46 share bucket 13"
    assert shared in text_on(app)


def test_waves_beside_waves_are_drawn_once_below_both():
    app = start(POSITIONS, positions_a="sinusoidal", positions_b="learned")
    header, _ = picture(app, "positions_curves")
    assert headings(header) == ["A: sinusoidal", "B: learned"]
    layout = figure(header).layout
    assert layout.yaxis.range == layout.yaxis2.range
    assert "B: learned is not made of waves" in text_on(app)
    assert "48 on, 16 positions are not defined" in text_on(app)


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
