"""One visitor cannot harm the others: memory and work are limited, and another visitor is served during an attack.

Nothing here is timed, because machines can be busy. How early a quiet visitor is served shows in how many of
the attacker's requests are still unanswered at that moment.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from benchmarks.streamlit_private.protocol import STREAM
from tests.attacks.strangers import LARGE, LARGEST, Server, attacked

GIGABYTE = 10**9
UNDER_ATTACK = 2.5 * GIGABYTE


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """The server that is attacked."""
    with attacked() as server:
        yield server


@pytest.fixture(autouse=True)
def bounded_and_alive(server):
    """The server still runs after each test, and its peak of memory is below the limit."""
    yield
    assert server.lives
    assert server.memory["most"] < UNDER_ATTACK
    server.quiet_visitor()


def test_what_nobody_waits_for_any_more_is_not_computed(server):
    before = server.cpu
    assert server.ask("heads+head", LARGE | {"seed": 5000}, visitor="before")[0] == 200
    once = server.cpu - before
    for number in range(60):
        with closing(server.connect()) as connection:
            connection.sendall(server.question("heads+head", LARGE | {"seed": 5001 + number}, visitor=str(number)))
            time.sleep(0.01)
    assert server.ask("heads+head", LARGE | {"seed": 5100}, visitor="after")[0] == 200
    assert server.cpu - before < 20 * once, "all of them would be 62 times"


def test_a_quiet_visitor_is_served_before_a_loud_one(server):
    with ThreadPoolExecutor(6) as threads:
        loud = [
            threads.submit(server.ask, "heads+head", LARGE | {"seed": 6000 + number}, visitor="loud")
            for number in range(6)
        ]
        time.sleep(0.3)
        for _ in range(3):
            server.quiet_visitor()
        assert sum(not answer.done() for answer in loud) > 2
        assert {answer.result()[0] for answer in loud} <= {200, 503}


def test_many_tabs_on_the_largest_model(server):
    with server.tabs("heads", [LARGEST | {"seed": seed} for seed in range(40)]):
        for _ in range(5):
            server.quiet_visitor()
            time.sleep(0.5)


def test_who_reads_slowly_fills_no_memory(server):
    wide = {"text": "@alice", "seq_len": 1024, "num_layers": 1, "num_heads": 1}
    before = server.memory["now"]
    readers = [server.connect() for _ in range(12)]
    for number, reader in enumerate(readers):
        reader.sendall(server.question("contribution", wide | {"seed": number}, visitor=f"slow-{number}"))
    for _ in range(3):
        server.quiet_visitor()
        time.sleep(0.5)
    assert server.memory["now"] - before < GIGABYTE / 2
    for reader in readers:
        reader.close()


def test_who_writes_slowly_keeps_nobody_out(server):
    writers = [server.connect() for _ in range(300)]
    for writer in writers:
        writer.sendall(server.question("head", {}, visitor="slow", more=1000))
    server.quiet_visitor()
    assert b" 408 " in writers[0].recv(100)
    for writer in writers:
        writer.close()


def test_a_foreign_page_gets_nothing(server: Server):
    assert server.ask("head", {}, Origin="http://evil.test")[0] == 403
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://127.0.0.1:{server.port}{STREAM}", origin="http://evil.test")
