"""Measurements short enough for tests: what they find is not looked at, only what is done with it."""

import pytest

from tfm_core.profiling import clock, machine, parts


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr(machine, "PRODUCT_SIDE", {"cpu": 64})
    monkeypatch.setattr(machine, "COPY_BYTES", {"cpu": 2**16})


@pytest.fixture
def quick(monkeypatch, small_machine):
    monkeypatch.setattr(clock, "BLOCK_SECONDS", 0.001)
    monkeypatch.setattr(clock, "PAUSE", 0.0)
    monkeypatch.setattr(parts, "LEAST_SECONDS", 0.0)
