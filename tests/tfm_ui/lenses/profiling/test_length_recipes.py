"""The scripts of the view "length" give what is shown."""

from dataclasses import replace

import pytest

from tests.tfm_ui.lenses.profiling.lengths import STATE, comparison
from tests.tfm_ui.lenses.profiling.reports import leaves
from tfm_ui.lenses.profiling.comparison import FORWARD
from tfm_ui.lenses.profiling.length.memory import ALLOCATED, SYSTEM, MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength


@pytest.mark.parametrize("kind", [TimeByLength, PartsByLength])
def test_the_script_gives_what_is_shown_of_what_needs_no_clock(kind):
    state = replace(STATE, longest=256, rounds=3, backward=False)
    shown = kind(comparison(state=state))
    scope = leaves(shown.recipe())
    if kind is TimeByLength:
        assert scope["flops"] == shown.flops
        assert scope["theory"] == shown.theory
        assert scope["fit"] == shown.fits[FORWARD]
        assert [1e3 * median for median in scope["medians"]] == shown.milliseconds(FORWARD)
    else:
        assert [flops["products"] for flops in scope["flops"]] == shown.flops["products"]
        assert [1e3 * parts["softmax"] for parts in scope["parts"]] == shown.milliseconds["softmax"]
        assert scope["crossing"] == pytest.approx(shown.overtaken)


def test_the_script_of_the_memory_gives_the_prediction():
    peaks = MemoryByLength(comparison(state=replace(STATE, longest=256, rounds=3, backward=False)))
    scope = leaves(peaks.recipe())
    assert scope["predicted"] == peaks.predicted(FORWARD)
    assert peaks.measured(FORWARD) == {ALLOCATED: scope["allocated"], SYSTEM: scope["system"]}
