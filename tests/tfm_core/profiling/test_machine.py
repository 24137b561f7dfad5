"""The machine's names and limits."""

import math

import pytest
import torch

from tfm_core.profiling import Blocks, Setup, machine


def test_it_is_described_without_being_measured(tmp_path):
    described = machine.describe(Setup())
    assert described.device == described.processor == machine.processor() != ""
    assert described.torch == torch.__version__
    assert described.cores >= 1
    assert math.isnan(described.flops_per_second)

    named = tmp_path / "cpuinfo"
    named.write_text("processor\t: 0\nmodel name\t: Fast One: 9000\nmodel name\t: Another\n")
    assert machine.processor(named) == "Fast One: 9000"
    assert machine.processor(tmp_path / "none") != ""


def test_without_cuda_the_device_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert machine.describe(Setup(device="cuda")).device == "no CUDA device"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16"])
def test_limits_are_work_over_the_fastest_of_several_blocks(dtype):
    product, copy = machine.peaks(Setup(dtype=dtype))
    for peak in (product, copy):
        peak.call()
        assert math.isnan(peak.rate)
        peak.blocks = Blocks((0.5,), (0,))
        assert math.isnan(peak.rate)  # one block alone is no limit
        peak.blocks = Blocks((2.0, 0.5, 1.0), (0, 1, 2))
        assert peak.rate == 2 * peak.work
    assert product.work == 2 * 64**3
    assert copy.work == 2 * 2**16
    assert (product.limit, copy.limit) == ("flops_per_second", "bytes_per_second")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("flops_per_second", "side"), [(1e12, 1024), (1e10, 512), (1e9, 256), (1e6, 256)])
def test_a_slow_dtype_gets_a_smaller_product(flops_per_second, side, monkeypatch):
    monkeypatch.setattr(machine, "PRODUCT_SIDE", {"cpu": 1024})
    monkeypatch.setattr(machine, "_product_seconds", lambda side, kind: 2 * side**3 / flops_per_second)
    assert machine.peaks(Setup())[0].work == 2 * side**3
