"""A server to be attacked. Its memory can be read on Linux only."""

from collections.abc import Iterator

import pytest

from benchmarks.live.serve import running_server
from tests.attacks.strangers import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as (address, pid):
        yield Server(int(address.rpartition(":")[2]), pid)


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A server that was not attacked before."""
    with running_server() as (address, pid):
        yield Server(int(address.rpartition(":")[2]), pid)
