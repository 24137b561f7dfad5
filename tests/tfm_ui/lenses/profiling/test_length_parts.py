"""The view "length": the time by part, and from which length on the products take more than the feed-forward."""

from dataclasses import replace

import pytest

from tests.tfm_ui.lenses.profiling.lengths import MODEL, STATE, comparison
from tests.tfm_ui.lenses.profiling.reports import PEAK
from tfm_core.profiling import PartTime
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength


def test_products_overtake_the_feed_forward_where_their_curves_cross():
    shares = PartsByLength(comparison())
    assert shares.predicted == MODEL.d_ff
    n = shares.overtaken  # products at a fifth of the peak, the feed-forward at half: 2.5 times earlier
    assert n == pytest.approx(MODEL.d_ff / 2.5, rel=0.02)
    assert shares.crossed("products", "softmax") < n
    assert f"Measured: at {round(n)}." in shares.sentence()
    assert shares.crossings == {"predicted": 300, "measured": n}
    assert shares.milliseconds["feed-forward"][0] == pytest.approx(2e3 * shares.flops["feed-forward"][0] / PEAK)


@pytest.mark.parametrize(
    ("factor", "how", "said"),
    [
        (1e6, {"without": [0]}, "Measured: already at 64 tokens."),
        (1e-6, {}, "Measured: not reached, beyond 1,024"),
        (1e-6, {"done": 3}, "Measured: not reached, beyond 128 tokens."),
    ],
)
def test_a_crossing_outside_of_the_measured_lengths_is_said(factor, how, said):
    compared = comparison(**how)
    rows = [
        replace(
            row, parts=tuple(replace(p, seconds=p.seconds * (factor if p.name == "products" else 1)) for p in row.parts)
        )
        for row in compared.rows
    ]
    assert said in PartsByLength(replace(compared, rows=rows)).sentence()


def test_operators_that_cannot_be_told_apart_are_said():
    compared = comparison()
    rows = [replace(row, parts=(PartTime("one_operator", 0.1),)) for row in compared.rows]
    assert "Only operators can be told apart" in PartsByLength(replace(compared, rows=rows)).sentence()
    fused = [
        replace(row, parts=tuple(p for p in row.parts if p.name != "softmax"), kernel="flash") for row in compared.rows
    ]
    assert "A fused kernel (flash) does the softmax too" in PartsByLength(replace(compared, rows=fused)).sentence()


def test_what_has_no_products_grows_as_its_length():
    state = replace(STATE, target="LSTM")
    compared = comparison(state=state)
    assert TimeByLength(compared).theory == pytest.approx(1)
    assert "no products of queries with keys" in TimeByLength(compared).sentence()
    assert "no products of queries with keys here to overtake" in PartsByLength(compared).sentence()
