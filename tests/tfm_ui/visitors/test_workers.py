"""How many processes compute pictures."""

import os

import pytest

from tfm_ui.settings import SETTINGS
from tfm_ui.visitors import workers


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000", 8),  # no limit
        ("150000 100000", 2),
        ("50000 100000", 1),
        ("6400000 100000", 8),  # more than there are
        ("", 8),
    ],
)
def test_a_container_may_have_a_share_of_the_processors(tmp_path, monkeypatch, quota, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    (tmp_path / "cpu.max").write_text(quota)
    assert workers.processors(tmp_path / "cpu.max") == expected


def test_without_a_container_there_is_a_worker_for_each_processor(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert workers.processors(tmp_path / "none") == 2


def test_the_caches_of_all_processes_together_keep_to_the_setting():
    assert workers.WORKERS >= 1
    together = workers.EACH_CACHE * (1 + workers.WORKERS)
    assert SETTINGS.cache_bytes - workers.WORKERS <= together + 1 <= SETTINGS.cache_bytes + 1
