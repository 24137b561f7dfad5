"""No test of a page starts a worker: what is asked for waits, until the test says what the worker says."""

import gc
from collections.abc import Iterator

import pytest

from benchmarks.streamlit_private.app_test import pages_without_preparation
from tests.tfm_ui.jobs.fake_worker import FakeQueue
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.jobs import sessions
from tfm_ui.live import measurements as in_store


@pytest.fixture(autouse=True, scope="module")
def pages_are_run_and_nothing_else() -> Iterator[None]:
    """Each file's pages share their preparation, and its garbage is collected at its end, not during the runs."""
    gc.disable()
    with pages_without_preparation():
        yield
    gc.collect()
    gc.freeze()  # what has lived so long, such as models in the cache, is not searched again
    gc.enable()


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeQueue]:
    """This test's own, with a store of measurements that is empty."""
    fake = FakeQueue()
    monkeypatch.setattr(sessions, "queue", lambda: fake.open() or fake)
    with empty_store(in_store):
        yield fake
    fake.close()
