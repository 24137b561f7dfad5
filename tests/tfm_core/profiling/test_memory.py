"""Peaks of memory beside what must have been allocated."""

import math

import pytest
import torch

from tfm_core.profiling import TARGETS, Row, Setup, Size, memory
from tfm_core.profiling.run_subject import Subject

MIB = 2**20


def test_the_curve_is_the_allocators_to_the_byte():
    def call():
        a, b = torch.empty(MIB, dtype=torch.uint8), torch.empty(3 * MIB, dtype=torch.uint8)
        del a
        return b, torch.empty(MIB // 2, dtype=torch.uint8)

    assert memory.allocated(call) == 4 * MIB
    assert memory.allocated(lambda: None) == 0


def test_explicit_attention_of_200_tokens():
    """Notes: 103.9 MiB with the scores beside the weights. All weights of 4 layers, and no more than one of scores."""
    row = Row("with weights", Size(d_model=128, num_heads=8, num_layers=4, seq_len=200))
    subject = Subject(row, Setup())
    with subject.mode("forward"):
        subject.call("forward")()
        first, again = (memory.measure(subject.call("forward"), "cpu") for _ in range(2))
    one_layer = 16 * 8 * 200 * 200 * 4
    assert 4 * one_layer < first.allocated < 5 * one_layer + 16 * MIB
    assert first.allocated == again.allocated == pytest.approx(103.9 * MIB, rel=0.15)
    assert first.system is None or first.system > 3 * one_layer


@pytest.mark.parametrize("target", ["without weights", "fused"])
def test_weights_that_nobody_keeps_are_not_held(target):
    size = Size(d_model=64, num_heads=4, num_layers=4, seq_len=128)
    peaks = []
    for name in ("with weights", target):
        subject = Subject(Row(name, size), Setup())
        with subject.mode("forward"):
            peaks.append(memory.allocated(subject.call("forward")))
    assert peaks[1] < peaks[0] / 2
    assert target in TARGETS


def test_what_the_system_saw(tmp_path):
    assert memory.system(lambda: None, tmp_path / "none") is None
    (tmp_path / "status").write_text("VmRSS: many kB\n")
    assert memory.system(lambda: None, tmp_path) is None
    (tmp_path / "status").write_text("VmHWM:\t  70 kB\nVmRSS:\t  30 kB\n")
    assert memory.system(lambda: None, tmp_path) == 40 * 1024
    assert (tmp_path / "clear_refs").read_text() == "5"
    grown = memory.system(lambda: torch.ones(64 * MIB, dtype=torch.uint8))
    assert grown is None or grown > 48 * MIB


def test_memory_that_is_installed(monkeypatch):
    assert memory.installed("cpu") > 2**28
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.installed("cpu") == math.inf
