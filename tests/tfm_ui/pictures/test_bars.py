"""Bars are shares of one whole."""

import numpy as np
import pytest

from tfm_ui.pictures.bars import content


def test_the_shares_of_one_whole_are_drawn_whatever_is_missing_or_rounded():
    shares = [0.5, float("nan"), 0.5 + 5e-6]
    header, numbers = content(["a", "b", "c"], shares, about="")
    assert header["names"] == ["a", "b", "c"]
    np.testing.assert_array_equal(numbers, np.float32(shares))


def test_shares_that_are_more_than_one_whole_are_refused():
    with pytest.raises(ValueError, match=r"expected shares of one whole, got a sum of 1\.25"):
        content(["a", "b"], [0.5, 0.75], about="")


def test_a_text_for_each_share_or_for_none():
    with pytest.raises(ValueError, match="expected a value for each of 2 shares, got 1"):
        content(["a", "b"], [0.5, 0.5], about="", values=["one"])
