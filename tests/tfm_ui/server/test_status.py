"""The routes /live, /ready and /status, and who may read what they tell."""

import asyncio
import re
import threading
from html.parser import HTMLParser

import pytest
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from tests.tfm_ui.loops import run
from tfm_ui.server import asgi, liveness, processes
from tfm_ui.server.liveness import problems
from tfm_ui.server.load import versions
from tfm_ui.server.status import may_read
from tfm_ui.server.status_page import page
from tfm_ui.settings import ENTRIES
from tfm_ui.store import shared
from tfm_ui.visitors.compute_limiter import ComputeLimiter, Lane

HERE, THERE = ("127.0.0.1", 5000), ("203.0.113.7", 5000)
OTHER_SITE = {"Origin": "https://other.test"}


def client(address: tuple[str, int] = HERE) -> TestClient:
    return TestClient(Starlette(routes=asgi.ROUTES), client=address)


def test_they_answer():
    assert [client().get(f"/{name}").status_code for name in ("live", "ready", "status")] == [200] * 3
    assert client().get("/live").text == "alive"


def test_a_part_that_cannot_be_asked_is_named_and_none_keeps_the_answer_waiting(monkeypatch):
    let_go = threading.Event()

    def hangs() -> str:
        let_go.wait()
        return ""

    def fails() -> str:
        raise RuntimeError("text of a visitor")

    checks = {"well": lambda: "", "ill": lambda: "It is ill.", "slow": hangs, "broken": fails}
    told = run(problems(checks, patience=0.05))
    let_go.set()
    assert told == {
        "ill": "It is ill.",
        "slow": "It has not answered within 0.05 seconds.",
        "broken": "It has failed with RuntimeError.",
    }
    monkeypatch.setattr(liveness, "CHECKS", {"well": lambda: "", "ill": lambda: "It is ill."})
    answer = client(THERE).get("/ready")
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "problems": {"ill": "It is ill."}})
    assert client().get("/ready", headers=OTHER_SITE).json() == {"ready": False}
    assert client().get("/live").status_code == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_a_program_on_this_machine_may_read_the_status(address):
    assert may_read(question(address))
    assert not may_read(question(address, **OTHER_SITE))


@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8::1", "testclient", ""])
def test_another_machine_may_read_it_only_where_everybody_may(address):
    assert not may_read(question(address))
    assert may_read(question(address), "everybody")
    assert not may_read(question(address, **OTHER_SITE), "everybody")


@pytest.mark.parametrize("header", ["Forwarded", "Via", "X-Forwarded-For", "X-Real-IP", "X-Forwarded-Host"])
def test_a_proxy_on_this_machine_may_not_read_it_for_its_visitors(header):
    assert not may_read(question("127.0.0.1", **{header: "127.0.0.1"}))


def question(address: str, **headers: str) -> HTTPConnection:
    raw = [(name.lower().encode(), value.encode()) for name, value in ({"Host": "lab.test"} | headers).items()]
    return HTTPConnection({"type": "http", "headers": raw, "client": (address, 1) if address else None})


def test_the_status_tells_versions_settings_queues_times_and_memory():
    answer = client().get("/status")
    told = answer.json()
    assert answer.headers["Cache-Control"] == "no-store"
    assert told["store"] == {"kind": "local", "answers": True}
    assert told["versions"] == versions()
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["versions"]["streamlit"])
    assert told["settings"].keys() == {entry.variable for entry in ENTRIES.values()}
    assert told["queues"]["pictures"] == told["queues"]["pages"] == {"running": 0, "waiting": 0}
    assert told["latency"].keys() == {"page runs", "pictures"}
    each = told["memory"]["processes"]
    assert 50 < told["memory"]["rss_mb"] < told["memory"]["limit_mb"]
    assert sum(process["rss_mb"] for process in each) == pytest.approx(told["memory"]["rss_mb"], abs=0.1 * len(each))


def test_who_may_not_read_it_is_told_why():
    answer = client(THERE).get("/status")
    assert answer.status_code == 403
    assert "ATTENTION_LAB_STATUS=everybody" in answer.text


def test_a_browser_gets_the_same_as_a_page():
    told = client().get("/status").json()
    answer = client().get("/status", headers={"Accept": "text/html,*/*"})
    assert answer.headers["content-type"].startswith("text/html")
    for variable, value in told["settings"].items():
        assert f"<tr><th>{variable}<td>{value.replace(chr(39), '&#x27;')}" in answer.text
    for name in told["versions"]:
        assert name in answer.text


class Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_shows_values_as_text_whatever_is_in_them():
    reader = Texts()
    reader.feed(page({"ready": False, "problems": {"<b>": "<script>x</script>"}, "rows": [{"a_mb": 1}], "none": []}))
    assert "script" not in reader.tags
    assert {"<b>", "<script>x</script>", "a (MB)", "no"} <= set(reader.texts)


def test_the_limit_is_the_containers_where_there_is_one(tmp_path):
    file = tmp_path / "memory.max"
    machine = processes.limit(file)
    assert machine > 2**28
    file.write_text("max\n")
    assert processes.limit(file) == machine
    file.write_text("1000000\n")
    assert processes.limit(file) == 1_000_000


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/usr/bin/python3", "-m", "tfm_ui.jobs.worker", "table", "400"], "tfm_ui.jobs.worker"),
        (["python", "-c", "from multiprocessing.forkserver import main; main(1, 2)"], "multiprocessing.forkserver"),
        (["/venv/bin/streamlit", "run", "app.py"], "streamlit"),
        ([], ""),
    ],
)
def test_a_process_is_named_by_what_it_runs(words, told):
    assert processes._command(words) == told


def test_the_load_of_the_limiter_counts_what_runs_and_what_waits_in_each_lane():
    limiter = ComputeLimiter(pictures=2, pages=2, slow=1)
    tickets = [limiter.ask("a", lane) for lane in [Lane.PICTURES] * 3 + [Lane.PAGES] + [Lane.SLOW] * 4]
    assert limiter.load() == {"pictures": (2, 1), "pages": (1, 0), "slow computations": (1, 3)}
    for ticket in tickets:
        limiter.leave(ticket)
    assert limiter.load() == {"pictures": (0, 0), "pages": (0, 0), "slow computations": (0, 0)}


def test_alive_is_said_while_every_thread_is_taken_and_the_queue_of_jobs_is_locked(monkeypatch):
    let_go = threading.Event()
    monkeypatch.setattr(liveness, "CHECKS", {"jobs": lambda: str(let_go.wait() or "")})

    async def both() -> list[str]:
        order: list[str] = []
        transport = Starlette(routes=asgi.routes(""))

        async def ask(path: str) -> None:
            async def receive():
                return {"type": "http.request"}

            async def send(message):
                if message["type"] == "http.response.body":
                    order.append(path)

            await transport(
                {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}, receive, send
            )

        waiting = asyncio.create_task(ask("/ready"))
        await asyncio.sleep(0.01)
        await ask("/live")
        let_go.set()
        await waiting
        return order

    assert run(both()) == ["/live", "/ready"]


def test_the_status_tells_what_of_redis_own_settings_loses_what_is_kept(monkeypatch):
    monkeypatch.setattr(shared, "advice", lambda: "Redis drops what is kept.")
    assert client().get("/status").json()["store"]["advice"] == "Redis drops what is kept."
