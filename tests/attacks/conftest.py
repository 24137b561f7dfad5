"""A server to be attacked. Its memory can be read on Linux only."""

from collections.abc import Iterator

import pytest

from benchmarks.live.serve import running_server
from tests.attacks.strangers import Server


@pytest.fixture(scope="module")
def opened_by_thirty() -> Iterator[tuple[Server, int]]:
    """A server that thirty visitors with models of the default size have opened, and its peak of memory by then, in
    bytes: only with a new server can that be read.
    """
    with running_server() as (address, pid):
        server = Server(int(address.rpartition(":")[2]), pid)
        with server.tabs("heads", [{"seed": seed} for seed in range(30)], visitors=30) as tabs:
            assert tabs.wait() == 30
            for seed in range(90):
                assert server.ask("heads+head", {"seed": 100 + seed}, visitor=f"visitor-{seed % 30}")[0] == 200
        yield server, server.memory["most"]


@pytest.fixture
def server(opened_by_thirty: tuple[Server, int]) -> Server:
    """The server that is attacked."""
    return opened_by_thirty[0]
