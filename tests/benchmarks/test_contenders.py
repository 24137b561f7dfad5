"""The encoders of the core benchmark do the same work. How fast they are is not tested."""

import pytest
import torch

from benchmarks.contenders import check_agreement, encoders
from benchmarks.measure import interleaved, ratio, verdict


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")
def test_all_encoders_agree():
    check_agreement(encoders(16, 2, 2), torch.randn(3, 5, 16))


def test_every_contender_has_its_turns_and_the_untimed_ones():
    calls = []
    seconds = interleaved({name: lambda name=name: calls.append(name) for name in "ab"}, rounds=3, repeats=2, settle=1)
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}
    assert calls.count("a") == calls.count("b") == 4 * 3


def test_ratios_are_paired_and_judged_by_their_median():
    measured = ratio([2, 6, 4], [1, 2, 4])
    assert (measured.median, verdict(measured, 2), verdict(measured, 1.9)) == (2, "≤ 2 ✓", "≤ 1.9 ✕")
