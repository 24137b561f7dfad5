"""Pictures of strips: the content for the browser is complete."""

import numpy as np
import pytest

from tfm_ui.pictures.strips import Group, Strip, content

GROUPS = {"forward": Group("head 1"), "backward": Group("head 2", hollow=True)}


def strip(name: str, group: str, dots: list[float], rounds: list[int]) -> Strip:
    return Strip(name, "detail", group, dots, rounds, 1.0, 2.0, float("nan"), "2 ms", "all of it")


def test_each_strips_band_and_dots_follow_each_other():
    drawn = [
        strip("a", "forward", [1, 2, 4], [0, 1, 3]),
        strip("a", "backward", [], []),
        strip("b", "forward", [7], [2]),
    ]
    header, numbers = content(
        drawn, GROUPS, axis="ms", unit="ms", about="words", scale="log10", line=("one", 1.0), least=True
    )
    expected = [1, 2, np.nan, 1, 2, 4, 1, 2, np.nan, 1, 2, np.nan, 7]
    np.testing.assert_array_equal(numbers, np.array(expected, np.float32))
    assert [(s["name"], s["group"], s["rounds"]) for s in header["strips"]] == [
        ("a", 0, [0, 1, 3]), ("a", 1, []), ("b", 0, [2])
    ]  # fmt: skip
    assert header["groups"][1] == {"name": "backward", "colour": "head 2", "hollow": True}
    assert (header["line"], header["least"]) == ({"name": "one", "x": 1.0}, True)


def test_nothing_is_drawn_of_nothing():
    header, numbers = content([], {}, axis="", unit="", about="none")
    assert (header["strips"], header["line"], len(numbers)) == ([], None, 0)


def test_a_dot_without_a_round_is_refused():
    with pytest.raises(ValueError, match="expected a round for each dot of 'a', got 1"):
        content([strip("a", "forward", [1, 2], [0])], GROUPS, axis="", unit="", about="")
