"""What tests visit: the app as its users start it, and a real Chromium; one of each for all tests of a worker.

A pytest plugin, as the tests of several folders share both.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from benchmarks.live.serve import chromium, running_server


@pytest.fixture(scope="session")
def served() -> Iterator[tuple[str, int]]:
    """The address of a server, and the id of its process."""
    with running_server(settings={"ATTENTION_LAB_REST": "0.1"}) as server:  # else each act would take seconds
        yield server


@pytest.fixture(scope="session")
def address(served: tuple[str, int]) -> str:
    """The address of a server."""
    return served[0]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without V8's two optimizing compilers: a page is open for seconds, and optimizing its scripts takes more
    time than that saves.
    """
    with chromium("--js-flags=--no-maglev --no-turbofan") as browser:
        yield browser
